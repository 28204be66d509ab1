// SPDX-License-Identifier: Apache-2.0
#pragma once
// Another program, run in a process of its own: whatever becomes of it, this one goes on.

#include <cstdint>
#include <string>
#include <vector>

#include "tandem/base/cancel.h"

namespace tandem {

// Where the PATH has a program of this name, or the name itself where it is a path to one; empty
// when there is none.
std::string find_program(const std::string& name);

struct ChildLimits {
  double seconds = 20.0;                         // then it is killed
  std::uint64_t bytes = std::uint64_t{4} << 30;  // of memory; what it asks beyond fails
};

enum class ChildEnd {
  Finished,  // with exit code 0
  Failed,    // with another, or by a signal
  TimedOut,  // and was killed
  NotStarted
};

// Runs `arguments[0]`, a path, with no input and no output of its own; no open file of this process
// goes to it. Killed, and Cancelled thrown, when the work is to stop.
ChildEnd run_child(const std::vector<std::string>& arguments, const ChildLimits& limits,
                   const Cancel& cancel);

}  // namespace tandem
