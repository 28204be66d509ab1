// SPDX-License-Identifier: Apache-2.0
#include <memory>
#include <vector>

#include "commands.h"

int main(int argc, char** argv) {
  using namespace tandem::cli;
  std::vector<std::unique_ptr<Command>> commands;
  commands.push_back(synth_command());
  commands.push_back(evaluate_command());
  commands.push_back(budget_command());
  commands.push_back(mechanisms_command());
  return run_commands(argc, argv, commands);
}
