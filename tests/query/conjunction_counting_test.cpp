// SPDX-License-Identifier: Apache-2.0
#include "tandem/query/conjunction_counting.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <vector>

#include "support/files.h"
#include "support/random_tables.h"
#include "tandem/base/error.h"
#include "tandem/data/bit_table.h"
#include "tandem/data/csv.h"

namespace tandem {
namespace {

std::vector<std::int64_t> row_by_row(const ConjunctionSet& set, const Table& table) {
  std::vector<std::int64_t> out(set.size(), 0);
  for (std::size_t q = 0; q < set.size(); ++q) {
    for (std::size_t row = 0; row < table.rows(); ++row) {
      bool all = true;
      for (const auto literal : set.literals(q)) {
        const auto& [attribute, code] = set.indicators()[literal >> 1];
        all = all && (table.column(attribute)[row] == code) == ((literal & 1U) == 0);
      }
      out[q] += all ? 1 : 0;
    }
  }
  return out;
}

RC_GTEST_PROP(CountConjunctions, CountsAsALoopOverRowsDoes, ()) {
  const Domain domain = test::any_domain({1, 2, 3, 300, 70'000}, 6);
  const Table table = test::any_table(domain, *rc::gen::inRange<std::size_t>(0, 700));
  const auto set =
      random_conjunctions(domain, *rc::gen::inRange(1, 6), 300,
                          *rc::gen::arbitrary<std::uint64_t>(), ConjunctionFamily::Signed);
  const auto expected = row_by_row(set, table);
  const BitTable bits = BitTable::of(table);
  for (const int threads : {1, 2, 5}) {
    RC_ASSERT(count_conjunctions(set, table, {threads}) == expected);
    RC_ASSERT(count_conjunctions(set, *bits.blocks(set.indicators()), {threads}) == expected);
  }
}

TEST(CountConjunctions, CountsAcrossBlocksThatAreEmptyFullOrMixed) {
  const Domain domain({{"a", 3, {}}, {"b", 2, {}}, {"c", 2, {}}});
  Table table(domain, 100'000);
  for (std::size_t row = 0; row < table.rows(); ++row) {
    table.column(0).set(row, row < 50'000 ? 0 : static_cast<Code>(row % 3));
    table.column(1).set(row, row > 20'000 && row < 80'000 ? 1 : 0);
    table.column(2).set(row, row % 7 == 0 ? 1 : 0);
  }
  const auto set = random_conjunctions(domain, 3, 500, 2, ConjunctionFamily::Signed);
  const auto expected = row_by_row(set, table);
  for (const int threads : {1, 3}) EXPECT_EQ(count_conjunctions(set, table, {threads}), expected);
}

TEST(CountConjunctions, TheEmptyConjunctionIsTheNumberOfRows) {
  const Domain domain({{"a", 3, {}}});
  ConjunctionBuilder builder(domain);
  builder.add({});
  const auto set = std::move(builder).finish();
  EXPECT_EQ(count_conjunctions(set, Table(domain, 77)), (std::vector<std::int64_t>{77}));
  EXPECT_EQ(count_conjunctions(set, Table(domain, 0)), (std::vector<std::int64_t>{0}));
}

TEST(CountConjunctions, CellsAreTheCellsOfMarginals) {
  TANDEM_REAL_DATA(folder, "adult-binary");
  const Schema schema = Schema::read(folder + "/adult-binned-domain.json");
  const Table table = read_csv(folder + "/adult-binned.csv", schema).table;
  const std::vector<Clique> cliques = {{0, 1}, {3, 5, 9}, {2}};
  for (const auto& clique : cliques) {
    std::vector<Cell> cells;
    for (std::size_t i = 0; i < schema.domain().cells(clique); ++i) cells.push_back({clique, i});
    const Factor marginal = test::brute_force(table, clique);
    for (const auto& cell : cells) {
      const auto set = cell_conjunctions(schema.domain(), {&cell, 1});
      if (cell.index % 17 != 0) continue;  // each is a count of its own
      EXPECT_EQ(static_cast<double>(count_conjunctions(set, table)[0]),
                marginal.values[cell.index]);
    }
  }
}

// Bits that are made when they are asked for: nothing of rows x columns is ever held.
class Striped final : public IndicatorBlocks {
 public:
  Striped(std::size_t rows, std::size_t indicators) : rows_(rows), indicators_(indicators) {}
  std::size_t rows() const override { return rows_; }
  void fill(std::size_t first_word, std::size_t words, std::uint64_t* out) const override {
    for (std::size_t i = 0; i < indicators_; ++i) {
      for (std::size_t w = 0; w < words; ++w) {
        for (std::size_t bit = 0; bit < kWordBits; ++bit) {
          const std::size_t row = (first_word + w) * kWordBits + bit;
          if (row < rows_ && row % (i + 2) == 0) out[i * words + w] |= std::uint64_t{1} << bit;
        }
      }
    }
  }

 private:
  std::size_t rows_, indicators_;
};

TEST(CountConjunctions, TakesBitsFromAGenerator) {
  const Domain domain({{"a", 2, {}}, {"b", 2, {}}, {"c", 2, {}}});
  ConjunctionBuilder builder(domain);
  builder.add(std::vector<Literal>{{0, 1}, {1, 1}});
  builder.add(std::vector<Literal>{{0, 1, false}, {1, 1}, {2, 1}});
  const auto set = std::move(builder).finish();
  ASSERT_EQ(set.indicators().size(), 3U);  // rows divisible by 2, 3 and 4
  EXPECT_EQ(count_conjunctions(set, Striped(120'001, 3), {2}),
            (std::vector<std::int64_t>{20'001, 0}));
}

TEST(CountConjunctions, StopsWhenItIsToldTo) {
  const Domain domain({{"a", 2, {}}});
  const auto set = random_conjunctions(domain, 1, 2, 1, ConjunctionFamily::Signed);
  const Cancel stop = Cancel::token();
  stop.request();
  EXPECT_THROW(count_conjunctions(set, Table(domain, 1000), {1, stop}), Cancelled);
}

}  // namespace
}  // namespace tandem
