// SPDX-License-Identifier: Apache-2.0
#include "tandem/engine/fit/people.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

namespace tandem {
namespace {

PeopleFit people(const std::vector<std::string>& fields, std::size_t bound = 1) {
  PeopleTally all;
  PeopleTally part;  // two at a time, as blocks come
  for (std::size_t i = 0; i < fields.size(); ++i) {
    part.add(fields[i]);
    if (i % 2 == 1 || i + 1 == fields.size()) {
      all.append(part);
      part = {};
    }
  }
  return all.finish(bound);
}

TEST(People, AreCountedByTheirExactId) {
  const auto p = people({"a", "b", " a ", "a\t", "c"}, 2);
  EXPECT_EQ(p.people, 3U);
  EXPECT_EQ(p.most_rows, 3U);
  EXPECT_EQ(p.above_bound, 1U);
  EXPECT_EQ(p.dropped_rows, 1U);
  EXPECT_EQ(p.blank_rows, 0U);
  EXPECT_EQ(p.spelled_alike, 0U);
}

TEST(People, RowsThatNameNobodyAreNoPerson) {
  const auto p = people({"", "  ", "x", "\t"});
  EXPECT_EQ(p.people, 1U);
  EXPECT_EQ(p.blank_rows, 3U);
}

TEST(People, IdsThatDifferInCaseSpacesOrZerosAreTold) {
  const auto p = people({"ab1", "x", "AB1", "007", "y", "7", "a b1", "70"});
  EXPECT_EQ(p.people, 8U);
  EXPECT_EQ(p.spelled_alike, 5U);  // ab1, AB1, 'a b1'; 007 and 7
  ASSERT_EQ(p.alike_rows.size(), 2U);
  EXPECT_EQ(p.alike_rows[0], (std::pair<std::size_t, std::size_t>{0, 2}));
  EXPECT_EQ(p.alike_rows[1], (std::pair<std::size_t, std::size_t>{3, 5}));
}

TEST(People, ZerosAloneAreAnIdToo) {
  EXPECT_EQ(people({"0", "00", "1"}).spelled_alike, 2U);
  EXPECT_EQ(people({"0", "1"}).spelled_alike, 0U);
}

}  // namespace
}  // namespace tandem
