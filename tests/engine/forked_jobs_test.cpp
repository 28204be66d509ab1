// SPDX-License-Identifier: Apache-2.0
#include "tandem/engine/forked_jobs.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <map>
#include <stdexcept>
#include <string>

namespace tandem {
namespace {

TEST(ForkedJobs, EachEndsInItsOwnWay) {
  std::map<std::size_t, JobOutcome> outcomes;
  run_forked(
      7, 3,
      [](std::size_t i) -> std::string {
        if (i == 2) throw std::runtime_error("no luck");
        if (i == 4) raise(SIGKILL);
        if (i == 5) _exit(0);
        return i == 6 ? std::string(1'000'000, 'x') : "job " + std::to_string(i);
      },
      [&](std::size_t i, const JobOutcome& outcome) {
        EXPECT_TRUE(outcomes.emplace(i, outcome).second);
      });
  ASSERT_EQ(outcomes.size(), 7U);
  for (const std::size_t i : {0U, 1U, 3U}) {
    EXPECT_TRUE(outcomes[i].done);
    EXPECT_EQ(outcomes[i].text, "job " + std::to_string(i));
    EXPECT_GT(outcomes[i].peak_mb, 0.5);
  }
  EXPECT_FALSE(outcomes[2].done);
  EXPECT_EQ(outcomes[2].text, "no luck");
  EXPECT_FALSE(outcomes[4].done);
  EXPECT_EQ(outcomes[4].text, "its process was ended by signal 9");
  EXPECT_FALSE(outcomes[5].done);
  EXPECT_EQ(outcomes[5].text, "its process gave no result");
  EXPECT_EQ(outcomes[6].text.size(), 1'000'000U);
}

TEST(ForkedJobs, NoneIsFine) {
  run_forked(
      0, 4, [](std::size_t) { return std::string(); },
      [](std::size_t, const JobOutcome&) { FAIL(); });
}

}  // namespace
}  // namespace tandem
