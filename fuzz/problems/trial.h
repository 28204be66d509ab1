// SPDX-License-Identifier: Apache-2.0
#pragma once
// Whether tandem keeps its word on one problem:
//
// - a run with a ledger ends in a whole release, or is refused and has spent nothing;
// - what the plan accepts is not refused afterwards, and what it refuses is not made;
// - the same seed gives the same files with one thread and with two;
// - no text that is written holds a number that is none, and the rows fit their schema.

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "problem.h"

namespace tandem::fuzz {

struct Failure {
  std::string what;      // the kind of failure, a few words
  std::string sentence;  // in which run, and the error
};

struct Outcome {
  std::string mechanism;  // as asked for
  bool released = false;
  std::string refusal;  // the error of a run that was refused
  std::vector<Failure> failures;
};

// Works in `folder`, which is there and empty, and leaves its files. `begun` hears the mechanism
// before anything is run.
Outcome try_problem(Kind kind, std::uint64_t seed, const std::string& folder,
                    const std::function<void(const std::string& mechanism)>& begun);

}  // namespace tandem::fuzz
