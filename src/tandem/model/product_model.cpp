// SPDX-License-Identifier: Apache-2.0
#include "tandem/model/product_model.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "tandem/base/check.h"
#include "tandem/base/math.h"

namespace tandem {

ProductModel::ProductModel(Domain domain, std::vector<std::vector<double>> weights, double total)
    : domain_(std::move(domain)), probabilities_(std::move(weights)), total_(total) {
  check(probabilities_.size() == domain_.size(), "a product model has a marginal for each column");
  for (AttributeId id = 0; id < domain_.size(); ++id) {
    auto& column = probabilities_[id];
    check(column.size() == domain_[id].size, "a marginal has a weight for each code");
    const double sum = std::accumulate(column.begin(), column.end(), 0.0);
    check(sum > 0.0 && std::isfinite(sum), "a marginal has a positive sum");
    for (double& value : column) value /= sum;
  }
}

Factor ProductModel::project(const Clique& clique) const {
  Factor out{clique, {total_}};
  for (const auto id : clique) {
    std::vector<double> next;
    next.reserve(out.values.size() * domain_[id].size);
    for (const double value : out.values) {
      for (const double probability : probabilities_[id]) next.push_back(value * probability);
    }
    out.values = std::move(next);
  }
  return out;
}

Table ProductModel::sample(std::size_t rows, Rng& rng) const {
  Table table(domain_, rows);
  for (AttributeId id = 0; id < domain_.size(); ++id) {
    const auto counts = round_to_total(probabilities_[id], rows, rng);
    table.column(id).visit([&](auto codes) {
      using C = typename decltype(codes)::value_type;
      auto at = codes.begin();
      for (std::size_t code = 0; code < counts.size(); ++code) {
        at = std::fill_n(at, counts[code], static_cast<C>(code));
      }
      rng.shuffle(codes);
    });
  }
  return table;
}

}  // namespace tandem
