// SPDX-License-Identifier: Apache-2.0
// tandem evaluate: compare a synthetic table with the real one.

#include <fmt/core.h>

#include <charconv>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <system_error>
#include <utility>

#include "commands.h"
#include "progress.h"
#include "tandem/base/error.h"
#include "tandem/base/text.h"
#include "tandem/engine/evaluation.h"
#include "tandem/engine/heat_map_figure.h"

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
    args.option("--private,--real", request_.real,
                "the real table: .csv, .csv.gz or .parquet, or pairs:FILE", Required);
    args.option("--synthetic", request_.synthetic, "the table to judge, or pairs:FILE", Required);
    args.option("--schema", request_.schema, "the schema of both: TOML or JSON", Required);
    args.option("--workload", request_.workload,
                "the queries: all-3way, random-3way:COUNT:SEED, or a file (default all-3way)");
    args.option("--group-by", group_by_,
                "columns, with commas: judge each group of rows by itself");
    args.option("--pairs", pairs_,
                "with --group-by, the contest's score: how many pairs of columns, or all");
    args.option("--count-penalty", count_penalty_,
                "its rows by which a group may be off before its error is 2 (default 250)");
    args.option(
        "--heat-map", heat_map_,
        "write the contest's score of each group here: a picture if it ends in .svg, else CSV");
    args.flag("--force", force_, "replace the file at --heat-map");
    for_each_format_setting(request_.text, [&](const std::string& setting, std::string& variable,
                                               const std::string& help) {
      args.option("--" + setting, variable, help);
    });
    common_.declare(args);
  }

  bool internal() const override { return true; }

  int run() override {
    request_.threads = common_.thread_count();
    request_.reading = reading_bars(!common_.quiet);
    if (!group_by_.empty()) {
      for (const auto name : split(group_by_, ',')) request_.group_by.emplace_back(trim(name));
    }
    read_contest();
    check_heat_map();
    const auto result = evaluate_files(request_);
    if (!heat_map_.empty()) {
      std::ofstream file(heat_map_, std::ios::binary);
      file << (heat_map_.ends_with(".svg") ? heat_map_figure(result, report::Look::Either)
                                           : heat_map_csv(result))
           << std::flush;
      if (!file) {
        throw SourceError(fmt::format("{} can't be written; check the folder and its space.",
                                      in_quotes(heat_map_)));
      }
    }
    for (const auto& note : result.notes) common_.note(note);
    if (common_.json) {
      fmt::print("{}\n", to_document(result).to_json());
    } else {
      fmt::print("{}", to_text(result));
    }
    return 0;
  }

 private:
  template <class Number>
  static Number number_from(Number least, const std::string& text, const char* flag,
                            const char* what) {
    Number value{};
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc() || end != text.data() + text.size() || !(value >= least) ||
        static_cast<double>(value) > 1e12) {
      throw UsageError(fmt::format("{} is {}; give {}.", flag, in_quotes(text), what));
    }
    return value;
  }
  // Any of the three asks for the contest's score.
  void read_contest() {
    using Given = std::pair<const std::string*, const char*>;
    for (const auto& [given, flag] :
         {Given(&heat_map_, TANDEM_SETTING("heat-map")), Given(&pairs_, TANDEM_SETTING("pairs")),
          Given(&count_penalty_, TANDEM_SETTING("count-penalty"))}) {
      if (given->empty() || !group_by_.empty()) continue;
      throw UsageError(fmt::format(
          "{} is of groups; name their columns with " TANDEM_SETTING("group-by") ".", flag));
    }
    if (!pairs_.empty()) {
      request_.pairs = pairs_ == "all"
                           ? 0
                           : number_from<std::int64_t>(1, pairs_, TANDEM_SETTING("pairs"),
                                                       "a whole number from 1, or all");
    }
    if (!count_penalty_.empty()) {
      request_.count_penalty = number_from<double>(
          0.0, count_penalty_, TANDEM_SETTING("count-penalty"), "a number from 0");
    }
    if (!heat_map_.empty() && !request_.pairs) request_.pairs = 0;
  }

  // It has exact counts, and must not take the place of what it was made from.
  void check_heat_map() const {
    if (heat_map_.empty()) return;
    for (const auto* input :
         {&request_.real, &request_.synthetic, &request_.schema, &request_.workload}) {
      std::error_code absent;
      if (std::filesystem::equivalent(heat_map_, *input, absent)) {
        throw UsageError(
            fmt::format(TANDEM_SETTING("heat-map") " {} is a file that is read; choose another.",
                        in_quotes(heat_map_)));
      }
    }
    if (!force_ && std::filesystem::exists(heat_map_)) {
      throw UsageError(fmt::format("{} exists; choose another " TANDEM_SETTING(
                                       "heat-map") ", or " TANDEM_SETTING("force") ".",
                                   in_quotes(heat_map_)));
    }
  }

  EvaluationRequest request_;
  std::string group_by_;
  std::string pairs_;
  std::string count_penalty_;
  std::string heat_map_;
  bool force_ = false;
  CommonFlags common_;
};

}  // namespace

std::unique_ptr<Command> evaluate_command() { return std::make_unique<Evaluate>(); }

}  // namespace tandem::cli
