// SPDX-License-Identifier: Apache-2.0
#pragma once
// Running a command as a user would.

#include <string>
#include <vector>

namespace tandem::test {

struct CommandResult {
  int exit_code = -1;  // 128 + n when ended by signal n
  std::string out;
  std::string err;
};

// Runs a program with arguments, standard input empty, and waits for it.
CommandResult run_command(const std::vector<std::string>& arguments);

}  // namespace tandem::test
