// SPDX-License-Identifier: Apache-2.0
#pragma once
// Running independent tasks on several threads.

#include <cstddef>
#include <functional>

#include "tandem/base/cancel.h"

namespace tandem {

// How many threads a piece of work may use, and who may stop it. Results never depend on it.
struct Threads {
  int count = 1;
  Cancel cancel{};
  static Threads all();                        // one per core this process may run on
  Threads one() const { return {1, cancel}; }  // for work that isn't worth more
  void check() const { cancel.check(); }       // Cancelled when the work is to stop
};

// Calls task(0) .. task(tasks-1), each once, in any order. The first exception (by task number)
// is thrown here when all threads have come to rest; tasks not yet begun are then skipped. So they
// are when the work is cancelled.
void parallel_for(std::size_t tasks, const Threads& threads,
                  const std::function<void(std::size_t)>& task);

}  // namespace tandem
