// SPDX-License-Identifier: Apache-2.0
#include "support/scripted_mechanism.h"

#include <cmath>
#include <memory>
#include <vector>

#include "tandem/base/error.h"
#include "tandem/base/math.h"
#include "tandem/mechanism/rounds/common.h"
#include "tandem/model/product_model.h"

namespace tandem::test {

namespace {

struct Options {
  int steps = 30;
  double spare = 0.25;
  int fail_after = 0;
};

Release run(Curator& curator, const Problem& problem, const Options& options, Rng& rng) {
  const auto n = public_total(curator);
  const Domain& domain = problem.domain;
  std::vector<Clique> pairs;
  for (AttributeId a = 0; a < domain.size(); ++a) {
    for (AttributeId b = a + 1; b < domain.size(); ++b) pairs.push_back({a, b});
  }
  const Cost step = curator.remaining() * (1.0 - options.spare) / options.steps;

  Release release;
  std::size_t next = rng.below(pairs.size());
  double reference = 0.0;
  for (int t = 0; t < options.steps; ++t) {
    if (t == options.fail_after && t > 0) throw SourceError("The script says to fail here.");
    if (t % 2 == 0) {
      release.measurements.push_back(curator.measure({pairs[next]}, step));
      reference = std::abs(release.measurements.back().values.front());
      continue;
    }
    std::vector<Candidate> candidates;
    for (const auto& pair : pairs) {
      const std::vector<double> values(domain.cells(pair), reference);
      candidates.push_back({pair, Origin::Private, l1_error({pair, values})});
    }
    next = (curator.select(candidates, step) + rng.below(pairs.size())) % pairs.size();
  }

  release.total = n ? *n : estimate_total(release.measurements);
  std::vector<std::vector<double>> weights;
  for (const auto& attribute : domain.attributes()) {
    std::vector<double> column(attribute.size, 1.0);
    column[0] += std::max(0.0, release.measurements.front().values.front());
    weights.push_back(std::move(column));
  }
  release.model = std::make_unique<ProductModel>(domain, std::move(weights), release.total);
  return release;
}

Plan plan(const Curator& /*curator*/, const Problem& /*problem*/, const Options& /*options*/) {
  return {{"script", Document::object(), "Follows its script."}};
}

}  // namespace

Mechanism scripted_mechanism() {
  return make_mechanism<Options>(
      {.name = "scripted",
       .summary = "Many adaptive steps, for tests",
       .reference = "none",
       .pure = true},
      run, plan,
      {field("steps", &Options::steps, "how many", at_least(1)),
       field("spare", &Options::spare, "of the budget", between(0.0, 1.0)),
       field("fail-after", &Options::fail_after, "steps; 0: never", at_least(0))});
}

}  // namespace tandem::test
