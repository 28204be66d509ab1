// SPDX-License-Identifier: Apache-2.0
#pragma once
// Tests that need a second process.

#include <sys/types.h>

#include <functional>

namespace tandem::test {

// Runs `work` in a forked child and returns its pid. The child ends with what `work` returns, or
// with 99 when it throws; no destructor or sanitizer report of the parent's runs there.
pid_t start_child(const std::function<int()>& work);

// Waits for a child: its exit code, or 128 + n when signal n ended it.
int wait_for(pid_t child);

}  // namespace tandem::test
