// SPDX-License-Identifier: Apache-2.0
// tandem synth: make a release of rows. tandem answer: make one of query answers, by the same
// steps.

#include <fmt/core.h>
#include <unistd.h>

#include <optional>
#include <utility>

#include "commands.h"
#include "interrupt.h"
#include "progress.h"
#include "tandem/base/document.h"
#include "tandem/base/error.h"
#include "tandem/engine/answer_release.h"
#include "tandem/engine/checked.h"
#include "tandem/engine/synth.h"

namespace tandem::cli {

namespace {

class Synth final : public Command {
 public:
  enum class Makes { Rows, Answers };
  explicit Synth(Makes makes) : answers_(makes == Makes::Answers) {}
  std::string name() const override { return answers_ ? "answer" : "synth"; }
  std::string summary() const override {
    return answers_ ? "make a release of query answers, each with an error bar"
                    : "make a release: synthetic rows with a privacy guarantee";
  }

  void declare(Args& args) override {
    args_ = args;
    for_each_setting(
        run_.settings, [&](const std::string& setting, auto& variable, const std::string& help) {
          if (!belongs(setting)) return;
          args.option("--" + setting, variable, answers_ ? help_of(setting, help) : help);
        });
    args.option("--config", config_,
                "take settings from this .toml or .json file; flags win over it");
    if (answers_) {
      args.option(
          "--target-error", target_error_,
          "choose epsilon for this error: rmse of shares; an --epsilon is then the most that "
          "may be spent");
      args.option("--release", from_.release,
                  "answer from this release instead: costs no privacy, reads no private data");
    }
    args.flag("--plan", plan_, "say what would be done and its cost, and stop");
    if (!answers_) {
      args.option("--group-by", run_.group_by,
                  "with --plan: columns, with commas, whose values make groups; what 'grouped' "
                  "would do for them");
    }
    args.flag("--force", run_.force, "replace a former release in --out");
    args.flag("--resume", run_.resume, "go on with an interrupted release, at no extra cost");
    common_.declare(args);
  }

  int run() override {
    const Interruptible interruptible;
    run_.threads = common_.thread_count();
    run_.threads.cancel = interruptible.token();
    run_.reading = reading_bars(!common_.quiet);
    run_.note = [this](const std::string& text) { common_.note(text); };
    if (answers_ && args_->given("--release")) return run_on_release();
    const auto given = [this](std::string_view setting) {
      return belongs(std::string(setting)) && args_->given("--" + std::string(setting));
    };
    const std::string make = answers_ ? "answers" : "rows";
    run_.settings.make = make;
    if (!config_.empty()) apply(Document::read(config_), run_.settings, given);
    if (run_.resume) {
      run_.settings = settings_to_resume(run_.settings.out, run_.settings, given);
    }
    if (run_.settings.make != make) {
      throw UsageError(fmt::format("This makes {}; use tandem {} for it.", run_.settings.make,
                                   answers_ ? "synth" : "answer"));
    }
    if (!run_.group_by.empty() && !plan_) {
      throw UsageError(
          fmt::format("--group-by goes with --plan; for rows that are right group by group, give "
                      "--mechanism grouped --param fine={}.",
                      run_.group_by));
    }
    remind_to_check();
    if (answers_ && args_->given("--target-error") && !run_.resume) {
      run_.settings.epsilon = epsilon_for_error(run_, target_error_);
      common_.note(fmt::format("An rmse of {:g} of the rows takes epsilon {:g}.", target_error_,
                               run_.settings.epsilon));
    }
    if (plan_) {
      print_plan(plan_synthesis(run_));
      return 0;
    }
    RunLine line(!common_.quiet);
    run_.progress = [&](const RunProgress& progress) {
      line.show(described(progress), progress.share);
    };
    const auto summary = synthesize(run_);
    line.clear();
    if (common_.json) {
      Document out = Document::object({{"format", 2}, {"out", summary.out}});
      out.set("release", summary.release);
      fmt::print("{}\n", out.to_json());
    } else {
      fmt::print("{}", to_text(summary, common_.quiet ? Notes::Left : Notes::Shown));
    }
    return 0;
  }

