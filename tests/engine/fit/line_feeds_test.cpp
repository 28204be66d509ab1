// SPDX-License-Identifier: Apache-2.0
#include "tandem/engine/fit/line_feeds.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace tandem {
namespace {

// The same text, whole and cut into blocks of lines at every line feed.
void expect(const std::string& text, std::size_t line_feeds, std::size_t records,
            const std::vector<std::size_t>& by_column, bool never_closed = false) {
  for (const bool whole : {true, false}) {
    LineFeedWalk walk({}, by_column.size());
    std::string_view rest = text;
    while (!rest.empty()) {
      const auto end = whole ? rest.size() : rest.find('\n') + 1;
      walk.walk(rest.substr(0, end));
      rest.remove_prefix(end);
    }
    EXPECT_EQ(walk.inside_quotes(), line_feeds) << text;
    EXPECT_EQ(walk.records(), records) << text;
    EXPECT_EQ(walk.by_column(), by_column) << text;
    EXPECT_EQ(walk.never_closed(), never_closed) << text;
  }
}

TEST(LineFeeds, OutsideQuotesEndRecords) { expect("1,2\n\"3\",4\n\"\",\"\"\n", 0, 0, {0, 0}); }

TEST(LineFeeds, InsideQuotesAreCountedByColumn) {
  expect("1,\"a\nb\nc\"\n\"x\ny\",2\n3,4\n", 3, 2, {1, 2});
}

TEST(LineFeeds, DoubledQuotesCloseNothing) {
  expect("1,\"a\"\"\nb\"\n", 1, 1, {0, 1});
  expect("1,\"\"\"\nb\"\n", 1, 1, {0, 1});
  expect("\"a\"\"\"\n1\n", 0, 0, {0, 0});
}

TEST(LineFeeds, AQuoteInsideAPlainValueOpensNothing) { expect("5\" pipe,2\n3,4\n", 0, 0, {0, 0}); }

TEST(LineFeeds, CarriageReturnsBehindAClosingQuoteAreNothing) {
  expect("1,\"a\"\r\n2,\"b\nc\"\r\n", 1, 1, {0, 1});
}

TEST(LineFeeds, TwoColumnsOfOneRecordAreOneRecord) { expect("\"a\nb\",\"c\nd\"\n", 2, 1, {1, 1}); }

TEST(LineFeeds, SurplusFieldsHaveNoColumn) { expect("1,2,\"a\nb\"\n", 1, 1, {0, 0}); }

TEST(LineFeeds, AQuoteThatIsNeverClosedIsTold) { expect("1,\"a\n2,3\n4,5\n", 3, 1, {0, 3}, true); }

}  // namespace
}  // namespace tandem
