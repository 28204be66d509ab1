// SPDX-License-Identifier: Apache-2.0
#pragma once
// Threads that stay together for many short pieces of work.
//
// Made for loops that run thousands of times and take a fraction of a millisecond each, where
// starting threads (base/parallel.h) would cost more than it saves. A thread that does not come in
// time is not waited for: on a busy machine the caller does the work alone.

#include <cstddef>
#include <functional>
#include <memory>

#include "tandem/base/parallel.h"

namespace tandem {

class Team {
 public:
  explicit Team(Threads threads);  // no thread starts before there is work for it
  ~Team();
  Team(const Team&) = delete;
  Team& operator=(const Team&) = delete;

  // Calls task(0) .. task(tasks-1), each once, in any order; returns when all are done. Tasks don't
  // throw; Cancelled when the work is to stop. Results that depend on the task's number alone are
  // the same for any number of threads.
  void run(std::size_t tasks, const std::function<void(std::size_t)>& task);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

// The tasks of a team, or one after the other without one.
void run_tasks(Team* team, std::size_t tasks, const std::function<void(std::size_t)>& task);

}  // namespace tandem
