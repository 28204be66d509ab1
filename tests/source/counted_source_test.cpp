// SPDX-License-Identifier: Apache-2.0
#include "tandem/source/counted_source.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "support/errors.h"
#include "tandem/base/error.h"
#include "tandem/base/rng.h"
#include "tandem/query/block_counter.h"
#include "tandem/source/memory_source.h"

namespace tandem::test {
namespace {

Table some_table(std::size_t rows) {
  Rng rng(rows);
  Table out(Domain({{"a", 3, {}}, {"b", 2, {}}, {"c", 7, {}}, {"d", 1, {}}, {"e", 20, {}}}), rows);
  for (AttributeId id = 0; id < out.domain().size(); ++id) {
    for (std::size_t r = 0; r < rows; ++r) {
      out.column(id).set(r, static_cast<Code>(rng.below(out.domain()[id].size)));
    }
  }
  return out;
}

// Counts a table, and notes what was asked.
struct Elsewhere {
  Table table;
  std::vector<std::vector<Clique>> requests{};

  CountCliques counting() {
    return [this](std::span<const Clique> cliques, std::span<std::int64_t> counts) {
      requests.emplace_back(cliques.begin(), cliques.end());
      MarginalCounter counter(table.domain(), {cliques.begin(), cliques.end()});
      counter.add(table);
      std::ranges::copy(counter.counts(), counts.begin());
      return true;
    };
  }
};

const std::vector<Clique> kCliques = {{0}, {1}, {3}, {}, {0, 2}, {1, 2, 4}, {0}, {0, 1, 2, 3, 4}};

TEST(CountedSource, GivesTheCountsOfATableInMemory) {
  for (const std::size_t rows : {0, 1, 500}) {
    Elsewhere there{some_table(rows)};
    const auto source = counted_source(there.table.domain(), there.counting());
    const auto memory = memory_source(there.table);
    EXPECT_EQ(source->count(kCliques), memory->count(kCliques));
    ASSERT_EQ(there.requests.size(), 1U);
    EXPECT_EQ(there.requests[0].size(), 7U);  // the one that was asked for twice, once
  }
}

TEST(CountedSource, ConditionsAreSlices) {
  Elsewhere there{some_table(500)};
  const auto source = counted_source(there.table.domain(), there.counting());
  const auto memory = memory_source(there.table);
  for (const auto& conditions :
       std::vector<std::vector<std::pair<AttributeId, Code>>>{{{0, 2}},
                                                              {{4, 3}},
                                                              {{4, 3}, {1, 1}},
                                                              {{4, 3}, {4, 3}},
                                                              {{4, 3}, {4, 4}},
                                                              {{3, 0}},
                                                              {{0, 9}}}) {
    auto counted = source->where(conditions[0].first, conditions[0].second);
    auto expected = memory->where(conditions[0].first, conditions[0].second);
    for (std::size_t i = 1; i < conditions.size(); ++i) {
      counted = counted->where(conditions[i].first, conditions[i].second);
      expected = expected->where(conditions[i].first, conditions[i].second);
    }
    EXPECT_EQ(counted->count(kCliques), expected->count(kCliques));
  }
  EXPECT_THROW(source->where(5, 0), InternalError);
}

TEST(CountedSource, ConjunctionsAreCellsOfTheirColumns) {
  Elsewhere there{some_table(300)};
  const auto source = counted_source(there.table.domain(), there.counting(), {}, 500.0);
  const auto memory = memory_source(there.table);
  ConjunctionBuilder builder(there.table.domain());
  builder.add({});
  for (std::size_t width = 1; width <= 3; ++width) {
    const auto some =
        random_conjunctions(there.table.domain(), width, 30, width, ConjunctionFamily::Signed);
    for (std::size_t q = 0; q < some.size(); ++q) {
      std::vector<Literal> literals;
      for (const auto literal : some.literals(q)) {
        const auto& [attribute, code] = some.indicators()[literal >> 1];
        literals.push_back({attribute, code, (literal & 1U) == 0});
      }
      builder.add(literals);
    }
  }
  const ConjunctionSet set = std::move(builder).finish();
  EXPECT_EQ(source->count(set), memory->count(set));
  EXPECT_EQ(source->where(2, 3)->count(set), memory->where(2, 3)->count(set));
  EXPECT_GT(there.requests.size(), 2U);  // of at most 500 cells each
  const auto tiny = counted_source(there.table.domain(), there.counting(), {}, 30.0);
  EXPECT_NE(error_of<UsageError>([&] { tiny->count(set); }).find("names columns whose table"),
            std::string::npos);
}

TEST(CountedSource, LargeRequestsAreDivided) {
  Elsewhere there{some_table(300)};
  const auto source = counted_source(there.table.domain(), there.counting(), {}, 100.0);
  EXPECT_EQ(source->count(kCliques), memory_source(there.table)->count(kCliques));
  for (const auto& request : there.requests) {
    EXPECT_TRUE(request.size() == 1 || cells_of(there.table.domain(), request) <= 100.0);
  }
}

TEST(CountedSource, CountsOfOtherRowsAreRefused) {
  const Domain domain = some_table(0).domain();
  const std::vector<Clique> one = {{0}};
  const auto refusal = [&](std::vector<std::vector<std::int64_t>> answers) {
    std::size_t next = 0;
    const auto source = counted_source(
        domain, [&](std::span<const Clique> /*cliques*/, std::span<std::int64_t> counts) {
          std::ranges::copy(answers[next++], counts.begin());
          return true;
        });
    return error_of<SourceError>([&] {
      for (std::size_t i = 0; i < answers.size(); ++i) source->count(one);
    });
  };
  EXPECT_EQ(refusal({{1, 2, 3}, {1, 2, 4}}),
            "The rows could not be counted where they lie: two counts were of different numbers of "
            "rows, so they changed or were lost.");
  EXPECT_EQ(refusal({{1, -2, 3}}),
            "The rows could not be counted where they lie: what came back are no counts.");
  const auto failing =
      counted_source(domain, [](auto /*cliques*/, auto /*counts*/) { return false; });
  EXPECT_EQ(error_of<SourceError>([&] { failing->count(one); }),
            "The rows could not be counted where they lie.");
  Threads threads{.count = 1, .cancel = Cancel::token()};
  const auto stopped = counted_source(
      domain,
      [&](auto /*cliques*/, auto /*counts*/) {
        threads.cancel.request();
        return false;
      },
      threads);
  EXPECT_THROW(stopped->count(one), Cancelled);
}

}  // namespace
}  // namespace tandem::test
