// SPDX-License-Identifier: Apache-2.0
#include "tandem/model/histogram/support_histogram.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cmath>
#include <map>
#include <numeric>

#include "model/model_contract.h"
#include "support/random_tables.h"
#include "tandem/base/error.h"
#include "tandem/model/histogram/workload_answers.h"

namespace tandem {
namespace {

SupportHistogram fit(const Table& table, double total) {
  auto distinct = distinct_rows(table);
  return {{std::move(distinct.rows), {distinct.multiplicity.begin(), distinct.multiplicity.end()}},
          total};
}

}  // namespace

namespace test {
INSTANTIATE_TEST_SUITE_P(Support, ModelContract, testing::Values(ModelMaker([](const Table& table) {
                           return std::make_unique<SupportHistogram>(
                               fit(table, static_cast<double>(table.rows())));
                         })));
}  // namespace test

namespace {

// The obvious way: every weight normalised after every step.
class Slow {
 public:
  explicit Slow(const SupportHistogram& from)
      : rows_(from.rows()),
        total_(from.total()),
        weights_(from.weights().begin(), from.weights().end()) {
    normalize();
    sum_.assign(weights_.size(), 0.0);
  }
  void reweight(const Cell& cell, double exponent) {
    for (std::size_t r = 0; r < weights_.size(); ++r) {
      if (test::cell_of(rows_, cell.clique, r) == cell.index) weights_[r] *= std::exp(exponent);
    }
    normalize();
  }
  void add_to_average() {
    ++steps_;
    for (std::size_t r = 0; r < weights_.size(); ++r) sum_[r] += weights_[r];
  }
  Factor project(const Clique& clique) const { return test::brute_force(rows_, clique, weights_); }
  Factor average(const Clique& clique) const {
    auto factor = test::brute_force(rows_, clique, sum_);
    for (double& value : factor.values) value /= steps_;
    return factor;
  }

