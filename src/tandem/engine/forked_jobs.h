// SPDX-License-Identifier: Apache-2.0
#pragma once
// Independent jobs, each in a process of its own: one that fails or is killed takes no other along,
// and each one's time and memory can be told apart.

#include <cstddef>
#include <functional>
#include <string>

namespace tandem {

struct JobOutcome {
  bool done = false;
  std::string text;      // what the job returned, or why it failed
  double peak_mb = 0.0;  // most memory its process held
};

// Runs job(0) .. job(count-1), `at_once` at a time, in processes that see this one's memory as it
// is now; calls finished(i, outcome) here as each ends, in any order. The caller has one thread.
void run_forked(std::size_t count, int at_once, const std::function<std::string(std::size_t)>& job,
                const std::function<void(std::size_t, const JobOutcome&)>& finished);

}  // namespace tandem