 private:
  // Which of the two commands it is says what is made; what is about rows is for rows.
  bool belongs(const std::string& setting) const {
    return setting != "make" && !(answers_ && (setting == "certify-share" || setting == "format"));
  }
  static std::string help_of(const std::string& setting, const std::string& help) {
    if (setting == "rows") return "about how many rows the private table has, for --target-error";
    if (setting == "mechanism") {
      return "hdmm, or one that makes a model: error bars are then of what it measured";
    }
    return help;
  }

  // What a call with --release may say: the rest is of runs that read private data.
  int run_on_release() {
    const auto may_stand = [](std::string_view name) {
      return name == "out" || name == "workload" || name == "memory-limit";
    };
    for_each_setting(run_.settings,
                     [&](const std::string& setting, const auto&, const std::string&) {
                       if (!belongs(setting) || may_stand(setting)) return;
                       if (args_->given("--" + setting)) refuse_beside_release("--" + setting);
                     });
    for (const char* flag : {"--config", "--target-error", "--plan", "--resume"}) {
      if (args_->given(flag)) refuse_beside_release(flag);
    }
    if (!args_->given("--out")) {
      throw UsageError("--out is missing; name the folder of the answers.");
    }
    from_.workload = run_.settings.workload;
    from_.out = run_.settings.out;
    from_.memory_limit = run_.settings.memory_limit;
    from_.force = run_.force;
    from_.threads = run_.threads;
    RunLine line(!common_.quiet);
    from_.stage = [&](const std::string& doing) { line.show(doing); };
    const auto summary = write_answers(from_);
    line.clear();
    if (common_.json) {
      Document out = Document::object({{"format", 2}, {"out", summary.out}});
      out.set("release", summary.release);
      fmt::print("{}\n", out.to_json());
    } else {
      fmt::print("{}", to_text(summary, common_.quiet ? Notes::Left : Notes::Shown));
    }
    return 0;
  }
  [[noreturn]] static void refuse_beside_release(const std::string& flag) {
    throw UsageError(fmt::format(
        "{} does not go with --release, which answers from what was released before; leave it out.",
        flag));
  }

  // For the person who sits there: a wrongly read file makes a poor release, in silence.
  void remind_to_check() const {
    const auto& s = run_.settings;
    if (run_.resume || s.schema.empty() || s.private_source.empty() || isatty(STDERR_FILENO) == 0) {
      return;
    }
    if (was_checked(s.schema, s.private_source)) return;
    common_.note(fmt::format("{} was never checked against {}: 'tandem check' says how it fits.",
                             s.private_source, s.schema));
  }

  void print_plan(const SynthPlan& plan) const {
    if (common_.json) {
      fmt::print("{}\n", Document::object({{"format", 2}, {"plan", to_document(plan)}}).to_json());
    } else {
      fmt::print("{}", to_text(plan));
    }
  }

  static std::string described(const RunProgress& progress) {
    switch (progress.stage) {
      case RunProgress::Stage::Measuring:
        return fmt::format("step {}, {:.0f}% of the budget", progress.step, 100.0 * progress.share);
      case RunProgress::Stage::MakingRows:
        return "making rows";
      case RunProgress::Stage::Writing:
        return "writing";
    }
    return "";
  }

  bool answers_ = false;
  double target_error_ = 0.0;
  SynthRun run_;
  AnswerReleaseRequest from_;
  std::string config_;
  bool plan_ = false;
  CommonFlags common_;
  std::optional<Args> args_;
};

}  // namespace

std::unique_ptr<Command> synth_command() { return std::make_unique<Synth>(Synth::Makes::Rows); }
std::unique_ptr<Command> answer_command() { return std::make_unique<Synth>(Synth::Makes::Answers); }

}  // namespace tandem::cli
