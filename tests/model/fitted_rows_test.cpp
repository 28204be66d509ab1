// SPDX-License-Identifier: Apache-2.0
#include "tandem/model/fitted_rows.h"

#include <gtest/gtest.h>

#include "tandem/eval/metrics.h"
#include "tandem/model/histogram/support.h"
#include "tandem/model/histogram/support_histogram.h"
#include "tandem/model/pgm/graphical_model.h"
#include "tandem/query/counting.h"

namespace tandem {
namespace {

Domain domain() {
  return Domain(
      {{"a", 5, {}}, {"b", 4, {}}, {"c", 6, {}}, {"d", 3, {}}, {"e", 7, {}}, {"f", 4, {}}});
}

// A chain of pairs, in which a = 0 and b = 0 never meet.
GraphicalModel chain(double total) {
  std::vector<Factor> potentials;
  Rng rng(3);
  for (AttributeId id = 0; id + 1 < 6; ++id) {
    Factor pair{{id, id + 1}, std::vector<double>(domain().cells({id, id + 1}))};
    for (double& value : pair.values) value = 2.0 * rng.uniform();
    potentials.push_back(std::move(pair));
  }
  potentials.front().values.front() = -std::numeric_limits<double>::infinity();
  return {domain(), potentials, total};
}

double distance(const Table& rows, const Model& model, const Workload& workload) {
  return evaluate_workload(workload, CountedTable(rows), model).avg_workload_error;
}

TEST(FittedRows, AnswerMoreLikeTheModel) {
  const auto model = chain(1000.0);
  const auto workload = Workload::all_k_way(domain(), 3);
  Rng rng(1);
  const Table sampled = model.sample(1000, rng);
  Rng again(1);
  const Table fitted = fitted_rows(model, workload, 1000, again);
  EXPECT_LT(distance(fitted, model, workload), 0.6 * distance(sampled, model, workload));
  // Single columns are hardly further off than by rounding, and nothing impossible came about.
  for (AttributeId id = 0; id < 6; ++id) {
    const auto counts = CountedTable(fitted).project({id}).values;
    const auto expected = model.project({id}).values;
    for (std::size_t c = 0; c < counts.size(); ++c) EXPECT_NEAR(counts[c], expected[c], 4.0);
  }
  EXPECT_EQ(CountedTable(fitted).project({0, 1}).values.front(), 0.0);
}

TEST(FittedRows, FollowTheWeightsOfTheWorkload) {
  const auto model = chain(500.0);
  const std::vector<WeightedClique> cliques{{{0, 3, 5}, 100.0}, {{1, 2, 4}, 1.0}};
  const Workload first(domain(), "first", {cliques[0]});
  const Workload both(domain(), "both", cliques);
  const Workload last(domain(), "last", {cliques[1]});
  Rng rng(2);
  const Table fitted = fitted_rows(model, both, 500, rng);
  Rng other(2);
  const Table to_last = fitted_rows(model, last, 500, other);
  EXPECT_LT(distance(fitted, model, first), distance(to_last, model, first));
}

TEST(FittedRows, AreTheSameForTheSameSeed) {
  const auto model = chain(300.0);
  const auto workload = Workload::all_k_way(domain(), 2);
  Rng a(5);
  Rng b(5);
  EXPECT_EQ(fitted_rows(model, workload, 300, a), fitted_rows(model, workload, 300, b));
}

// Rows of a support are whole rows of public data, and none is taken apart.
TEST(FittedRows, LeaveRowsOfASupportWhole) {
  Rng rng(7);
  const Table rows = chain(50.0).sample(50, rng);
  const SupportHistogram model({rows, std::vector<double>(50, 1.0)}, 50.0);
  Rng a(5);
  Rng b(5);
  EXPECT_EQ(fitted_rows(model, Workload::all_k_way(domain(), 3), 60, a), model.sample(60, b));
}

TEST(FittedRows, AreRowsOfTheModelWhereThereIsNothingToFit) {
  const auto model = chain(300.0);
  for (const std::size_t rows : {0U, 1U, 40U}) {
    Rng a(5);
    Rng b(5);
    EXPECT_EQ(fitted_rows(model, Workload(), rows, a), model.sample(rows, b));
  }
  // Nor where there is no room to do it in.
  Rng a(5);
  Rng b(5);
  EXPECT_EQ(fitted_rows(model, Workload::all_k_way(domain(), 3), 40, a, 1e3), model.sample(40, b));
}

}  // namespace
}  // namespace tandem
