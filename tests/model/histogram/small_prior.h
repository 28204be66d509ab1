// SPDX-License-Identifier: Apache-2.0
#pragma once
// Small supports with a prior and marginals of another distribution on the same rows, exact or with
// noise.

#include <cmath>
#include <numbers>
#include <string>
#include <vector>

#include "tandem/base/rng.h"
#include "tandem/model/histogram/partial_workload.h"
#include "tandem/query/counting.h"

namespace tandem::test {

struct SmallPrior {
  Table rows;
  std::vector<double> p;
  std::vector<double> truth;
  std::vector<PartialWorkload> workloads;
};

// Pairs of columns and single ones of 3 to 6 columns. `noise`: standard deviation of each share.
inline SmallPrior small_prior(std::uint64_t seed, double noise) {
  Rng rng(seed);
  const std::size_t columns = 3 + rng.below(4);
  std::vector<Attribute> attributes;
  for (std::size_t c = 0; c < columns; ++c) {
    attributes.push_back({"c" + std::to_string(c), static_cast<Code>(2 + rng.below(4)), {}});
  }
  Table drawn(Domain(attributes), 20 + rng.below(150));
  for (AttributeId id = 0; id < columns; ++id) {
    for (std::size_t r = 0; r < drawn.rows(); ++r) {
      drawn.column(id).set(r, static_cast<Code>(rng.below(attributes[id].size)));
    }
  }
  SmallPrior out;
  out.rows = distinct_rows(drawn).rows;
  double sum_p = 0.0;
  double sum_truth = 0.0;
  for (std::size_t r = 0; r < out.rows.rows(); ++r) {
    out.p.push_back(0.05 + rng.uniform());
    out.truth.push_back(out.p.back() * std::exp(2.0 * rng.uniform() - 1.0));
    sum_p += out.p.back();
    sum_truth += out.truth.back();
  }
  for (double& weight : out.p) weight /= sum_p;
  for (double& weight : out.truth) weight /= sum_truth;
  const std::size_t marginals = 2 + rng.below(9);
  for (std::size_t m = 0; m < marginals; ++m) {
    const Clique clique{static_cast<AttributeId>(rng.below(columns)),
                        static_cast<AttributeId>(rng.below(columns))};
    auto factor = count_marginals(out.rows, out.truth, std::span(&clique, 1)).front();
    for (double& share : factor.values) {
      const double radius = std::sqrt(-2.0 * std::log(1.0 - rng.uniform()));
      share += noise * radius * std::cos(2.0 * std::numbers::pi * rng.uniform());
    }
    out.workloads.emplace_back(out.rows, clique, factor.values);
  }
  return out;
}

}  // namespace tandem::test
