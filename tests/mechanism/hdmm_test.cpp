// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cmath>
#include <memory>
#include <string>
#include <vector>

#include "support/entropy_for_tests.h"
#include "support/errors.h"
#include "tandem/base/error.h"
#include "tandem/mechanism/registry.h"
#include "tandem/privacy/accountant.h"
#include "tandem/privacy/private_data.h"
#include "tandem/query/counting.h"
#include "tandem/source/memory_source.h"

namespace tandem {
namespace {

using test::contains;
using test::error_of;

Domain small_domain() { return Domain({{"a", 2, {}}, {"b", 6, {}}, {"c", 5, {}}}); }

Table small_table(std::size_t rows) {
  Table table(small_domain(), rows);
  for (std::size_t r = 0; r < rows; ++r) {
    table.column(0).set(r, r % 3 == 0 ? 1 : 0);
    table.column(1).set(r, static_cast<Code>(r % 10 < 5 ? 2 : r % 6));
    table.column(2).set(r, static_cast<Code>(r % 7 % 5));
  }
  return table;
}

// Pairs of columns, and ranges of one column by the values of another.
Workload mixed() {
  const ColumnQueries ranges{ColumnQueries::Kind::Ranges, {}};
  return Workload(small_domain(), "mixed",
                  {{"pairs", 1.0, Marginals{{{{0, 1}, 1.0}, {{1, 2}, 1.0}}}},
                   {"ranges", 2.0, Products{{{{0, 1}, {ColumnQueries{}, ranges}, 1.0}}}}});
}

Filter zcdp() { return Filter::zcdp(rho_of(Epsilon(1.0), Delta(1e-9))); }

struct Outcome {
  Release release;
  Filter filter;
};

Curator curator_of(const Table& table, const Filter& filter, const PrivacyUnit& unit,
                   std::unique_ptr<EntropySource> entropy) {
  return {PrivateData(memory_source(table), unit), filter, std::move(entropy), memory_transcript(),
          CuratorSettings{}};
}

Outcome run_hdmm(const Table& table, const Workload& workload, const Filter& filter,
                 const PrivacyUnit& unit, std::unique_ptr<EntropySource> entropy,
                 const Parameters& parameters = {}) {
  Curator curator = curator_of(table, filter, unit, std::move(entropy));
  Rng rng(1);
  Release release =
      find_mechanism("hdmm").run(curator, {table.domain(), workload, {}}, parameters, rng);
  return {std::move(release), curator.filter()};
}

std::vector<double> truth_of(const Table& table, const Workload& workload) {
  const CountedTable counted(table);
  std::vector<double> out;
  for (const auto& [group, product] : workload.products()) {
    auto values = counted.project(product.clique).values;
    std::size_t outer = 1;
    std::size_t inner = values.size();
    for (std::size_t i = 0; i < product.clique.size(); ++i) {
      const std::size_t n = table.domain()[product.clique[i]].size;
      inner /= n;
      values = product.factors[i].apply(values, outer, n, inner);
      outer *= product.factors[i].rows(n);
    }
    out.insert(out.end(), values.begin(), values.end());
  }
  return out;
}

constexpr PrivacyUnit kReplaceOne{};
constexpr PrivacyUnit kAddRemove{.neighbors = Neighbors::AddRemove, .rows_per_person = 1};
constexpr PrivacyUnit kThreeRows{.neighbors = Neighbors::ReplaceOne, .rows_per_person = 3};

TEST(Hdmm, StaysWithinBudgetAndItsChargesAddUp) {
  for (const auto& unit : {kReplaceOne, kAddRemove, kThreeRows}) {
    for (const auto& total : {zcdp(), Filter::pure(Epsilon(1.0))}) {
      const auto [release, filter] =
          run_hdmm(small_table(200), mixed(), total, unit, std::make_unique<SystemEntropy>());
      Cost sum;
      for (const auto& charge : filter.charges()) sum = sum + charge.cost;
      EXPECT_EQ(sum, filter.spent());
      EXPECT_LE(filter.spent(), total.total());
      EXPECT_EQ(release.model, nullptr);
    }
  }
}

TEST(Hdmm, RecoversTheTruthWithoutNoiseByEveryPlanner) {
  const Table table = small_table(300);
  const auto truth = truth_of(table, mixed());
  for (const auto& unit : {kReplaceOne, kAddRemove, kThreeRows}) {
    for (const std::string planner : {"auto", "kron", "marginals", "residual"}) {
      const auto [release, filter] = run_hdmm(
          table, mixed(), zcdp(), unit, std::make_unique<test::NoNoise>(), {{"planner", planner}});
      ASSERT_EQ(release.answers.size(), truth.size());
      for (std::size_t q = 0; q < truth.size(); ++q) {
        EXPECT_NEAR(release.answers[q].estimate, truth[q], 1e-6)
            << planner << " " << release.answers[q].query;
      }
      EXPECT_NEAR(release.total, 300.0, 1e-6);
    }
  }
}

TEST(Hdmm, NamesQueriesByGroupColumnAndValue) {
  const auto [release, filter] =
      run_hdmm(small_table(50), mixed(), zcdp(), kReplaceOne, std::make_unique<SeededEntropy>(1));
  EXPECT_EQ(release.answers[0].query, "pairs: a=0 & b=0");
  EXPECT_EQ(release.answers[1].query, "pairs: a=0 & b=1");
  EXPECT_EQ(release.answers[42].query, "ranges: a=0 & b=0");
  EXPECT_EQ(release.answers[43].query, "ranges: a=0 & b=0..1");
  EXPECT_EQ(release.answers.back().query, "ranges: a=1 & b=5");
}

// A reader who splits a name at ": ", " & ", "=" and ".." outside quotes gets its parts back.
TEST(Hdmm, QuotesNamesThatHoldSignsOfTheGrammar) {
  const Domain domain(
      {{"a=b", 2, {"s & t", "say \"w|z\""}}, {"age", 3, {"0-14", "c: d", "St. John's"}}});
  const ColumnQueries ranges{ColumnQueries::Kind::Ranges, {}};
  const ColumnQueries sums{ColumnQueries::Kind::Given, {2, -1}};
  const Workload workload(domain, "names",
                          {{"x: y", 1.0, Products{{{{0, 1}, {sums, ranges}, 1.0}}}},
                           {"by age", 1.0, Marginals{{{{1}, 1.0}}}}});
  const auto [release, filter] = run_hdmm(Table(domain, 20), workload, zcdp(), kReplaceOne,
                                          std::make_unique<SeededEntropy>(1));
  const std::string start = R"("x: y": "a=b"=2*"s & t"-1*"say ""w|z""" & age=)";
  EXPECT_EQ(release.answers[0].query, start + "0-14");
  EXPECT_EQ(release.answers[1].query, start + "0-14..\"c: d\"");
  EXPECT_EQ(release.answers[8].query, "by age: age=St. John's");
}

// Over many seeds: errors as large as the plan says, and intervals that hold as often as they say.
TEST(Hdmm, ErrorsAreAsPlannedAndIntervalsHold) {
  const Table table = small_table(300);
  const auto truth = truth_of(table, mixed());
  constexpr int kSeeds = 150;
  for (const auto& unit : {kReplaceOne, kAddRemove}) {
    for (const bool laplace : {false, true}) {
      const Filter filter = laplace ? Filter::pure(Epsilon(1.0)) : zcdp();
      const Curator planning =
          curator_of(Table(small_domain(), 0), filter, unit, std::make_unique<SystemEntropy>());
      const auto plan =
          find_mechanism("hdmm").plan(planning, {small_domain(), mixed(), {}}, {}, 0.0);
      const double rmse = plan.back().numbers.at("rmse").as_number();
      double squares = 0.0;
      double held = 0.0;
      double answers = 0.0;
      for (int seed = 0; seed < kSeeds; ++seed) {
        const auto [release, spent] =
            run_hdmm(table, mixed(), filter, unit,
                     std::make_unique<SeededEntropy>(static_cast<std::uint64_t>(seed)));
        for (std::size_t q = 0; q < truth.size(); ++q) {
          const auto& answer = release.answers[q];
          const double error = answer.estimate - truth[q];
          squares += error * error;
          held += std::abs(error) <= *answer.margin95 + 1e-9 ? 1.0 : 0.0;
          answers += 1.0;
        }
      }
      SCOPED_TRACE(laplace ? "laplace" : "gaussian");
      EXPECT_NEAR(std::sqrt(squares / answers) / rmse, 1.0, 0.05);
      EXPECT_NEAR(held / answers, 0.95, 0.01);
    }
  }
}

// Planners choose by a sensitivity of their own. What the gate then takes must be the same, or the
// wrong one wins.
TEST(Hdmm, TheGateTakesTheNoiseThatPlannersCompareBy) {
  const ColumnQueries ranges{ColumnQueries::Kind::Ranges, {}};
  const Workload workload(small_domain(), "ranges",
                          {{"ranges", 1.0, Products{{{{0, 1}, {ColumnQueries{}, ranges}, 1.0}}}},
                           {"pairs", 1.0, Marginals{{{{0, 2}, 1.0}}}}});
  PrivacyUnit absent = kReplaceOne;
  absent.may_be_absent = true;
  for (const auto& unit : {kReplaceOne, kAddRemove, kThreeRows, absent}) {
    const auto plan = [&](const std::string& planner) {
      const Curator planning =
          curator_of(small_table(100), zcdp(), unit, std::make_unique<SystemEntropy>());
      return find_mechanism("hdmm").plan(planning, {small_domain(), workload, {}},
                                         {{"planner", planner}}, 0.0);
    };
    const auto rmse = [](const Plan& of) { return of.back().numbers.at("rmse").as_number(); };
    const Plan best = plan("auto");
    int compared = 0;
    for (const std::string planner : {"kron", "marginals", "residual"}) {
      const Plan other = plan(planner);
      const std::string name = other.front().numbers.at("planner").as_string();
      for (const auto& result : best.front().numbers.at("planners").as_array()) {
        if (result.at("planner").as_string() != name) continue;
        const double ratio = result.at("rmse_against_best").as_number();
        EXPECT_NEAR(rmse(other) / rmse(best), ratio, 0.005 * ratio) << name;
        ++compared;
      }
    }
    EXPECT_EQ(compared, 3);
  }
}

TEST(Hdmm, GivesTheSameForTheSameSeed) {
  const auto run = [] {
    return run_hdmm(small_table(60), mixed(), zcdp(), kReplaceOne,
                    std::make_unique<SeededEntropy>(7));
  };
  const auto first = run();
  const auto again = run();
  for (std::size_t q = 0; q < first.release.answers.size(); ++q) {
    EXPECT_EQ(first.release.answers[q].estimate, again.release.answers[q].estimate);
  }
}

TEST(Hdmm, AnswersAPublicTotalExactly) {
  const Workload total(small_domain(), "total", {{"rows", 1.0, Marginals{{{Clique{}, 1.0}}}}});
  const auto [release, filter] =
      run_hdmm(small_table(90), total, zcdp(), kReplaceOne, std::make_unique<SeededEntropy>(1));
  ASSERT_EQ(release.answers.size(), 1U);
  EXPECT_EQ(release.answers[0].query, "rows: all");
  EXPECT_EQ(release.answers[0].estimate, 90.0);
  EXPECT_EQ(*release.answers[0].stddev, 0.0);
  EXPECT_TRUE(filter.spent().is_zero());
}

// Products of several ordered columns, in units that the gate takes, with small budgets too.
TEST(Hdmm, MeasuresProductsOfManyOrderedColumns) {
  const Domain domain({{"a", 10, {}}, {"b", 12, {}}, {"c", 8, {}}, {"d", 3, {}}});
  Table table(domain, 500);
  Rng rng(1);
  for (AttributeId id = 0; id < domain.size(); ++id) {
    for (std::size_t r = 0; r < 500; ++r) {
      table.column(id).set(r, static_cast<Code>(rng.below(domain[id].size)));
    }
  }
  const ColumnQueries ranges{ColumnQueries::Kind::Ranges, {}};
  const Workload workload(domain, "wide",
                          {{"three", 1.0, Products{{{{0, 1, 2}, {ranges, ranges, ranges}, 1.0}}}},
                           {"two", 1.0, Products{{{{2, 3}, {ranges, ColumnQueries{}}, 1.0}}}}});
  const auto truth = truth_of(table, workload);
  for (const auto& unit : {kReplaceOne, kAddRemove, kThreeRows}) {
    for (const bool laplace : {false, true}) {
      for (const std::string planner : {"auto", "kron", "marginals", "residual"}) {
        if (laplace && planner == "residual") continue;
        SCOPED_TRACE(planner + (laplace ? " laplace" : " gaussian"));
        const Filter filter = laplace ? Filter::pure(Epsilon(0.05))
                                      : Filter::zcdp(rho_of(Epsilon(0.05), Delta(1e-9)));
        const auto [release, spent] =
            run_hdmm(table, workload, filter, unit, std::make_unique<SeededEntropy>(3),
                     {{"planner", planner}});
        double squares = 0.0;
        for (std::size_t q = 0; q < truth.size(); ++q) {
          const double off = release.answers[q].estimate - truth[q];
          squares += off * off / std::pow(std::max(1e-9, *release.answers[q].stddev), 2);
        }
        // Answers go together, so that their mean squared error is not sharply one.
        EXPECT_GT(squares / static_cast<double>(truth.size()), 0.4);
        EXPECT_LT(squares / static_cast<double>(truth.size()), 2.0);
      }
    }
  }
}

TEST(Hdmm, ConsistentAnswersAreNearerAndOfOneTotal) {
  const Table table = small_table(300);
  const auto truth = truth_of(table, mixed());
  const Filter filter = Filter::zcdp(rho_of(Epsilon(0.2), Delta(1e-9)));
  for (const auto& unit : {kReplaceOne, kAddRemove}) {
    for (const std::string planner : {"auto", "marginals", "kron"}) {
      for (const std::string kind : {"nonnegative", "integer"}) {
        double plain = 0.0;
        double near = 0.0;
        for (std::uint64_t seed = 0; seed < 8; ++seed) {
          const auto [release, spent] =
              run_hdmm(table, mixed(), filter, unit, std::make_unique<SeededEntropy>(seed),
                       {{"planner", planner}, {"consistent", kind}});
          double pairs = 0.0;  // all of a by b, and of b by c
          for (std::size_t q = 0; q < truth.size(); ++q) {
            const auto& answer = release.answers[q];
            plain += std::abs(*answer.measured - truth[q]);
            near += std::abs(answer.estimate - truth[q]);
            ASSERT_GE(answer.estimate, 0.0);
            if (kind == "integer") {
              ASSERT_EQ(answer.estimate, std::round(answer.estimate));
            }
            if (q < 12) pairs += answer.estimate;
          }
          if (unit.keeps_rows()) {
            EXPECT_NEAR(pairs, 300.0, 1e-6);
          }
        }
        EXPECT_LT(near, plain) << planner;
      }
    }
  }
}

// Whichever planner answers, and whether the total is asked for alone or as the last of prefixes.
TEST(Hdmm, EveryPlannerAnswersAPublicTotalExactly) {
  const ColumnQueries total{ColumnQueries::Kind::Total, {}};
  const ColumnQueries prefixes{ColumnQueries::Kind::Prefix, {}};
  const Workload workload(small_domain(), "totals",
                          {{"t", 1.0, Products{{{{0}, {total}, 1.0}}}},
                           {"p", 1.0, Products{{{{1}, {prefixes}, 1.0}}}},
                           {"q", 1.0, Marginals{{{{0, 1}, 1.0}, {{2}, 1.0}}}}});
  for (const auto& [filter, planner] :
       {std::pair(zcdp(), "auto"), std::pair(zcdp(), "residual"), std::pair(zcdp(), "marginals"),
        std::pair(zcdp(), "kron"), std::pair(Filter::pure(Epsilon(1.0)), "auto"),
        std::pair(Filter::pure(Epsilon(1.0)), "kron")}) {
    SCOPED_TRACE(planner);
    const auto [release, spent] =
        run_hdmm(small_table(90), workload, filter, kReplaceOne, std::make_unique<SeededEntropy>(2),
                 {{"planner", planner}});
    for (const std::size_t q : {std::size_t{0}, std::size_t{6}}) {
      EXPECT_NEAR(release.answers[q].estimate, 90.0, 1e-9) << release.answers[q].query;
      EXPECT_EQ(*release.answers[q].stddev, 0.0) << release.answers[q].query;
    }
    EXPECT_GT(*release.answers[5].stddev, 0.0);
  }
}

TEST(Hdmm, TakesWeightsAMillionApartAndNamesThoseFurtherApart) {
  const auto run = [](double large, double small) {
    const Workload workload(
        small_domain(), "weights",
        {{"a", large, Marginals{{{{0, 1}, 1.0}}}}, {"b", small, Marginals{{{{1, 2}, 1.0}}}}});
    for (const auto& filter : {zcdp(), Filter::pure(Epsilon(1.0))}) {
      for (const auto& unit : {kReplaceOne, kAddRemove}) {
        run_hdmm(small_table(60), workload, filter, unit, std::make_unique<SeededEntropy>(1));
      }
    }
  };
  for (const double size : {1.0, 1e-90, 1e90}) EXPECT_NO_THROW(run(1e6 * size, size)) << size;
  EXPECT_TRUE(contains(error_of<UsageError>([&] { run(1.0, 1e-20); }),
                       "weights from 1e-20 to 1, too far apart"));
  EXPECT_TRUE(contains(error_of<UsageError>([&] { run(1e100, 1e-300); }), "too far apart"));
}

TEST(Hdmm, PlanSaysThatALongColumnHasNoStrategyOfItsOwn) {
  for (const std::size_t values : {std::size_t{40}, std::size_t{1100}}) {
    const Domain domain({{"v", static_cast<Code>(values), {}}});
    const Workload workload(
        domain, "p", {{"", 1.0, Products{{{{0}, {{ColumnQueries::Kind::Prefix, {}}}, 1.0}}}}});
    const Curator planning =
        curator_of(Table(domain, 0), zcdp(), kReplaceOne, std::make_unique<SystemEntropy>());
    const auto plan = find_mechanism("hdmm").plan(planning, {domain, workload, {}}, {}, 0.0);
    EXPECT_EQ(contains(plan.front().sentence, "more than 1,024 values"), values > 1024);
  }
}

TEST(Hdmm, RefusesWhatDoesNotApply) {
  const auto fails = [](const Filter& filter, const Parameters& parameters) {
    return error_of<UsageError>([&] {
      run_hdmm(small_table(20), mixed(), filter, kReplaceOne, std::make_unique<SystemEntropy>(),
               parameters);
    });
  };
  EXPECT_TRUE(contains(fails(zcdp(), {{"planner", "opt0"}}), "one column"));
  EXPECT_TRUE(contains(fails(Filter::pure(Epsilon(1.0)), {{"noise", "gaussian"}}), "pure"));
  EXPECT_TRUE(contains(fails(zcdp(), {{"noise", "laplace"}, {"planner", "residual"}}),
                       "residuals are for Gaussian noise"));
}

}  // namespace
}  // namespace tandem
