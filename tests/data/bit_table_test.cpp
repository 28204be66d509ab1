// SPDX-License-Identifier: Apache-2.0
#include "tandem/data/bit_table.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <vector>

#include "support/errors.h"
#include "support/random_tables.h"
#include "tandem/base/error.h"

namespace tandem {
namespace {

Table codes_of(const BitTable& bits) {
  std::vector<Column> columns;
  for (AttributeId id = 0; id < bits.domain().size(); ++id) columns.push_back(bits.codes(id));
  return {bits.domain(), std::move(columns)};
}

RC_GTEST_PROP(BitTable, HoldsTheTableItWasMadeOf, ()) {
  const Domain domain = test::any_domain({1, 2, 3, 300}, 5);
  const Table table = test::any_table(domain, *rc::gen::inRange<std::size_t>(1, 500));
  const BitTable bits = BitTable::of(table);
  RC_ASSERT(bits.rows() == table.rows());
  RC_ASSERT(codes_of(bits) == table);
  std::vector<std::size_t> some;
  for (std::size_t row = 0; row < table.rows(); row += 3) some.push_back(row);
  RC_ASSERT(codes_of(bits.select(some)) == table.select(some));
}

TEST(BitTable, KeepsWhicheverFormIsSmaller) {
  const Domain domain({{"rare", 2, {}}, {"common", 2, {}}});
  Table table(domain, 64'000);
  for (std::size_t row = 0; row < table.rows(); ++row) {
    table.column(0).set(row, row % 1000 == 0 ? 1 : 0);
    table.column(1).set(row, row % 3 == 0 ? 1 : 0);
  }
  const BitTable bits = BitTable::of(table);
  EXPECT_TRUE(bits.columns()[0].listed());
  EXPECT_EQ(bits.columns()[0].bytes(), 4U * 64U);
  EXPECT_FALSE(bits.columns()[1].listed());
  EXPECT_EQ(bits.columns()[1].bytes(), 8'000U);
}

TEST(BitTable, HoldsOnlyWhatIsWanted) {
  const Domain domain({{"a", 3, {}}, {"b", 2, {}}});
  const std::vector<Indicator> wanted = {{0, 2}, {1, 1}};
  const BitTable bits = BitTable::of(Table(domain, 5), wanted);
  EXPECT_EQ(bits.indicators().size(), 2U);
  EXPECT_EQ(bits.find({0, 1}), nullptr);
  EXPECT_EQ(bits.find({0, 2})->ones(), 0U);
  EXPECT_THROW(bits.codes(0), InternalError);
}

RC_GTEST_PROP(BitTable, BlocksAreTheSameFromCodesAndFromBits, ()) {
  const Domain domain = test::any_domain({1, 2, 3, 300, 70'000}, 4);
  const Table table = test::any_table(domain, *rc::gen::inRange<std::size_t>(0, 1500));
  const auto all = all_indicators(domain);
  std::vector<Indicator> wanted;
  for (std::size_t i = 0; i < all.size(); i += 1 + i / 7) wanted.push_back(all[i]);
  const BitTable bits = BitTable::of(table, wanted);
  const std::size_t words = *rc::gen::inRange<std::size_t>(1, 9);
  for (std::size_t first = 0; first < words_of(table.rows()); first += words) {
    std::vector<std::uint64_t> from_codes(wanted.size() * words, 0);
    std::vector<std::uint64_t> from_bits(wanted.size() * words, 0);
    table_blocks(table, wanted)->fill(first, words, from_codes.data());
    bits.blocks(wanted)->fill(first, words, from_bits.data());
    RC_ASSERT(from_codes == from_bits);
    for (std::size_t i = 0; i < wanted.size(); ++i) {
      for (std::size_t bit = 0; bit < words * kWordBits; ++bit) {
        const std::size_t row = first * kWordBits + bit;
        const bool holds =
            row < table.rows() && table.column(wanted[i].attribute)[row] == wanted[i].code;
        const auto word = from_bits[i * words + bit / kWordBits];
        RC_ASSERT(((word >> bit % kWordBits & 1U) != 0) == holds);
      }
    }
  }
}

TEST(BitTable, TooManyValuesAreRefused) {
  const Domain domain({{"a", 1'000'000'000, {}}});
  EXPECT_TRUE(test::contains(test::error_of<UsageError>([&] { all_indicators(domain); }),
                             "more than 67,108,864 values"));
}

}  // namespace
}  // namespace tandem
