// SPDX-License-Identifier: Apache-2.0
#include "tandem/base/team.h"

#include <gtest/gtest.h>

#include <atomic>
#include <vector>

namespace tandem {
namespace {

TEST(Team, DoesEveryTaskOnce) {
  for (const int threads : {1, 2, 5}) {
    Team team(Threads{threads});
    for (std::size_t tasks = 0; tasks < 40; ++tasks) {
      std::vector<std::atomic<int>> done(tasks);
      team.run(tasks, [&](std::size_t i) { ++done[i]; });
      for (const auto& times : done) EXPECT_EQ(times, 1);
    }
  }
}

TEST(Team, WhatATaskWroteIsThereAfterwards) {
  Team team(Threads{3});
  std::vector<std::size_t> values(64, 0);
  for (std::size_t call = 1; call <= 3000; ++call) {
    team.run(values.size(), [&](std::size_t i) { values[i] += i + call; });
  }
  for (std::size_t i = 0; i < values.size(); ++i) EXPECT_EQ(values[i], 3000 * i + 4501500);
}

TEST(Team, WithoutOneTasksRunInOrder) {
  std::vector<std::size_t> order;
  run_tasks(nullptr, 5, [&](std::size_t i) { order.push_back(i); });
  EXPECT_EQ(order, (std::vector<std::size_t>{0, 1, 2, 3, 4}));
}

}  // namespace
}  // namespace tandem
