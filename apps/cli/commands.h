// SPDX-License-Identifier: Apache-2.0
#pragma once
// Every command, one file each.

#include <memory>

#include "args.h"

namespace tandem::cli {

std::unique_ptr<Command> schema_command();
std::unique_ptr<Command> check_command();
std::unique_ptr<Command> synth_command();
std::unique_ptr<Command> answer_command();
std::unique_ptr<Command> refit_command();
std::unique_ptr<Command> evaluate_command();
std::unique_ptr<Command> compare_command();
std::unique_ptr<Command> budget_command();
std::unique_ptr<Command> mechanisms_command();

}  // namespace tandem::cli
