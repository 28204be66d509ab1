// SPDX-License-Identifier: Apache-2.0
// tandem evaluate: compare a synthetic table with the real one.

#include <fmt/core.h>

#include "commands.h"
#include "tandem/base/error.h"
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
    args.option("--threads", threads_, "threads; 0 takes all cores");
    args.flag("--json", json_, "print JSON");
    args.flag("--quiet", quiet_, "print no notes");
  }

  int run() override {
    if (threads_ < 0 || threads_ > 4096) throw UsageError("--threads is from 0 to 4096.");
    request_.threads = threads_ == 0 ? Threads::all() : Threads{static_cast<int>(threads_)};
    const auto result = evaluate_files(request_);
    if (!quiet_) {
      for (const auto& note : result.notes) fmt::print(stderr, "{}\n", note);
    }
    if (json_) {
      fmt::print("{}\n", to_document(result.evaluation).to_json());
    } else {
      fmt::print("{}", to_text(result.evaluation));
    }
    return 0;
  }

 private:
  EvaluationRequest request_;
  std::int64_t threads_ = 0;
  bool json_ = false;
  bool quiet_ = false;
};

}  // namespace

std::unique_ptr<Command> evaluate_command() { return std::make_unique<Evaluate>(); }

}  // namespace tandem::cli
