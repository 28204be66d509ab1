// SPDX-License-Identifier: Apache-2.0
#include "tandem/data/pairs.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "support/errors.h"
#include "support/files.h"
#include "tandem/base/error.h"
#include "tandem/base/rng.h"

namespace tandem {
namespace {

using test::contains;
using test::error_of;

Schema items(std::size_t count) {
  return Schema::from_document(Document::parse_toml(
      "[[columns]]\nprefix = 'i'\nsize = 2\ncount = " + std::to_string(count), "s.toml"));
}

// Each row as the set of its items, sorted: whoever comes first in the file doesn't matter.
std::multiset<std::set<AttributeId>> rows_of(const BitTable& table) {
  std::vector<std::set<AttributeId>> rows(table.rows());
  for (std::size_t i = 0; i < table.indicators().size(); ++i) {
    table.columns()[i].for_each(
        [&](std::size_t row) { rows[row].insert(table.indicators()[i].attribute); });
  }
  return {rows.begin(), rows.end()};
}

class Pairs : public testing::Test {
 protected:
  BitTable read(const std::string& text, RowPolicy policy = RowPolicy::MustFit) const {
    return read_pairs(dir_.write("p.csv", text), items(4), {.policy = policy});
  }
  BitTable read_private(const std::string& text) const { return read(text, RowPolicy::Repair); }
  std::string error(const std::string& text) const {
    return error_of<UsageError>([&] { read(text); });
  }
  test::TempDir dir_;
};

using Rows = std::multiset<std::set<AttributeId>>;

TEST_F(Pairs, TellThousandsOfUsersApart) {
  std::string text = "user,item\n";
  Rows expected;
  for (int round = 0; round < 2; ++round) {
    for (int user = 0; user < 5000; ++user) {
      const auto item = static_cast<AttributeId>((user >> round) % 4);
      text += "user" + std::to_string(user) + ",i" + std::to_string(item) + "\n";
    }
  }
  for (int user = 0; user < 5000; ++user) {
    expected.insert(
        {static_cast<AttributeId>(user % 4), static_cast<AttributeId>((user >> 1) % 4)});
  }
  EXPECT_EQ(rows_of(read_private(text)), expected);
}

TEST_F(Pairs, MakeARowOfEachUser) {
  const std::string text = "user,item\nanna,i3\nbert,i0\nanna,i1\r\ncleo,\nanna,i3";
  EXPECT_EQ(rows_of(read(text)), (Rows{{1, 3}, {0}, {}}));
  EXPECT_EQ(rows_of(read_private(text)), (Rows{{1, 3}, {0}, {}}));
  const auto packed = dir_.write_gzip("p.csv.gz", text);
  EXPECT_EQ(rows_of(read_pairs(packed, items(4), {})), (Rows{{1, 3}, {0}, {}}));
}

TEST_F(Pairs, AnItemThatIsListedTwiceCountsOnce) {
  const auto table = read("user,item\na,i0\nb,i0\na,i0\nb,i0\n");
  EXPECT_EQ(table.find({0, 1})->ones(), 2U);
}

TEST_F(Pairs, FieldsMayStandInQuotesAndMoreMayFollow) {
  EXPECT_EQ(rows_of(read("user,item,rating\n\"a\", \"i2\" ,5\na,i1,3\n")), (Rows{{1, 2}}));
}

TEST_F(Pairs, MayBeEmpty) {
  EXPECT_EQ(read("user,item\n").rows(), 0U);
  EXPECT_EQ(read_private("user,item").rows(), 0U);
}

TEST_F(Pairs, NeedTheirFirstLine) {
  for (const auto policy : {RowPolicy::MustFit, RowPolicy::Repair}) {
    for (const char* text : {"", "\n", "anna,i1\n", "user\n"}) {
      EXPECT_EQ(error_of<UsageError>([&] { read(text, policy); }),
                dir_ / "p.csv" +
                    " does not begin with the line 'user,item', as a list of pairs does; add it.");
    }
  }
}

TEST_F(Pairs, PublicOnesSayWhichLineIsWrong) {
  EXPECT_TRUE(contains(error("user,item\na,i1\na,i9\n"), "line 3 has the item 'i9'"));
  EXPECT_TRUE(contains(error("user,item\na\n"), "line 2 is no pair"));
  EXPECT_TRUE(contains(error("user,item\n,i1\n"), "line 2 names no user"));
  EXPECT_TRUE(
      contains(error("user,item\n" + std::string(5000, 'a') + ",i1\n"), "line 2 is longer"));
}

TEST_F(Pairs, PrivateOnesAreReadInSilence) {
  const std::string odd = "user,item\nanna,i9\nbert\n,i1\n\n  \ncleo,i2,i3\n\"x,i1\n" +
                          std::string(10'000, 'z') + ",i1\n" + std::string("n\0n,i0\n", 7);
  EXPECT_EQ(rows_of(read_private(odd)), (Rows{{}, {}, {2}, {1}, {}, {0}}));
}

TEST_F(Pairs, ALineMayReachOverManyBlocks) {
  const std::string huge(3'500'000, 'q');
  EXPECT_EQ(rows_of(read_private("user,item\na,i1\n" + huge + "\nb,i2\n")), (Rows{{1}, {}, {2}}));
}

TEST_F(Pairs, RefuseColumnsTheyCannotShow) {
  const auto refusal = [&](const std::string& toml) {
    const Schema schema = Schema::from_document(Document::parse_toml(toml, "s.toml"));
    const auto path = dir_.write("p.csv", "user,item\n");
    return error_of<SchemaError>([&] { read_pairs(path, schema, {}); });
  };
  EXPECT_TRUE(contains(refusal("[[column]]\nname = 'a'\nsize = 3\n"), "'a' has 3 values"));
  EXPECT_TRUE(contains(refusal("[[column]]\nname = 'a,b'\nsize = 2\n"), "rename it"));
  EXPECT_TRUE(contains(refusal("[[column]]\nname = ' a'\nsize = 2\n"), "rename it"));
  EXPECT_TRUE(
      contains(refusal("csv.encoding = 'latin-1'\n[[column]]\nname = 'a'\nsize = 2\n"), "UTF-8"));
}

// What a user's lines hold changes their own row and no other.
RC_GTEST_FIXTURE_PROP(Pairs, AUsersLinesMakeOneRow, ()) {
  const std::vector<std::string> users = {"a", "b", "\"", "'", " c", "", "\xff", "user"};
  const std::vector<std::string> ends = {",i0", ",i1", ",i9", ",", "", ",\"i2", ",i3,i0"};
  Rng rng(*rc::gen::arbitrary<std::uint64_t>());
  std::map<std::string, std::vector<std::string>> lines_of;
  std::vector<std::string> lines;
  for (int i = 0; i < 30; ++i) {
    lines.push_back(users[rng.below(users.size())] + ends[rng.below(ends.size())]);
  }
  const std::string without = "victim";
  const auto all = [&](const std::vector<std::string>& extra) {
    std::vector<std::string> shuffled = lines;
    for (const auto& end : extra) shuffled.push_back(without + end);
    Rng order(7);
    order.shuffle(std::span(shuffled));
    std::string text = "user,item\n";
    for (const auto& line : shuffled) text += line + "\n";
    return rows_of(read_private(text));
  };
  const auto base = all({});
  std::vector<std::string> extra;
  for (int i = 0; i < 5; ++i) extra.push_back(ends[rng.below(ends.size())]);
  auto more = all(extra);
  RC_ASSERT(more.size() == base.size() + 1);
  std::vector<std::set<AttributeId>> added;
  std::ranges::set_difference(more, base, std::back_inserter(added));
  RC_ASSERT(added.size() == 1U);
}

TEST_F(Pairs, WhatIsWrittenReadsBack) {
  const std::vector<std::vector<AttributeId>> rows = {{0, 3}, {}, {1}, {0, 1, 2, 3}};
  const auto path = dir_ / "out.csv";
  write_pairs(path, items(4), rows.size(),
              [&](std::size_t row, std::vector<AttributeId>& out) { out = rows[row]; });
  EXPECT_EQ(test::read_file(path), "user,item\n0,i0\n0,i3\n1,\n2,i1\n3,i0\n3,i1\n3,i2\n3,i3\n");
  EXPECT_EQ(rows_of(read_pairs(path, items(4), {})), (Rows{{0, 3}, {}, {1}, {0, 1, 2, 3}}));
}

TEST_F(Pairs, AFullDiskIsSaid) {
  EXPECT_THROW(write_pairs("/dev/full", items(4), 1,
                           [](std::size_t, std::vector<AttributeId>& out) { out = {1}; }),
               SourceError);
}

TEST_F(Pairs, StopWhenTheyAreToldTo) {
  const Cancel stop = Cancel::token();
  stop.request();
  const auto path = dir_.write("p.csv", "user,item\n");
  EXPECT_THROW(read_pairs(path, items(4), {.cancel = stop}), Cancelled);
}

}  // namespace
}  // namespace tandem
