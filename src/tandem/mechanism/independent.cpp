// SPDX-License-Identifier: Apache-2.0
// Independent: every one-way marginal with noise, and the product of them.
//   The simplest release there is, and the yardstick for every other: what is known of a table when
//   nothing is known of how its columns go together.
//   Symbols: y_i noisy one-way marginal, n rows. docs/mechanisms/independent.md
#include <fmt/core.h>

#include "tandem/base/math.h"
#include "tandem/mechanism/mechanism.h"
#include "tandem/mechanism/rounds/common.h"
#include "tandem/model/product_model.h"

namespace tandem::mechanism {
namespace {

struct Options {};

Release run(Curator& curator, const Problem& problem, const Options& /*options*/, Rng& /*rng*/) {
  const auto n = public_total(curator);
  auto y = curator.measure_all(one_way_marginals(problem.domain), curator.remaining());

  Release release;
  release.total = n ? *n : estimate_total(y);
  std::vector<std::vector<double>> weights;
  for (const auto& y_i : y) weights.push_back(project_to_simplex(y_i.values, release.total));
  release.model = std::make_unique<ProductModel>(problem.domain, std::move(weights), release.total);
  release.measurements = std::move(y);
  return release;
}

Plan plan(const Curator& curator, const Problem& problem, const Options& /*options*/) {
  const auto queries = one_way_marginals(problem.domain);
  const Cost each = curator.remaining() / static_cast<double>(queries.size());
  const Sigma sigma = curator.noise_scale(queries.front(), each);
  return {plan_to_measure(queries.size(), "one-way marginals", sigma.value()),
          {"independent", Document::object(),
           "Columns are then drawn independently of each other: no relationship is kept."}};
}

}  // namespace

Mechanism independent() {
  return make_mechanism<Options>(
      {.name = "independent",
       .summary = "One-way marginals, columns independent of each other",
       .reference = "folklore; the baseline of every paper on synthetic data",
       .pure = true},
      run, plan, {});
}

}  // namespace tandem::mechanism
