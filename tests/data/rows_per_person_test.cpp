// SPDX-License-Identifier: Apache-2.0
#include "tandem/data/rows_per_person.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "support/errors.h"
#include "tandem/base/error.h"
#include "tandem/base/rng.h"
#include "tandem/data/coded_block.h"

namespace tandem {
namespace {

struct People {
  Table table;
  std::vector<PersonKey> persons;
};

// Few people of many rows, many of these equal; some rows name nobody.
People people(std::uint64_t seed, std::size_t rows) {
  Rng rng(seed);
  People out{Table(Domain({{"a", 3, {}}, {"b", 300, {}}}), rows), {}};
  PersonKeys keys;
  for (std::size_t r = 0; r < rows; ++r) {
    const auto who = rng.below(20);
    out.persons.push_back(who == 0 ? PersonKey{} : keys.of(std::to_string(who * who / 5)));
    out.table.column(0).set(r, static_cast<Code>(rng.below(3)));
    out.table.column(1).set(r, static_cast<Code>(rng.below(2) * 299));
  }
  return out;
}

using Row = std::pair<PersonKey, std::vector<Code>>;

std::vector<Row> kept_rows(const People& from, std::int64_t most) {
  std::vector<Row> out;
  for (const auto r : rows_within_share(from.table, from.persons, most)) {
    out.push_back({from.persons[r], {from.table.column(0)[r], from.table.column(1)[r]}});
  }
  std::ranges::sort(out);
  return out;
}

People shuffled(const People& from, std::uint64_t seed) {
  Rng rng(seed);
  std::vector<std::size_t> order(from.persons.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
  rng.shuffle(std::span(order));
  People out{from.table.select(order), {}};
  for (const auto r : order) out.persons.push_back(from.persons[r]);
  return out;
}

TEST(RowsPerPerson, EachKeepsTheirShareAndNobodyNone) {
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    const auto some = people(seed, 300);
    std::map<PersonKey, std::int64_t> had;
    for (const auto& person : some.persons) ++had[person];
    for (const std::int64_t most : {1, 2, 5, 1000}) {
      std::map<PersonKey, std::int64_t> kept;
      for (const auto& [person, row] : kept_rows(some, most)) ++kept[person];
      EXPECT_EQ(kept.count(PersonKey{}), 0U);
      for (const auto& [person, rows] : had) {
        if (!person.nobody()) {
          EXPECT_EQ(kept[person], std::min(rows, most));
        }
      }
    }
  }
}

TEST(RowsPerPerson, TheOrderOfRowsDoesNotMatter) {
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    const auto some = people(seed, 200);
    for (const std::int64_t most : {1, 3, 7}) {
      EXPECT_EQ(kept_rows(some, most), kept_rows(shuffled(some, seed + 100), most));
    }
  }
}

TEST(RowsPerPerson, NobodyChangesWhatOthersKeep) {
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    const auto some = people(seed, 200);
    const PersonKey gone = some.persons[17];
    std::vector<std::size_t> rest;
    for (std::size_t r = 0; r < some.persons.size(); ++r) {
      if (some.persons[r] != gone) rest.push_back(r);
    }
    People without{some.table.select(rest), {}};
    for (const auto r : rest) without.persons.push_back(some.persons[r]);
    auto expected = kept_rows(some, 3);
    std::erase_if(expected, [&](const Row& row) { return row.first == gone; });
    EXPECT_EQ(kept_rows(without, 3), expected);
  }
}

TEST(RowsPerPerson, TheFirstRowsAreNotPreferred) {
  // Of 400 people with two different rows each, about half keep either.
  People some{Table(Domain({{"a", 2, {}}}), 800), {}};
  PersonKeys keys;
  for (std::size_t r = 0; r < 800; ++r) {
    some.table.column(0).set(r, static_cast<Code>(r % 2));
    some.persons.push_back(keys.of(std::to_string(r / 2)));
  }
  std::size_t first = 0;
  for (const auto r : rows_within_share(some.table, some.persons, 1)) first += r % 2 == 0 ? 1 : 0;
  EXPECT_GT(first, 150U);
  EXPECT_LT(first, 250U);
}

// ---- Blocks -------------------------------------------------------------------------------------

TEST(CodedBlock, GivesBackWhatWentIn) {
  for (const std::size_t rows : {0, 1, 7, 300}) {
    const auto some = people(rows, rows);
    for (const bool with_persons : {false, true}) {
      const auto bytes = to_block({some.table, some.persons}, with_persons);
      EXPECT_EQ(bytes.size(), block_bytes(some.table.domain(), rows, with_persons));
      EXPECT_EQ(bytes.size() % 8, 0U);
      const CodedBlock block(bytes);
      EXPECT_EQ(block.table(some.table.domain()), some.table);
      EXPECT_EQ(block.persons(), with_persons ? some.persons : std::vector<PersonKey>{});
    }
  }
}

TEST(CodedBlock, RefusesWhatIsNone) {
  const auto some = people(1, 10);
  const auto bytes = to_block({some.table, some.persons}, true);
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    EXPECT_THROW(CodedBlock(std::string_view(bytes).substr(0, size)), UsageError) << size;
  }
  EXPECT_THROW(CodedBlock(bytes + "12345678"), UsageError);
  EXPECT_THROW(CodedBlock(bytes).table(Domain({{"a", 3, {}}})), UsageError);
  EXPECT_THROW(CodedBlock(bytes).table(Domain({{"a", 3, {}}, {"b", 299, {}}})), UsageError);
}

TEST(CodedBlock, SharesAreTheSameHoweverRowsAreDivided) {
  const auto some = people(5, 200);
  const auto expected = kept_rows(some, 3);
  const auto other = shuffled(some, 9);
  std::vector<std::string> blocks;
  for (const auto& [from, to] : {std::pair<std::size_t, std::size_t>{0, 0}, {0, 50}, {50, 200}}) {
    std::vector<std::size_t> rows;
    for (std::size_t r = from; r < to; ++r) rows.push_back(r);
    blocks.push_back(to_block({other.table.select(rows),
                               {other.persons.begin() + static_cast<std::ptrdiff_t>(from),
                                other.persons.begin() + static_cast<std::ptrdiff_t>(to)}},
                              true));
  }
  const std::vector<std::string_view> views(blocks.begin(), blocks.end());
  const auto joined = joined_rows(views);
  EXPECT_EQ(kept_rows({joined.table, joined.persons}, 3), expected);
}

}  // namespace
}  // namespace tandem