 private:
  void normalize() {
    const double sum = std::accumulate(weights_.begin(), weights_.end(), 0.0);
    for (double& weight : weights_) weight *= total_ / sum;
  }
  Table rows_;
  double total_;
  std::vector<double> weights_;
  std::vector<double> sum_;
  double steps_ = 0.0;
};

void expect_near(const Factor& expected, const Factor& found, double tolerance) {
  ASSERT_EQ(expected.values.size(), found.values.size());
  for (std::size_t i = 0; i < expected.values.size(); ++i) {
    ASSERT_NEAR(expected.values[i], found.values[i], tolerance);
  }
}

struct World {
  SupportHistogram A;
  std::vector<Clique> marginals;
};

World any_world() {
  const Domain domain = test::any_domain({1, 2, 3, 7, 300}, 5);
  const Table table = test::any_table(domain, *rc::gen::inRange<std::size_t>(1, 200));
  World world{fit(table, *rc::gen::element(1.0, 37.5, 1e6)), {}};
  const auto count = *rc::gen::inRange(1, 8);
  for (int i = 0; i < count; ++i) world.marginals.push_back(test::any_clique(domain, 5000));
  return world;
}

Cell any_cell(const World& world) {
  const Clique& clique = *rc::gen::elementOf(world.marginals);
  return {clique, *rc::gen::inRange<std::size_t>(0, world.A.domain().cells(clique))};
}

RC_GTEST_PROP(SupportHistogram, FollowsEveryStepLikeTheObviousWay, ()) {
  World world = any_world();
  auto& A = world.A;
  Slow slow(A);
  const auto most_kept = *rc::gen::element(WorkloadAnswers::kMostKept, std::size_t{0});
  WorkloadAnswers answers(A, world.marginals, Threads{*rc::gen::inRange(1, 3)}, most_kept);
  const double total = A.total();
  const int rounds = *rc::gen::inRange(1, 30);
  for (int t = 0; t < rounds; ++t) {
    for (int steps = *rc::gen::inRange(0, 4); steps > 0; --steps) {
      const Cell cell = any_cell(world);
      const double exponent = *rc::gen::element(0.3, -0.2, 1e-9, 5.0, -4.0, 0.0);
      const auto rows = A.rows_in(cell);
      RC_ASSERT(std::abs(A.count(rows) - slow.project(cell.clique).values[cell.index]) <
                1e-9 * total);
      A.reweight(rows, exponent);
      slow.reweight(cell, exponent);
    }
    answers.follow(A);
    A.add_to_average();
    slow.add_to_average();
    for (std::size_t m = 0; m < world.marginals.size(); ++m) {
      const auto expected = slow.project(world.marginals[m]);
      const auto sums = answers.of(m);
      RC_ASSERT(sums.size() == expected.values.size());
      for (std::size_t i = 0; i < sums.size(); ++i) {
        RC_ASSERT(std::abs(sums[i] * A.unit() - expected.values[i]) < 1e-9 * total);
      }
    }
  }
  const auto average = A.average();
  for (const auto& marginal : world.marginals) {
    expect_near(slow.project(marginal), A.project(marginal), 1e-9 * total);
    expect_near(slow.average(marginal), average.project(marginal), 1e-9 * total);
  }
}

RC_GTEST_PROP(SupportHistogram, SamplesHaveEveryRowToWithinOne, ()) {
  const World world = any_world();
  const auto rows = *rc::gen::inRange<std::size_t>(0, 1000);
  Rng rng(*rc::gen::arbitrary<std::uint64_t>());
  const Clique all = world.A.domain().all();
  std::vector<double> found(world.A.rows().rows(), 0.0);
  const Table sample = world.A.sample(rows, rng);
  RC_ASSERT(sample.rows() == rows);
  std::map<std::vector<Code>, std::size_t> places;
  const auto codes = [&](const Table& table, std::size_t r) {
    std::vector<Code> row;
    for (const auto id : all) row.push_back(table.column(id)[r]);
    return row;
  };
  for (std::size_t r = 0; r < found.size(); ++r) places[codes(world.A.rows(), r)] = r;
  for (std::size_t r = 0; r < rows; ++r) found[places.at(codes(sample, r))] += 1.0;
  for (std::size_t r = 0; r < found.size(); ++r) {
    const double share = world.A.weights()[r] * world.A.unit() / world.A.total();
    RC_ASSERT(std::abs(found[r] - share * static_cast<double>(rows)) < 1.0 + 1e-6);
  }
}

// Ten thousand steps up and down: what rounding adds stays far below a thousandth of a row, and
// weights neither overflow nor vanish.
TEST(SupportHistogram, DoesNotDrift) {
  const Domain domain({{"a", 6, {}}, {"b", 5, {}}, {"c", 4, {}}});
  SupportHistogram A(whole_domain(domain), 50'000.0);
  const std::vector<Clique> marginals = {{0, 1}, {0, 2}, {1, 2}, {0, 1, 2}};
  WorkloadAnswers answers(A, marginals);
  Rng rng(3);
  for (int t = 0; t < 10'000; ++t) {
    const Clique& clique = marginals[rng.below(3)];
    const Cell cell{clique, rng.below(domain.cells(clique))};
    A.reweight(A.rows_in(cell), 2.0 * rng.uniform() - 1.0 + (t < 2000 ? 1.0 : 0.0));
    answers.follow(A);
    A.add_to_average();
  }
  for (std::size_t m = 0; m < marginals.size(); ++m) {
    const auto exact = A.project(marginals[m]);
    EXPECT_NEAR(total(exact), 50'000.0, 1e-6);
    for (std::size_t i = 0; i < exact.values.size(); ++i) {
      EXPECT_NEAR(answers.of(m)[i] * A.unit(), exact.values[i], 1e-6);
    }
  }
  EXPECT_NEAR(total(A.average().project({})), 50'000.0, 1e-6);
}

TEST(SupportHistogram, SurvivesExtremeSteps) {
  const Domain domain({{"a", 3, {}}});
  SupportHistogram A(whole_domain(domain), 10.0);
  const auto first = A.rows_in({Clique{0}, 0});
  const auto all = A.rows_in({Clique{}, 0});
  EXPECT_EQ(all.size(), 3U);
  for (int t = 0; t < 20; ++t) A.reweight(first, 1e6);
  EXPECT_NEAR(A.count(first), 10.0, 1e-9);
  for (int t = 0; t < 40; ++t) A.reweight(first, -1e6);
  for (const double value : A.project({0}).values) {
    EXPECT_TRUE(std::isfinite(value));
    EXPECT_GE(value, 0.0);
  }
  EXPECT_NEAR(total(A.project({0})), 10.0, 1e-9);
  A.reweight(all, -1e6);  // all rows alike: nothing changes
  EXPECT_NEAR(total(A.project({0})), 10.0, 1e-9);
  EXPECT_THROW(A.reweight(first, std::nan("")), InternalError);
}

TEST(SupportHistogram, AnswersDoNotDependOnThreads) {
  Rng rng(4);
  const Domain domain({{"a", 9, {}}, {"b", 8, {}}, {"c", 7, {}}, {"d", 6, {}}});
  std::vector<Clique> marginals;
  for (int copies = 0; copies < 100; ++copies) {
    for (const auto& clique : {Clique{0, 1}, {1, 2}, {0, 2, 3}, {1, 3}, {0, 1, 2}}) {
      marginals.push_back(clique);
    }
  }
  const auto run = [&](int threads, std::size_t most_kept) {
    SupportHistogram A(whole_domain(domain), 1000.0);
    WorkloadAnswers answers(A, marginals, Threads{threads}, most_kept);
    for (std::size_t cell = 0; cell < 72; cell += 5) {
      A.reweight(A.rows_in({Clique{0, 1}, cell}), 0.1 * static_cast<double>(cell));
      answers.follow(A);
    }
    std::vector<double> all;
    for (std::size_t m = 0; m < marginals.size(); ++m) {
      all.insert(all.end(), answers.of(m).begin(), answers.of(m).end());
    }
    return all;
  };
  EXPECT_EQ(run(1, 0), run(4, 0));
  EXPECT_EQ(run(1, WorkloadAnswers::kMostKept), run(4, WorkloadAnswers::kMostKept));
}

}  // namespace
}  // namespace tandem
