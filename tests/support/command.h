// SPDX-License-Identifier: Apache-2.0
#pragma once
// Running a command as a user would.

#include <sys/types.h>

#include <string>
#include <vector>

#include "support/files.h"

namespace tandem::test {

struct CommandResult {
  int exit_code = -1;  // 128 + n when ended by signal n
  std::string out;
  std::string err;
};

// A program that was started with arguments, standard input empty. Killed if not waited for.
class StartedCommand {
 public:
  // Its standard error goes to this device, or else to wait().
  explicit StartedCommand(const std::vector<std::string>& arguments,
                          const std::string& terminal = "");
  ~StartedCommand();
  StartedCommand(const StartedCommand&) = delete;
  StartedCommand& operator=(const StartedCommand&) = delete;

  pid_t pid() const { return pid_; }
  void kill() const;  // at once, as kill -9 does
  bool has_ended() const;
  CommandResult wait();  // once

 private:
  TempDir dir_{in_memory()};
  pid_t pid_ = 0;
  bool running_ = false;
};

// The same, waited for.
CommandResult run_command(const std::vector<std::string>& arguments);

// The same with a terminal for standard error.
CommandResult run_on_terminal(const std::vector<std::string>& arguments);

}  // namespace tandem::test
