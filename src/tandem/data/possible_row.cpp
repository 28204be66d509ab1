// SPDX-License-Identifier: Apache-2.0
#include "tandem/data/possible_row.h"

#include <algorithm>
#include <map>
#include <vector>

namespace tandem {

namespace {

constexpr int kMostTries = 2'000;  // values that are tried, with what follows from each

using Possible = std::map<AttributeId, std::vector<bool>>;  // codes of the columns of boxes

class Search {
 public:
  explicit Search(std::span<const ImpossibleBox> boxes) : boxes_(boxes) {}

  bool run(Possible possible) {
    if (!follow(possible)) return false;
    // The column with the fewest codes left, of those that have a choice.
    auto next = possible.end();
    auto fewest = std::ptrdiff_t{0};
    for (auto at = possible.begin(); at != possible.end(); ++at) {
      const auto left = std::ranges::count(at->second, true);
      if (left > 1 && (next == possible.end() || left < fewest)) {
        next = at;
        fewest = left;
      }
    }
    if (next == possible.end()) return true;
    for (std::size_t code = 0; code < next->second.size(); ++code) {
      if (!next->second[code]) continue;
      if (++tries_ > kMostTries) return true;
      Possible with = possible;
      auto& only = with[next->first];
      only.assign(only.size(), false);
      only[code] = true;
      if (run(std::move(with))) return true;
    }
    return false;
  }

 private:
  // Where all sides of a box but one have only impossible codes left, that one's go. False when a
  // column has no code left.
  bool follow(Possible& possible) const {
    for (bool changed = true; changed;) {
      changed = false;
      for (const auto& box : boxes_) {
        const ImpossibleBox::Side* open = nullptr;
        std::size_t outside = 0;
        for (const auto& side : box.sides) {
          const auto& left = possible.at(side.attribute);
          bool any = false;
          for (std::size_t code = 0; code < left.size() && !any; ++code) {
            any = left[code] && !side.codes[code];
          }
          if (!any) continue;
          open = &side;
          ++outside;
        }
        if (outside == 0) return false;
        if (outside > 1) continue;
        auto& left = possible.at(open->attribute);
        for (std::size_t code = 0; code < left.size(); ++code) {
          if (!left[code] || !open->codes[code]) continue;
          left[code] = false;
          changed = true;
        }
      }
    }
    return true;
  }

  std::span<const ImpossibleBox> boxes_;
  int tries_ = 0;
};

}  // namespace

bool may_have_row(const Domain& domain, std::span<const ImpossibleBox> boxes) {
  Possible all;
  for (const auto& box : boxes) {
    for (const auto& side : box.sides) {
      all.try_emplace(side.attribute, domain[side.attribute].size, true);
    }
  }
  return Search(boxes).run(std::move(all));
}

}  // namespace tandem
