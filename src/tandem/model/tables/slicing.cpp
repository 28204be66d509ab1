// SPDX-License-Identifier: Apache-2.0
#include "tandem/model/tables/slicing.h"

#include <tuple>
#include <utility>
#include <vector>

namespace tandem {
namespace {

// The next codes, like an odometer's; false when there are none.
bool go_on(std::span<FixedCode> slice, const Domain& domain) {
  for (auto& fixed : slice) {
    if (++fixed.code < domain[fixed.id].size) return true;
    fixed.code = 0;
  }
  return false;
}

}  // namespace

Clique fixed_in(Slice slice) {
  std::vector<AttributeId> ids;
  for (const auto& fixed : slice) ids.push_back(fixed.id);
  return Clique(std::move(ids));
}

double cells_without(const Domain& domain, const Clique& clique, const Clique& gone) {
  double out = 1.0;
  for (const auto id : clique) {
    if (!gone.contains(id)) out *= domain[id].size;
  }
  return out;
}

Clique choose_slices(const Clique& free, double most_cells,
                     const std::function<double(const Clique& sliced)>& largest) {
  Clique out;
  double found = largest(out);
  while (found > most_cells) {
    double best = found;
    Clique next;
    for (const auto id : free) {
      const Clique with = join(out, Clique{id});
      const double cells = largest(with);
      const bool better = best > most_cells ? cells < best : cells <= most_cells && cells > best;
      if (better) std::tie(best, next) = std::pair(cells, with);
    }
    if (next.empty()) break;
    found = best;
    out = std::move(next);
  }
  return out;
}

void for_each_slice(const Domain& domain, const Clique& sliced,
                    const std::function<void(Slice slice)>& use) {
  std::vector<FixedCode> slice;
  for (const auto id : sliced) slice.push_back({id, 0});
  do use(slice);
  while (go_on(slice, domain));
}

}  // namespace tandem
