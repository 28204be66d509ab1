// SPDX-License-Identifier: Apache-2.0
#pragma once
// What every DataSource promises, as one suite. A new kind of source passes it by
//
//   INSTANTIATE_TEST_SUITE_P(Memory, SourceContract,
//                            testing::Values(SourceMaker([](const Table& table) { ... })));
//
// The claims themselves are in source_contract_test.cpp.

#include <gtest/gtest.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "support/random_tables.h"
#include "tandem/base/rng.h"
#include "tandem/source/data_source.h"

namespace tandem::test {

// Puts a table where the source keeps its rows, and opens the source.
using SourceMaker = std::function<std::unique_ptr<DataSource>(const Table&)>;

class SourceContract : public testing::TestWithParam<SourceMaker> {
 protected:
  static Domain domain() {
    return Domain({{"age", 300, {}},
                   {"sex", 2, {"F", "M"}},
                   {"one value", 1, {}},
                   {"quote\"d, \"", 3, {"a,b", "c\"d", ""}},
                   {"region", 70000, {}}});
  }

  static Table table(std::size_t rows) {
    Table out(domain(), rows);
    Rng rng(rows);
    for (AttributeId id = 0; id < out.domain().size(); ++id) {
      for (std::size_t r = 0; r < rows; ++r) {
        out.column(id).set(r, static_cast<Code>(rng.below(out.domain()[id].size)));
      }
    }
    return out;
  }

  // Singles, pairs and a triple, one of them twice, and the total.
  static std::vector<Clique> cliques() {
    return {{0}, {1}, {2}, {3}, {4}, {0, 1}, {1, 3}, {0, 1, 3}, {}, {1, 4}, {1, 3}, {2, 3}};
  }

  static Factor count_one(const DataSource& source, const Clique& clique) {
    auto factors = source.count(std::span(&clique, 1));
    EXPECT_EQ(factors.size(), 1U);
    return factors.front();
  }

  // The source gives just the counts of this table.
  static void expect_counts_of(const DataSource& source, const Table& table) {
    const auto all = cliques();
    const auto together = source.count(all);
    ASSERT_EQ(together.size(), all.size());
    for (std::size_t i = 0; i < all.size(); ++i) {
      EXPECT_EQ(together[i], brute_force(table, all[i])) << table.domain().describe(all[i]);
    }
  }

  // Conjunctions of one to three literals, some of them of no rows, and the empty one.
  static ConjunctionSet conjunctions() {
    ConjunctionBuilder builder(domain());
    builder.add({});
    for (std::size_t width = 1; width <= 3; ++width) {
      const auto some = random_conjunctions(domain(), width, 40, width, ConjunctionFamily::Signed);
      for (std::size_t q = 0; q < some.size(); ++q) {
        std::vector<Literal> literals;
        for (const auto literal : some.literals(q)) {
          const auto& [attribute, code] = some.indicators()[literal >> 1];
          literals.push_back({attribute, code, (literal & 1U) == 0});
        }
        builder.add(literals);
      }
    }
    return std::move(builder).finish();
  }

  static void expect_conjunctions_of(const DataSource& source, const Table& table) {
    const auto set = conjunctions();
    std::vector<std::int64_t> expected(set.size(), 0);
    std::vector<Code> record(table.domain().size());
    for (std::size_t r = 0; r < table.rows(); ++r) {
      for (AttributeId id = 0; id < record.size(); ++id) record[id] = table.column(id)[r];
      add_fulfilled(set, literal_truths(set, record), expected);
    }
    EXPECT_EQ(source.count(set), expected);
  }

  static Table rows_where(const Table& table, AttributeId attribute, Code code) {
    std::vector<std::size_t> kept;
    for (std::size_t r = 0; r < table.rows(); ++r) {
      if (table.column(attribute)[r] == code) kept.push_back(r);
    }
    return table.select(kept);
  }

  static std::unique_ptr<DataSource> open(const Table& table) { return GetParam()(table); }
};

}  // namespace tandem::test
