// SPDX-License-Identifier: Apache-2.0
#include "tandem/engine/answer_release.h"

#include <gtest/gtest.h>

#include <cmath>

#include "support/errors.h"
#include "support/files.h"
#include "tandem/engine/synth.h"

namespace tandem {
namespace {

using test::contains;
using test::error_of;

class AnswerRelease : public testing::Test {
 protected:
  AnswerRelease() {
    std::string rows = "a,b,c\n";
    for (int r = 0; r < 400; ++r) {
      rows += std::to_string(r % 3) + ',' + std::to_string(r % 4 == 0 ? 1 : 0) + ',' +
              std::to_string(r % 3) + '\n';
    }
    SynthRun run;
    run.settings.private_source = dir_.write("private.csv", rows);
    run.settings.schema = dir_.write("schema.json", R"({"a": 3, "b": 2, "c": 3})");
    run.settings.epsilon = 2.0;
    run.settings.mechanism = "mst";
    run.settings.workload = "all-2way";
    run.settings.seed = 4;
    run.settings.out = folder_;
    synthesize(run);
  }

  ReleaseAnswers ask(const std::vector<std::string>& columns) const {
    AnswerReleaseRequest request;
    request.release = folder_;
    request.columns = columns;
    return answer_release(request);
  }

  test::TempDir dir_{test::in_memory()};
  std::string folder_ = dir_ / "release";
};

TEST_F(AnswerRelease, GivesOneMarginalByItsColumnsInAnyOrder) {
  // a and c go together, so that mst measured the pair.
  const auto answers = ask({"c", "a"});
  ASSERT_EQ(answers.answers.size(), 9U);
  EXPECT_EQ(answers.with_intervals, 9U);
  EXPECT_EQ(answers.answers[1].query, "a=0 & c=1");
  for (std::size_t q = 0; q < 9; ++q) {
    const double truth = q % 4 == 0 ? 133.3 : 0.0;
    EXPECT_NEAR(*answers.answers[q].measured, truth, 5.0 * *answers.answers[q].stddev + 1.0);
    EXPECT_GE(answers.answers[q].estimate, 0.0);
  }
}

TEST_F(AnswerRelease, RefusesColumnsThatAreNotThereAndReleasesThatAreNone) {
  EXPECT_TRUE(contains(error_of<UsageError>([&] { ask({"odd"}); }), "odd"));
  AnswerReleaseRequest request;
  EXPECT_TRUE(contains(error_of<UsageError>([&] { answer_release(request); }), "No release"));
  request.release = dir_ / "nowhere";
  EXPECT_TRUE(
      contains(error_of<UsageError>([&] { answer_release(request); }), "no release folder"));
}

}  // namespace
}  // namespace tandem
