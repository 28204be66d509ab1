// SPDX-License-Identifier: Apache-2.0
#include "tandem/query/counting.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "support/errors.h"
#include "support/random_tables.h"
#include "tandem/base/error.h"
#include "tandem/query/projectable.h"

namespace tandem {
namespace {

using test::brute_force;

static_assert(Projectable<CountedTable>);

constexpr std::size_t kMostCells = 150'000;
constexpr int kThreads[] = {1, 2, 5};

std::vector<Clique> any_requests(const Domain& domain) {
  std::vector<Clique> requests;
  for (int i = *rc::gen::inRange(0, 14); i > 0; --i) {
    if (!requests.empty() && *rc::gen::inRange(0, 4) == 0) {
      requests.push_back(*rc::gen::elementOf(requests));  // asked for once more
    } else {
      requests.push_back(test::any_clique(domain, kMostCells));
    }
  }
  return requests;
}

Table any_counted_table() {
  const auto domain = test::any_domain({1, 2, 3, 7, 256, 300, 70000}, 6);
  // About the size of a block of rows, below, at and above it.
  return test::any_table(
      domain, *rc::gen::element<std::size_t>(0, 1, 2, 3, 5, 150, 8191, 8192, 8193, 20'001));
}

RC_GTEST_PROP(Counting, EqualsBruteForceAtAnyThreadCount, ()) {
  const Table table = any_counted_table();
  const auto requests = any_requests(table.domain());
  for (const int threads : kThreads) {
    const auto counted = count_marginals(table, requests, {threads});
    RC_ASSERT(counted.size() == requests.size());
    for (std::size_t i = 0; i < requests.size(); ++i) {
      RC_ASSERT(counted[i] == brute_force(table, requests[i]));
    }
  }
}

RC_GTEST_PROP(Counting, OfWholeWeightsEqualsBruteForce, ()) {
  const Table table = any_counted_table();
  const auto requests = any_requests(table.domain());
  std::vector<double> weights;
  for (std::size_t r = 0; r < table.rows(); ++r) {
    weights.push_back(static_cast<double>(r * 31 % 17) - 4.0);  // exact in any order
  }
  for (const int threads : kThreads) {
    const auto counted = count_marginals(table, weights, requests, {threads});
    for (std::size_t i = 0; i < requests.size(); ++i) {
      RC_ASSERT(counted[i] == brute_force(table, requests[i], weights));
    }
  }
}

RC_GTEST_PROP(Counting, OfAnyWeightsHasTheSameBitsAtAnyThreadCount, ()) {
  const Table table = any_counted_table();
  const auto requests = any_requests(table.domain());
  std::vector<double> weights;
  for (std::size_t r = 0; r < table.rows(); ++r) {
    weights.push_back(std::exp(20.0 * std::sin(static_cast<double>(r))));
  }
  const auto first = count_marginals(table, weights, requests, {1});
  for (const int threads : kThreads) {
    RC_ASSERT(count_marginals(table, weights, requests, {threads}) == first);
  }
  for (std::size_t i = 0; i < requests.size(); ++i) {
    const auto expected = brute_force(table, requests[i], weights);
    for (std::size_t cell = 0; cell < expected.values.size(); ++cell) {
      RC_ASSERT(std::abs(first[i].values[cell] - expected.values[cell]) <=
                1e-12 * expected.values[cell]);
    }
  }
}

TEST(Counting, LastAttributeMovesFastest) {
  const Domain domain({{"a", 2, {}}, {"b", 3, {}}});
  const auto table =
      Table::from_rows(domain, std::vector<std::vector<Code>>{{1, 2}, {0, 1}, {1, 2}});
  const std::vector<Clique> cliques = {{0, 1}};
  EXPECT_EQ(count_marginals(table, cliques)[0].values, (std::vector<double>{0, 1, 0, 0, 0, 2}));
}

TEST(Counting, NoRequestGivesNoMarginal) {
  const Table table(Domain({{"a", 2, {}}}), 3);
  EXPECT_TRUE(count_marginals(table, std::vector<Clique>{}, {4}).empty());
}

TEST(Counting, TheEmptyCliqueCountsTheRows) {
  const std::vector<Clique> cliques = {Clique(), Clique()};
  for (const std::size_t rows : {0U, 1U, 10'000U}) {
    const Table table(Domain({{"a", 2, {}}}), rows);
    for (const auto& factor : count_marginals(table, cliques, {2})) {
      EXPECT_EQ(factor.values, (std::vector<double>{static_cast<double>(rows)}));
    }
  }
}

TEST(Counting, NoRowsGiveZeros) {
  const Table table(Domain({{"a", 2, {}}, {"b", 300, {}}}), 0);
  const std::vector<Clique> cliques = {{0, 1}, {1}};
  for (const auto& factor : count_marginals(table, cliques, {3})) {
    EXPECT_EQ(total(factor), 0.0);
    EXPECT_EQ(factor.values.size(), table.domain().cells(factor.clique));
  }
  EXPECT_EQ(count_marginals(table, std::vector<double>{}, cliques, {3}),
            count_marginals(table, cliques));
}

TEST(Counting, ManyCliquesWithSharedAttributesEqualBruteForce) {
  // All parts of ten attributes, the whole among them: deep shared prefixes and sums from parents.
  std::vector<Attribute> attributes;
  for (int i = 0; i < 10; ++i) attributes.push_back({"c" + std::to_string(i), i % 3 + 1U, {}});
  const Domain domain(std::move(attributes));
  Table table(domain, 10'001);
  for (AttributeId id = 0; id < domain.size(); ++id) {
    for (std::size_t r = 0; r < table.rows(); ++r) {
      table.column(id).set(r, static_cast<Code>((r * (id + 3) / 2) % domain[id].size));
    }
  }
  std::vector<Clique> cliques;
  for (unsigned subset = 0; subset < 1024; ++subset) {
    std::vector<AttributeId> ids;
    for (AttributeId id = 0; id < 10; ++id) {
      if (subset >> id & 1U) ids.push_back(id);
    }
    cliques.emplace_back(std::move(ids));
  }
  std::vector<Factor> expected;
  for (const auto& clique : cliques) expected.push_back(brute_force(table, clique));
  for (const int threads : kThreads) {
    const auto counted = count_marginals(table, cliques, {threads});
    for (std::size_t i = 0; i < cliques.size(); ++i) {
      ASSERT_EQ(counted[i], expected[i]) << domain.describe(cliques[i]);
    }
  }
}

TEST(Counting, RefusesMarginalsTooLargeToHold) {
  const Domain domain({{"a", 1U << 31, {}}, {"b", 1U << 31, {}}, {"c", 2, {}}});
  const Table table(domain, 1);
  const std::vector<Clique> large = {{0, 2}};
  EXPECT_THROW(count_marginals(table, large), InternalError);
  const std::vector<Clique> overflow = {{0, 1, 2}};
  EXPECT_THROW(count_marginals(table, overflow), UsageError);
  const std::vector<Clique> outside = {{3}};
  EXPECT_THROW(count_marginals(table, outside), InternalError);
  const std::vector<Clique> fine = {{2}};
  EXPECT_THROW(count_marginals(table, std::vector<double>{1.0, 2.0}, fine), InternalError);
}

TEST(CountedTable, ProjectsItsTable) {
  const Domain domain({{"a", 2, {}}, {"b", 3, {}}});
  const auto table = Table::from_rows(domain, std::vector<std::vector<Code>>{{1, 2}, {0, 1}});
  const CountedTable counted(table, {2});
  EXPECT_EQ(counted.domain(), domain);
  EXPECT_EQ(counted.project({1}), brute_force(table, {1}));
  const std::vector<Clique> cliques = {{1}, {0, 1}};
  EXPECT_EQ(project_all(counted, cliques), count_marginals(table, cliques));
}

struct OneByOne {  // knows single marginals only
  const Table* of = nullptr;
  const Domain& domain() const { return of->domain(); }
  Factor project(const Clique& clique) const { return brute_force(*of, clique); }
};

TEST(ProjectAll, AsksOneByOneWhereThereIsNoOtherWay) {
  const Table table(Domain({{"a", 2, {}}, {"b", 3, {}}}), 4);
  const std::vector<Clique> cliques = {{1}, {}, {0, 1}};
  EXPECT_EQ(project_all(OneByOne{&table}, cliques), count_marginals(table, cliques));
}

}  // namespace
}  // namespace tandem
