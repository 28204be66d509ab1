// SPDX-License-Identifier: Apache-2.0
#include <fcntl.h>
#include <malloc.h>

#include <memory>
#include <vector>

#include "commands.h"

namespace {

// With a standard stream closed, the next file to be opened would take its number, and what is
// meant for the terminal would land in it. /dev/null, opened so that writing still fails, sits
// there instead.
void keep_standard_streams_apart() {
  for (int stream = 0; stream <= 2; ++stream) {
    if (fcntl(stream, F_GETFD) < 0) open("/dev/null", O_RDONLY);
  }
}

// Models are fitted and asked thousands of times, each time with tables of megabytes. Handed back
// to the system in between, their pages would be cleared and mapped again each time: a quarter of
// the time of a long run.
void keep_freed_memory() {
#ifdef __GLIBC__
  mallopt(M_MMAP_THRESHOLD, 1 << 30);
  mallopt(M_TRIM_THRESHOLD, 1 << 30);
#endif
}

}  // namespace

int main(int argc, char** argv) {
  using namespace tandem::cli;
  keep_standard_streams_apart();
  keep_freed_memory();
  std::vector<std::unique_ptr<Command>> commands;
  commands.push_back(schema_command());
  commands.push_back(check_command());
  commands.push_back(synth_command());
  commands.push_back(answer_command());
  commands.push_back(refit_command());
  commands.push_back(evaluate_command());
  commands.push_back(compare_command());
  commands.push_back(budget_command());
  commands.push_back(mechanisms_command());
  return run_commands(argc, argv, commands);
}
