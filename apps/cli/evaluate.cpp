// SPDX-License-Identifier: Apache-2.0
// tandem evaluate: compare a synthetic table with the real one.

#include <fmt/core.h>

#include "commands.h"
#include "progress.h"
#include "tandem/base/text.h"
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
    args.option("--private,--real", request_.real, "the real table: .csv or .csv.gz", Required);
    args.option("--synthetic", request_.synthetic, "the table to judge", Required);
    args.option("--schema", request_.schema, "the schema of both: TOML or JSON", Required);
    args.option("--workload", request_.workload,
                "the queries: all-3way, random-3way:COUNT:SEED, or a file (default all-3way)");
    args.option("--group-by", group_by_,
                "columns, with commas: judge each group of rows by itself");
    for_each_format_setting(request_.text, [&](const std::string& setting, std::string& variable,
                                               const std::string& help) {
      args.option("--" + setting, variable, help);
    });
    common_.declare(args);
  }

  int run() override {
    request_.threads = common_.thread_count();
    request_.reading = reading_bars(!common_.quiet);
    if (!group_by_.empty()) {
      for (const auto name : split(group_by_, ',')) request_.group_by.emplace_back(trim(name));
    }
    const auto result = evaluate_files(request_);
    for (const auto& note : result.notes) common_.note(note);
    if (common_.json) {
      fmt::print("{}\n", to_document(result).to_json());
    } else {
      fmt::print("{}", to_text(result));
    }
    return 0;
  }

 private:
  EvaluationRequest request_;
  std::string group_by_;
  CommonFlags common_;
};

}  // namespace

std::unique_ptr<Command> evaluate_command() { return std::make_unique<Evaluate>(); }

}  // namespace tandem::cli
