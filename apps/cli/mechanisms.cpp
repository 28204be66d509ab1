// SPDX-License-Identifier: Apache-2.0
// tandem mechanisms: what can run.

#include <fmt/core.h>

#include "commands.h"

namespace tandem::cli {

namespace {

class Mechanisms final : public Command {
 public:
  std::string name() const override { return "mechanisms"; }
  std::string summary() const override { return "what can run, and with which parameters"; }

  void declare(Args& args) override { args.flag("--json", json_, "print JSON"); }

  int run() override {
    fmt::print("{}\n", json_ ? R"({"format":1,"mechanisms":[]})" : "No mechanism can run yet.");
    return 0;
  }

 private:
  bool json_ = false;
};

}  // namespace

std::unique_ptr<Command> mechanisms_command() { return std::make_unique<Mechanisms>(); }

}  // namespace tandem::cli
