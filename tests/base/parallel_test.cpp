// SPDX-License-Identifier: Apache-2.0
#include "tandem/base/parallel.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <mutex>
#include <set>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace tandem {
namespace {

TEST(Parallel, RunsEachTaskOnce) {
  for (const int threads : {-1, 0, 1, 2, 3, 8, 64}) {
    for (const std::size_t tasks : {0U, 1U, 2U, 7U, 1000U}) {
      std::vector<std::atomic<int>> runs(tasks);
      parallel_for(tasks, {threads}, [&](std::size_t i) { ++runs[i]; });
      EXPECT_TRUE(std::ranges::all_of(runs, [](const auto& n) { return n == 1; }))
          << tasks << " tasks on " << threads << " threads";
    }
  }
}

TEST(Parallel, UsesNoMoreThreadsThanItMay) {
  for (const int threads : {1, 2, 5}) {
    std::mutex mutex;
    std::set<std::thread::id> seen;
    parallel_for(200, {threads}, [&](std::size_t) {
      const std::lock_guard lock(mutex);
      seen.insert(std::this_thread::get_id());
    });
    EXPECT_LE(seen.size(), static_cast<std::size_t>(threads));
  }
}

TEST(Parallel, OneThreadIsTheCallersOwn) {
  parallel_for(10, {1}, [caller = std::this_thread::get_id()](std::size_t) {
    EXPECT_EQ(std::this_thread::get_id(), caller);
  });
}

TEST(Parallel, RunsTasksAtTheSameTime) {
  std::atomic<int> waiting{0};  // each task waits for the other: one thread alone would not end
  parallel_for(2, {2}, [&](std::size_t) {
    ++waiting;
    while (waiting < 2) std::this_thread::yield();
  });
  EXPECT_EQ(waiting, 2);
}

TEST(Parallel, ThrowsTheExceptionOfTheFirstTaskThatFails) {
  for (const int threads : {1, 2, 8}) {
    for (int repeat = 0; repeat < 50; ++repeat) {
      try {
        parallel_for(100, {threads}, [](std::size_t i) {
          if (i >= 20 && i % 10 == 0) throw std::runtime_error("task " + std::to_string(i));
        });
        FAIL() << "no exception";
      } catch (const std::runtime_error& error) {
        EXPECT_STREQ(error.what(), "task 20");
      }
    }
  }
}

TEST(Parallel, SkipsTasksNotBegunWhenOneFailed) {
  for (const int threads : {1, 2, 4}) {
    std::atomic<int> begun{0};
    EXPECT_THROW(parallel_for(1'000'000, {threads},
                              [&](std::size_t) {
                                ++begun;
                                throw std::runtime_error("no");
                              }),
                 std::runtime_error);
    EXPECT_LE(begun, threads);
  }
}

TEST(Parallel, MayBeNested) {
  std::atomic<int> sum{0};
  parallel_for(4, {3}, [&](std::size_t) { parallel_for(5, {2}, [&](std::size_t) { ++sum; }); });
  EXPECT_EQ(sum, 20);
}

TEST(Parallel, AllIsAtLeastOne) { EXPECT_GE(Threads::all().count, 1); }

}  // namespace
}  // namespace tandem
