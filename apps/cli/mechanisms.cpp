// SPDX-License-Identifier: Apache-2.0
// tandem mechanisms: what can run, with its guarantee, its parameters and its paper.

#include <fmt/core.h>

#include "commands.h"
#include "tandem/engine/catalogue.h"

namespace tandem::cli {

namespace {

class Mechanisms final : public Command {
 public:
  std::string name() const override { return "mechanisms"; }
  std::string summary() const override {
    return "what can run, with its guarantee, its parameters and its paper";
  }

  void declare(Args& args) override { args.flag("--json", json_, "print JSON"); }

  int run() override {
    if (json_) {
      fmt::print("{}\n", catalogue_document().to_json());
    } else {
      fmt::print("{}", catalogue_text());
    }
    return 0;
  }

 private:
  bool json_ = false;
};

}  // namespace

std::unique_ptr<Command> mechanisms_command() { return std::make_unique<Mechanisms>(); }

}  // namespace tandem::cli
