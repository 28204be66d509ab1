// SPDX-License-Identifier: Apache-2.0
// tandem evaluate: compare a synthetic table with the real one.

#include <fmt/core.h>

#include "commands.h"
#include "tandem/engine/evaluation.h"

namespace tandem::cli {

namespace {

class Evaluate final : public Command {
 public:
  std::string name() const override { return "evaluate"; }
  std::string summary() const override {
    return "compare synthetic with real data (INTERNAL: reads private data)";
  }

  void declare(Args& args) override {
    using enum Args::Need;
    args.option("--real", request_.real, "the real table: .csv or .csv.gz", Required);
    args.option("--synthetic", request_.synthetic, "the table to judge", Required);
    args.option("--schema", request_.schema, "the schema of both: TOML or JSON", Required);
    args.option("--workload", request_.workload,
                "the queries: all-3way, random-3way:COUNT:SEED, or a file (default all-3way)");
    for_each_format_setting(request_.text, [&](const std::string& setting, std::string& variable,
                                               const std::string& help) {
      args.option("--" + setting, variable, help);
    });
    common_.declare(args);
  }

  int run() override {
    request_.threads = common_.thread_count();
    const auto result = evaluate_files(request_);
    for (const auto& note : result.notes) common_.note(note);
    if (common_.json) {
      fmt::print("{}\n", to_document(result.evaluation).to_json());
    } else {
      fmt::print("{}", to_text(result.evaluation));
    }
    return 0;
  }

 private:
  EvaluationRequest request_;
  CommonFlags common_;
};

}  // namespace

std::unique_ptr<Command> evaluate_command() { return std::make_unique<Evaluate>(); }

}  // namespace tandem::cli
