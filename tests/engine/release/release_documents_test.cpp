// SPDX-License-Identifier: Apache-2.0
#include "tandem/engine/release/release_documents.h"

#include <gtest/gtest.h>

namespace tandem {
namespace {

TEST(ReleaseDocuments, LargeAnswersKeepTheDigitsThatTheirErrorTells) {
  EXPECT_EQ(answers_text({{.query = "a", .estimate = 1'999'999'014.25, .stddev = 5.0},
                          {.query = "b", .estimate = 757.8301},
                          {.query = "c", .estimate = -123'456.78}}),
            "query,estimate,stddev,ci95_low,ci95_high\n"
            "a,1999999014.2,5,1999999004.5,1999999024.0\n"
            "b,757.83,,,\n"
            "c,-123456.8,,,\n");
}

}  // namespace
}  // namespace tandem
