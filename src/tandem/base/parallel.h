// SPDX-License-Identifier: Apache-2.0
#pragma once
// Running independent tasks on several threads.

#include <cstddef>
#include <functional>

namespace tandem {

// How many threads a piece of work may use. Results never depend on it.
struct Threads {
  int count = 1;
  static Threads all();  // one per core this process may run on
};

// Calls task(0) .. task(tasks-1), each once, in any order. The first exception (by task number)
// is thrown here when all threads have come to rest; tasks not yet begun are then skipped.
void parallel_for(std::size_t tasks, Threads threads, const std::function<void(std::size_t)>& task);

}  // namespace tandem
