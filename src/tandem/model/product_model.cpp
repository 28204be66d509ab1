// SPDX-License-Identifier: Apache-2.0
#include "tandem/model/product_model.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "tandem/base/check.h"
#include "tandem/base/math.h"
#include "tandem/model/model_reader.h"
#include "tandem/model/model_writer.h"

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

std::unique_ptr<Model> ProductModel::given(const Restriction& only) const {
  auto weights = probabilities_;
  auto& column = weights[only.attribute];
  const auto wanted = only.mask(static_cast<Code>(column.size()));
  for (std::size_t code = 0; code < column.size(); ++code) {
    if (!wanted[code]) column[code] = 0.0;
  }
  return std::make_unique<ProductModel>(domain_, std::move(weights), total_);
}

bool ProductModel::write(ModelWriter& out) const {
  out.begin("product", total_);
  for (AttributeId id = 0; id < domain_.size(); ++id) {
    out.add("weights", Clique{id}, probabilities(id));
  }
  return true;
}

std::unique_ptr<Model> ProductModel::read(const ModelReader& in) {
  const Domain& domain = in.domain();
  if (in.arrays().size() != domain.size()) in.fail("has no weights for each column");
  std::vector<std::vector<double>> weights;
  for (AttributeId id = 0; id < domain.size(); ++id) {
    const auto& array = in.arrays()[id];
    if (array.clique != Clique{id}) in.fail("has its columns in another order");
    weights.push_back(in.weights(array, domain[id].size));
  }
  return std::make_unique<ProductModel>(domain, std::move(weights), in.total());
}

}  // namespace tandem
