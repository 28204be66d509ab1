// SPDX-License-Identifier: Apache-2.0
// tandem compare: mechanisms x epsilons x seeds on one data set.

#include <fmt/core.h>
#include <unistd.h>

#include "commands.h"
#include "tandem/base/error.h"
#include "tandem/base/text.h"
#include "tandem/engine/comparison.h"

namespace tandem::cli {

namespace {

class Compare final : public Command {
 public:
  std::string name() const override { return "compare"; }
  std::string summary() const override {
    return "run mechanisms x epsilons x seeds on a data set, and draw it (INTERNAL: private data)";
  }

  void declare(Args& args) override {
    using enum Args::Need;
    args.option("--private", request_.private_source, "the table to compare on, or pairs:FILE",
                Required);
    args.option("--public", request_.public_sources, "public data; may be given more than once");
    args.option("--schema", request_.schema, "the schema; without it, drafted from public data");
    for_each_format_setting(request_.text, [&](const std::string& setting, std::string& variable,
                                               const std::string& help) {
      args.option("--" + setting, variable, help);
    });
    args.option("--mechanisms", mechanisms_,
                "such as aim,mw-pub:rounds=50:output=last: names with their parameters", Required);
    args.option("--param", request_.parameters,
                "KEY=VALUE for every mechanism that has it; may be repeated");
    args.option("--epsilons", epsilons_, "such as 0.1,1,10", Required);
    args.option("--delta", request_.delta, "of every run (default 1e-9)");
    args.option("--neighbors", request_.neighbors, "replace-one (default) or add-remove");
    args.option("--rows-per-person", request_.rows_per_person, "rows one person may have");
    args.option("--workload", request_.workload, "the queries (default all-3way)");
    args.option("--seeds", request_.seeds, "runs of each, seeded 1, 2, ... (default 5)");
    args.option("--metric", request_.metric,
                "of the printed tables and the figure: avg (default), max or mean");
    args.option("--title", request_.title, "of the figure");
    args.option("--out", request_.out, "the folder for results and figure (default comparison)");
    args.flag("--published", request_.published,
              "the table is public knowledge: nothing is stamped INTERNAL");
    args.flag("--private-as-public", request_.private_as_public,
              "let the table be its own public data, or its schema's origin");
    args.flag("--resume", request_.resume, "keep the results that are there, run what is missing");
    args.flag("--force", request_.force, "replace a former comparison in --out");
    common_.declare(args);
  }

  bool internal() const override { return !request_.published; }

  int run() override {
    for (const auto part : split(mechanisms_, ',')) request_.mechanisms.emplace_back(trim(part));
    for (const auto part : split(epsilons_, ',')) {
      const auto epsilon = parse_number(trim(part));
      if (!epsilon) {
        throw UsageError(
            fmt::format("--epsilons holds {}; write numbers such as 0.1,1.", in_quotes(part)));
      }
      request_.epsilons.push_back(*epsilon);
    }
    request_.threads = common_.thread_count();
    request_.note = [this](const std::string& text) { common_.note(text); };
    if (!common_.quiet && isatty(STDERR_FILENO) != 0) {
      request_.progress = [](std::size_t done, std::size_t in_all) {
        tell(fmt::format("\r\x1b[K{} of {} runs{}", done, in_all, done == in_all ? "\n" : ""));
      };
    }
    const auto comparison = compare(request_);
    fmt::print("{}", common_.json ? to_document(request_, comparison).to_json() + "\n"
                                  : to_text(request_, comparison));
    common_.note(fmt::format("The figure is {}/figure.svg.", request_.out));
    for (const auto& failure : comparison.failures) common_.complain(failure);
    return comparison.failures.empty() ? 0 : 1;
  }

 private:
  ComparisonRequest request_;
  std::string mechanisms_;
  std::string epsilons_;
  CommonFlags common_;
};

}  // namespace

std::unique_ptr<Command> compare_command() { return std::make_unique<Compare>(); }

}  // namespace tandem::cli
