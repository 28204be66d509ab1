// SPDX-License-Identifier: Apache-2.0
#include "tandem/model/histogram/factored_histogram.h"

#include <algorithm>
#include <utility>

#include "tandem/base/check.h"
#include "tandem/query/cell_map.h"

namespace tandem {

Domain domain_of_group(const Domain& domain, const Clique& group) {
  std::vector<Attribute> attributes;
  for (const auto id : group) attributes.push_back(domain[id]);
  return Domain(std::move(attributes));
}

Clique within_group(const Clique& clique, const Clique& group) {
  std::vector<AttributeId> ids;
  for (const auto id : clique) {
    const auto at = std::ranges::find(group, id);
    check(at != group.end(), "a clique lies within its group");
    ids.push_back(static_cast<AttributeId>(at - group.begin()));
  }
  return Clique(std::move(ids));
}

FactoredHistogram::FactoredHistogram(Domain domain, std::vector<Part> parts)
    : domain_(std::move(domain)), parts_(std::move(parts)) {
  std::size_t covered = 0;
  for (const auto& part : parts_) covered += part.group.size();
  check(covered == domain_.size(), "each attribute is in one group");
}

Factor FactoredHistogram::project(const Clique& clique) const {
  const double total = parts_.front().histogram.total();
  Factor out{clique, std::vector<double>(domain_.cells(clique), total)};
  for (const auto& [group, histogram] : parts_) {
    const Clique mine = intersect(clique, group);
    if (mine.empty()) continue;
    const auto factor = histogram.project(within_group(mine, group));
    for_each_cell(domain_, clique, mine, [&](std::size_t cell, std::size_t of_mine) {
      out.values[cell] *= factor.values[of_mine] / total;
    });
  }
  return out;
}

Table FactoredHistogram::sample(std::size_t rows, Rng& rng) const {
  std::vector<Column> columns(domain_.size());
  for (const auto& [group, histogram] : parts_) {
    Table drawn = histogram.sample(rows, rng);
    for (std::size_t i = 0; i < group.size(); ++i) {
      columns[group[i]] = std::move(drawn.column(static_cast<AttributeId>(i)));
    }
  }
  return {domain_, std::move(columns)};
}

}  // namespace tandem
