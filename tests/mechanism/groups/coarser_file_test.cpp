// SPDX-License-Identifier: Apache-2.0
#include "tandem/mechanism/groups/coarser_file.h"

#include <gtest/gtest.h>

#include "support/errors.h"
#include "support/files.h"
#include "tandem/base/error.h"

namespace tandem {
namespace {

using test::contains;
using test::error_of;

class CoarserFile : public testing::Test {
 protected:
  CoarserValues read(const std::string& text) const {
    return read_coarser_values(domain_, Clique{0, 1}, dir_.write("coarse.csv", text));
  }
  std::string refusal(const std::string& text) const {
    return error_of<UsageError>([&] { read(text); });
  }

  test::TempDir dir_;
  Domain domain_{{{"area", 3, {"x", "y, z", "w\"w"}}, {"year", 2, {"2018", "2019"}}}};
};

TEST_F(CoarserFile, MayHaveAHeaderQuotesAndAByteOrderMark) {
  const std::vector<std::size_t> groups = {0, 1, 0};
  const std::string lines = "x,a\n\"y, z\",\"b, \"\"c\"\"\"\n\n\"w\"\"w\" , a\n";
  for (const char* header :
       {"", "fine,coarse\n", "area,state\r\n", "\xef\xbb\xbf\"fine\",coarse\n"}) {
    const auto found = read(header + lines);
    EXPECT_EQ(found.column, 0);
    EXPECT_EQ(found.count, 2U);
    EXPECT_EQ(found.groups, groups);
  }
  const auto years = read("2018,a\n2018,a\n");
  EXPECT_EQ(years.column, 1);
  EXPECT_EQ(years.groups, (std::vector<std::size_t>{0, 1}));  // the rest is one more
}

TEST_F(CoarserFile, IsRefusedWhereItSaysNothingOrTwoThings) {
  EXPECT_TRUE(contains(refusal("2018,a\n2019,b\n2018,b\n"), "'2018' is in 'a' and in 'b'"));
  EXPECT_TRUE(contains(refusal(""), "names no values"));
  EXPECT_TRUE(contains(refusal("fine,coarse\n"), "names no values"));
  EXPECT_TRUE(contains(refusal("x,a\nq,b\n"), "'q' is no value of 'area'"));
  for (const char* line : {"x", "x,", ",a", "x,a,b", "\"x,a", "\"x\"y,a"}) {
    const std::string message = refusal(std::string("2018,a\n") + line + "\n");
    EXPECT_TRUE(contains(message, "line 2 is not two fields")) << line;
  }
}

}  // namespace
}  // namespace tandem
