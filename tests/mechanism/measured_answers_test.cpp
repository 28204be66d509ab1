// SPDX-License-Identifier: Apache-2.0
// What measurements tell by themselves: against least squares over the whole domain, and over many
// seeds of mechanisms that choose what they measure.
#include "tandem/mechanism/answers/measured_answers.h"

#include <gtest/gtest.h>

#include <cmath>

#include "mechanism/run_mechanism.h"
#include "support/dense_planning.h"
#include "support/errors.h"
#include "tandem/mechanism/answers/answer_workload.h"
#include "tandem/mechanism/answers/laplace_margins.h"

namespace tandem {
namespace {

using Kind = ColumnQueries::Kind;
using test::kAddRemove;
using test::kReplaceOne;
using test::run_mechanism;
using test::skewed_problem;
using test::skewed_rows;

Domain domain_of(const std::vector<std::size_t>& sizes) {
  std::vector<Attribute> attributes;
  for (const auto size : sizes) {
    attributes.push_back({"c" + std::to_string(attributes.size()), static_cast<Code>(size), {}});
  }
  return Domain(std::move(attributes));
}

PlanningProblem asking(const std::vector<std::size_t>& sizes) {
  PlanningProblem out;
  out.sizes = sizes;
  out.workload = {{{0, 2}, {{}, {Kind::Ranges, {}}}, 1.0},
                  {{0, 1}, {{Kind::Prefix, {}}, {}}, 1.0},
                  {{1, 2}, {{Kind::Given, {1, 1, 1, -1}}, {Kind::Given, {1, 0, 0, 2}}}, 1.0},
                  {{3}, {{}}, 1.0},
                  {{}, {}, 1.0}};
  return out;
}

// The projection to what the rows of a matrix span, and least squares with it.
struct DenseFit {
  DenseMatrix covariance;
  DenseMatrix projection;
};

DenseFit fit_of(const DenseMatrix& information) {
  const SymmetricEigen parts = eigen(information);
  double largest = 0.0;
  for (const double value : parts.values) largest = std::max(largest, value);
  DenseFit out{DenseMatrix(information.rows, information.rows),
               DenseMatrix(information.rows, information.rows)};
  for (std::size_t k = 0; k < information.rows; ++k) {
    if (parts.values[k] < 1e-12 * largest) continue;
    for (std::size_t i = 0; i < information.rows; ++i) {
      for (std::size_t j = 0; j < information.rows; ++j) {
        const double both = parts.vectors(k, i) * parts.vectors(k, j);
        out.covariance(i, j) += both / parts.values[k];
        out.projection(i, j) += both;
      }
    }
  }
  return out;
}

TEST(MeasuredAnswers, AreThoseOfLeastSquaresOverTheWholeDomain) {
  const std::vector<std::size_t> sizes = {3, 2, 4, 1, 2};
  const Domain domain = domain_of(sizes);
  PlanningProblem problem = asking(sizes);
  Rng rng(3);
  int told = 0;
  int untold = 0;
  for (int round = 0; round < 60; ++round) {
    const bool public_total = round % 2 == 0;
    std::vector<Measurement> measurements;
    DenseMatrix information(48, 48);
    std::vector<double> score(48, 0.0);  // A' y / sigma^2
    const std::size_t count = 1 + rng.below(4);
    for (std::size_t k = 0; k < count; ++k) {
      std::vector<AttributeId> ids;
      for (AttributeId id = 0; id < sizes.size(); ++id) {
        if (rng.below(2) == 0) ids.push_back(id);
      }
      Measurement y;
      y.query.clique = Clique(ids);
      y.noise = NoiseKind::Gaussian;
      y.sigma = Sigma(1.0 + 3.0 * rng.uniform());
      const DenseMatrix m = dense_queries(
          problem, {y.query.clique, std::vector<ColumnQueries>(y.query.clique.size()), 1.0});
      for (std::size_t r = 0; r < m.rows; ++r) y.values.push_back(20.0 * rng.uniform());
      const double precision = 1.0 / (y.sigma.value() * y.sigma.value());
      const DenseMatrix g = gram(m);
      for (std::size_t i = 0; i < g.values.size(); ++i) {
        information.values[i] += precision * g.values[i];
      }
      for (std::size_t r = 0; r < m.rows; ++r) {
        for (std::size_t c = 0; c < 48; ++c) score[c] += precision * m(r, c) * y.values[r];
      }
      measurements.push_back(std::move(y));
    }
    // A public number of rows is one more measurement, with hardly any noise.
    constexpr double kRows = 100.0;
    constexpr double kSure = 1e6;
    if (public_total) {
      for (double& value : information.values) value += kSure;
      for (double& value : score) value += kSure * kRows;
    }
    const DenseFit dense = fit_of(information);
    const auto x = apply_along(dense.covariance, score, 1, 1);
    const MeasuredAnswers answers(domain, problem.workload, measurements,
                                  public_total ? std::optional(kRows) : std::nullopt, {});
    for (std::size_t t = 0; t < problem.workload.size(); ++t) {
      const DenseMatrix w = dense_queries(problem, problem.workload[t]);
      const DenseMatrix held = multiply(w, dense.projection);
      const DenseMatrix spread = multiply_transposed(multiply(w, dense.covariance), w);
      const auto estimates = apply_along(w, x, 1, 1);
      const auto got = answers.answer(t);
      ASSERT_EQ(got.size(), w.rows);
      for (std::size_t q = 0; q < w.rows; ++q) {
        double left = 0.0;
        for (std::size_t c = 0; c < 48; ++c) left += std::abs(held(q, c) - w(q, c));
        ASSERT_EQ(got[q].has_value(), left < 1e-6) << round << " " << t << " " << q << " " << left;
        (got[q] ? told : untold) += 1;
        if (!got[q]) continue;
        EXPECT_NEAR(got[q]->estimate, estimates[q], 2e-3);
        EXPECT_NEAR(got[q]->stddev, std::sqrt(spread(q, q)), 2e-3);
        EXPECT_NEAR(got[q]->margin95, kNormal95 * got[q]->stddev, 1e-9);
      }
    }
  }
  EXPECT_GT(told, 500);
  EXPECT_GT(untold, 500);
}

TEST(MeasuredAnswers, OfHdmmAreItsOwn) {
  const Table table = skewed_rows(400, 0.0, 1);
  const ColumnQueries ranges{Kind::Ranges, {}};
  const Workload workload(table.domain(), "mixed",
                          {{"pairs", 1.0, Marginals{{{{0, 1}, 1.0}, {{1, 2}, 1.0}}}},
                           {"ranges", 2.0, Products{{{{0, 2}, {ColumnQueries{}, ranges}, 1.0}}}}});
  for (const auto& unit : {kReplaceOne, kAddRemove}) {
    for (const std::string planner : {"residual", "marginals", "kron", "auto"}) {
      for (const bool laplace : {false, true}) {
        if (laplace && planner == "residual") continue;
        SCOPED_TRACE(planner + (laplace ? " laplace" : " gaussian"));
        const auto run = run_mechanism(
            "hdmm", {{"planner", planner}, {"noise", laplace ? "laplace" : "gaussian"}}, table,
            {table.domain(), workload, {}}, {.unit = unit});
        const auto again = answer_workload(
            workload, run.release.measurements,
            unit.keeps_rows() ? std::optional(run.release.total) : std::nullopt, nullptr, {});
        ASSERT_EQ(again.size(), run.release.answers.size());
        for (std::size_t q = 0; q < again.size(); ++q) {
          const auto& first = run.release.answers[q];
          EXPECT_EQ(again[q].query, first.query);
          if (planner == "kron") {  // by itself a product knows nothing of a public total
            EXPECT_LE(*again[q].stddev, 1.001 * *first.stddev);
            continue;
          }
          EXPECT_NEAR(again[q].estimate, first.estimate, 1e-6 * (1.0 + std::abs(first.estimate)));
          EXPECT_NEAR(*again[q].stddev, *first.stddev, 1e-3 * *first.stddev);
          EXPECT_NEAR(*again[q].margin95, *first.margin95, 0.03 * *first.margin95);
        }
      }
    }
  }
}

TEST(MeasuredAnswers, PassOverPublicDataAndTellSingleCounts) {
  const Table table = skewed_rows(300, 0.0, 1);
  const Problem problem = skewed_problem(skewed_rows(200, 0.1, 2));
  const auto run = run_mechanism("mw-pub", {{"rounds", "4"}}, table, problem);
  const auto answers = answer_workload(problem.workload, run.release.measurements, 300.0,
                                       run.release.model.get(), {});
  // Four cells were counted, each perhaps more than once; no other is told.
  std::size_t told = 0;
  for (const auto& answer : answers) told += answer.stddev ? 1 : 0;
  EXPECT_GE(told, 1U);
  EXPECT_LE(told, 4U);
  Measurement open;
  open.query = {Clique{0}};
  open.values = {1.0, 2.0};
  open.origin = Origin::Public;
  const std::vector<Measurement> measured = {open};
  EXPECT_TRUE(test::contains(test::error_of<UsageError>([&] {
                               answer_workload(problem.workload, measured, 300.0, nullptr, {});
                             }),
                             "'a=0 & b=0'"));
}

// Merged cells tell what is a sum of theirs: found by trying every sum.
TEST(MeasuredAnswers, OfMergedCellsAreSumsOfThem) {
  const std::vector<std::size_t> sizes = {2, 3, 2};
  const Domain domain = domain_of(sizes);
  Rng rng(8);
  const std::vector<ProductQueries> asked = {
      {Clique{0, 1}, {{}, {Kind::Ranges, {}}}, 1.0},
      {Clique{1}, {{Kind::Given, {1, 1, 1, 0, 2, 2, -1, 0, 0, 0, 0, 0}}}, 1.0},
      {Clique{}, {}, 1.0}};
  PlanningProblem problem;
  problem.sizes = sizes;
  int told = 0;
  for (int round = 0; round < 200; ++round) {
    const Clique clique = rng.below(2) == 0 ? Clique{0, 1} : Clique{0, 1, 2};
    const std::size_t cells = domain.cells(clique);
    const std::size_t rows = 1 + rng.below(5);
    std::vector<std::vector<LinearMap::Entry>> entries(rows);
    const bool all = rng.below(3) > 0;
    for (std::size_t cell = 0; cell < cells; ++cell) {
      if (!all && rng.below(4) == 0) continue;
      entries[rng.below(rows)].push_back({cell, 1});
    }
    std::erase_if(entries, [](const auto& row) { return row.empty(); });
    if (entries.empty()) continue;
    Measurement y;
    y.query = {clique, LinearMap::rows(entries, cells)};
    y.noise = NoiseKind::Gaussian;
    y.sigma = Sigma(2.0);
    for (std::size_t r = 0; r < entries.size(); ++r) y.values.push_back(10.0 * rng.uniform());
    const std::vector<Measurement> measured = {y};
    const MeasuredAnswers answers(domain, asked, measured, std::nullopt, {});
    // Over the whole domain: rows of the map, and queries.
    DenseMatrix m(entries.size(), 12);
    for (std::size_t r = 0; r < entries.size(); ++r) {
      for (const auto& entry : entries[r]) {
        for (std::size_t cell = 0; cell < 12; ++cell) {
          const std::size_t own = clique.size() == 3 ? cell : cell / 2;
          if (own == entry.column) m(r, cell) = 1.0;
        }
      }
    }
    const DenseFit dense = fit_of(gram(m));
    for (std::size_t t = 0; t < asked.size(); ++t) {
      const DenseMatrix w = dense_queries(problem, asked[t]);
      const DenseMatrix held = multiply(w, dense.projection);
      const DenseMatrix of_rows = multiply_transposed(multiply(w, dense.covariance), m);
      const auto got = answers.answer(t);
      for (std::size_t q = 0; q < w.rows; ++q) {
        double left = 0.0;
        for (std::size_t c = 0; c < 12; ++c) left += std::abs(held(q, c) - w(q, c));
        ASSERT_EQ(got[q].has_value(), left < 1e-9) << round << " " << t << " " << q;
        if (!got[q]) continue;
        ++told;
        double estimate = 0.0;
        double variance = 0.0;
        for (std::size_t r = 0; r < m.rows; ++r) {
          estimate += of_rows(q, r) * y.values[r];
          variance += 4.0 * of_rows(q, r) * of_rows(q, r);
        }
        EXPECT_NEAR(got[q]->estimate, estimate, 1e-9);
        EXPECT_NEAR(got[q]->stddev, std::sqrt(variance), 1e-9);
      }
    }
  }
  EXPECT_GT(told, 200);
}

// Merged codes tell no values apart; a marginal beside them does.
TEST(MeasuredAnswers, OfMergedCodesLeaveWhatTheyDoNotTell) {
  const Domain domain = domain_of({4, 3});
  Measurement merged;
  merged.query = {Clique{0}, LinearMap::kronecker({std::make_shared<const AxisMap>(
                                 AxisMap::given({1, 1, 0, 0, 0, 0, 1, 1}, 4))})};
  merged.values = {60.0, 40.0};
  merged.noise = NoiseKind::Gaussian;
  merged.sigma = Sigma(2.0);
  Measurement plain;
  plain.query = {Clique{1}};
  plain.values = {50.0, 30.0, 20.0};
  plain.noise = NoiseKind::Gaussian;
  plain.sigma = Sigma(3.0);
  const std::vector<ProductQueries> asked = {{Clique{0}, {{}}, 1.0}, {Clique{1}, {{}}, 1.0}};
  const std::vector<Measurement> both = {merged, plain};
  const MeasuredAnswers answers(domain, asked, both, std::nullopt, {});
  for (const auto& answer : answers.answer(0)) EXPECT_FALSE(answer);
  for (const auto& answer : answers.answer(1)) {
    ASSERT_TRUE(answer);
    EXPECT_NEAR(answer->stddev, 3.0, 1e-9);
  }
}

// Intervals of what was chosen by looking: nominal, and found to hold nearly as often as they say.
class Coverage : public testing::TestWithParam<std::tuple<const char*, bool>> {};

TEST_P(Coverage, OfAdaptiveMeasurementsIsNearlyNominal) {
  const auto [mechanism, add_remove] = GetParam();
  const Table table = skewed_rows(500, 0.0, 1);
  const Problem problem = skewed_problem(skewed_rows(200, 0.1, 2));
  const CountedTable counted(table);
  const PrivacyUnit unit = add_remove ? kAddRemove : kReplaceOne;
  constexpr int kSeeds = 120;
  double told = 0.0;
  double held = 0.0;
  double squares = 0.0;
  for (int seed = 0; seed < kSeeds; ++seed) {
    const auto run = run_mechanism(mechanism, {}, table, problem,
                                   {.unit = unit, .seed = static_cast<std::uint64_t>(seed)});
    const std::optional<double> rows =
        unit.keeps_rows() ? std::optional(run.release.total) : std::nullopt;
    const auto answers = answer_workload(problem.workload, run.release.measurements, rows,
                                         run.release.model.get(), {});
    std::size_t q = 0;
    for (const auto& product : problem.workload.products()) {
      for (const double truth : counted.project(product.queries.clique).values) {
        const auto& answer = answers[q++];
        if (!answer.stddev) continue;
        told += 1.0;
        const double off = *answer.measured - truth;
        held += std::abs(off) <= *answer.margin95 ? 1.0 : 0.0;
        squares += off * off / (*answer.stddev * *answer.stddev);
      }
    }
  }
  ASSERT_GT(told, 1000.0);
  RecordProperty("told", std::to_string(told / kSeeds));
  RecordProperty("coverage", std::to_string(held / told));
  EXPECT_NEAR(held / told, 0.95, 0.02) << told;
  EXPECT_NEAR(squares / told, 1.0, 0.12) << told;
}

INSTANTIATE_TEST_SUITE_P(All, Coverage,
                         testing::Combine(testing::Values("aim", "mst", "tandem", "jam-pgm",
                                                          "private-pgm"),
                                          testing::Bool()),
                         [](const auto& case_of) {
                           std::string name = std::get<0>(case_of.param);
                           std::erase(name, '-');
                           return name + (std::get<1>(case_of.param) ? "AddRemove" : "ReplaceOne");
                         });

}  // namespace
}  // namespace tandem
