// SPDX-License-Identifier: Apache-2.0
#include "support/processes.h"

#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <exception>
#include <stdexcept>

namespace tandem::test {

pid_t start_child(const std::function<int()>& work) {
  const pid_t child = fork();
  if (child < 0) throw std::runtime_error("can't fork");
  if (child > 0) return child;
  int code = 99;
  try {
    code = work();
  } catch (const std::exception& error) {
    std::fprintf(stderr, "in a child process: %s\n", error.what());
  }
  _exit(code);
}

int wait_for(pid_t child) {
  int status = 0;
  while (waitpid(child, &status, 0) < 0) {
  }
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

}  // namespace tandem::test
