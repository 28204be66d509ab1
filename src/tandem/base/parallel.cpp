// SPDX-License-Identifier: Apache-2.0
#include "tandem/base/parallel.h"

#include <sched.h>

#include <algorithm>
#include <atomic>
#include <exception>
#include <mutex>
#include <thread>
#include <vector>

namespace tandem {

Threads Threads::all() {
  cpu_set_t set;
  CPU_ZERO(&set);
  if (sched_getaffinity(0, sizeof set, &set) == 0) return {.count = std::max(1, CPU_COUNT(&set))};
  return {.count = std::max(1, static_cast<int>(std::thread::hardware_concurrency()))};
}

void parallel_for(std::size_t tasks, const Threads& threads,
                  const std::function<void(std::size_t)>& task) {
  const auto workers = std::min<std::size_t>(tasks, std::max(1, threads.count));
  if (workers <= 1) {
    for (std::size_t i = 0; i < tasks; ++i) {
      threads.check();
      task(i);
    }
    return;
  }

  std::atomic<std::size_t> next{0};
  std::atomic<bool> failed{false};
  std::mutex mutex;
  std::size_t failed_task = tasks;
  std::exception_ptr failure;

  const auto work = [&] {
    while (!failed) {
      const std::size_t i = next++;
      if (i >= tasks) return;
      try {
        threads.check();
        task(i);
      } catch (...) {
        const std::lock_guard lock(mutex);
        if (i < failed_task) {
          failed_task = i;
          failure = std::current_exception();
        }
        failed = true;
      }
    }
  };

  std::vector<std::jthread> pool;
  pool.reserve(workers - 1);
  for (std::size_t w = 1; w < workers; ++w) pool.emplace_back(work);
  work();
  pool.clear();  // joins
  if (failure) std::rethrow_exception(failure);
}

}  // namespace tandem
