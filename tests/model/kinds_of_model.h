// SPDX-License-Identifier: Apache-2.0
#pragma once
// One small model of each kind, over one domain.

#include <algorithm>
#include <cstdint>
#include <limits>
#include <memory>
#include <utility>
#include <vector>

#include "tandem/model/generator/product_mixture.h"
#include "tandem/model/grouped_model.h"
#include "tandem/model/histogram/factored_histogram.h"
#include "tandem/model/mixture_model.h"
#include "tandem/model/pgm/graphical_model.h"
#include "tandem/model/product_model.h"
#include "tandem/model/records_model.h"

namespace tandem::test {

inline Domain mixed_domain() {
  return Domain({{"a", 3, {}}, {"wide", 300, {}}, {"one", 1, {}}, {"b", 4, {}}, {"c", 2, {}}});
}

inline Support some_rows(const Domain& of, std::size_t count, std::uint64_t seed) {
  Rng rng(seed);
  Support out = random_rows(of, count, rng);
  for (double& weight : out.weights) weight = rng.uniform();
  return out;
}

inline Factor some_potential(const Clique& clique, Rng& rng) {
  Factor out{clique, std::vector<double>(mixed_domain().cells(clique))};
  for (double& value : out.values) value = 4.0 * rng.uniform() - 2.0;
  return out;
}

inline RecordSet some_records(std::size_t count) {
  RecordSet out(mixed_domain());
  Rng rng(count);
  std::vector<Code> record(mixed_domain().size());
  for (std::size_t i = 0; i < count; ++i) {
    for (AttributeId id = 0; id < record.size(); ++id) {
      record[id] = static_cast<Code>(rng.below(mixed_domain()[id].size));
    }
    out.add(record);
  }
  return out;
}

inline std::vector<std::unique_ptr<Model>> kinds_of_model() {
  std::vector<std::unique_ptr<Model>> out;
  Rng rng(3);
  std::vector<std::vector<double>> weights;
  for (const auto& attribute : mixed_domain().attributes()) {
    weights.emplace_back();
    for (Code code = 0; code < attribute.size; ++code) weights.back().push_back(rng.uniform());
  }
  out.push_back(std::make_unique<ProductModel>(mixed_domain(), weights, 1234.5));
  out.push_back(std::make_unique<SupportHistogram>(some_rows(mixed_domain(), 50, 1), 1000.0));
  const Clique left{0, 4};
  const Clique right{1, 2, 3};
  std::vector<FactoredHistogram::Part> parts;
  parts.push_back({left, {some_rows(domain_of_group(mixed_domain(), left), 5, 2), 77.0}});
  parts.push_back({right, {some_rows(domain_of_group(mixed_domain(), right), 90, 3), 77.0}});
  out.push_back(std::make_unique<FactoredHistogram>(mixed_domain(), std::move(parts)));
  std::vector<Factor> potentials = {some_potential({0, 3}, rng), some_potential({3, 4}, rng),
                                    some_potential({0, 4}, rng), some_potential({1}, rng)};
  potentials[0].values[5] = -std::numeric_limits<double>::infinity();  // a structural zero
  const std::vector<Clique> others = {{1, 4}};
  out.push_back(std::make_unique<GraphicalModel>(mixed_domain(), potentials, 5000.0, others));
  out.push_back(std::make_unique<GraphicalModel>(mixed_domain(), 10.0));  // the uniform one
  std::vector<MixtureModel::Part> mixed;
  mixed.push_back(
      {0.25, std::make_unique<SupportHistogram>(some_rows(mixed_domain(), 20, 4), 5000.0)});
  mixed.push_back({0.75, std::make_unique<GraphicalModel>(mixed_domain(), potentials, 5000.0)});
  out.push_back(std::make_unique<MixtureModel>(std::move(mixed)));
  out.push_back(std::make_unique<RecordsModel>(some_records(11), 500.0));
  const Support outside = some_rows(domain_of_group(mixed_domain(), {1, 2, 4}), 9, 5);
  std::vector<double> exponents(outside.rows.domain()[1].size);
  for (double& u : exponents) u = rng.uniform() - 0.5;
  std::vector<double> evenly(outside.weights.size(), 1.0);
  std::vector<GroupedModel::Group> groups;
  groups.push_back({.key = {0, 3}, .rows = 12.0, .base = 0, .u = exponents});
  std::ranges::reverse(exponents);
  groups.push_back({.key = {2, 1}, .rows = 30.0, .base = 1, .u = exponents});
  out.push_back(std::make_unique<GroupedModel>(
      mixed_domain(), Clique{0, 3},
      GroupRows{.rows = outside.rows, .bases = {outside.weights, evenly}, .marginals = {{1}}},
      std::move(groups)));
  std::vector<std::vector<double>> of_kinds;  // the columns of three kinds of rows
  for (const auto& attribute : mixed_domain().attributes()) {
    of_kinds.emplace_back(std::size_t{3} * attribute.size);
    for (double& weight : of_kinds.back()) weight = 0.01 + rng.uniform();
  }
  out.push_back(std::make_unique<ProductMixture>(mixed_domain(), std::vector<double>{1.0, 2.0, 5.0},
                                                 std::move(of_kinds), 321.0));
  return out;
}

}  // namespace tandem::test
