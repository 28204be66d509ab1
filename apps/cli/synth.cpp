// SPDX-License-Identifier: Apache-2.0
// tandem synth: make a release.

#include <fmt/core.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <optional>
#include <utility>

#include "commands.h"
#include "progress.h"
#include "tandem/base/document.h"
#include "tandem/engine/synth.h"

namespace tandem::cli {

namespace {

// Says a sentence when the command is interrupted, and ends it there: what was drawn is on disk.
class WhenInterrupted {
 public:
  explicit WhenInterrupted(std::string sentence) {
    sentence_ = std::move(sentence);
    std::signal(SIGINT, [](int) {
      // Only what a signal handler may do.
      [[maybe_unused]] const auto told = write(STDERR_FILENO, sentence_.data(), sentence_.size());
      _exit(130);
    });
  }
  ~WhenInterrupted() { std::signal(SIGINT, SIG_DFL); }
  WhenInterrupted(const WhenInterrupted&) = delete;
  WhenInterrupted& operator=(const WhenInterrupted&) = delete;

 private:
  static inline std::string sentence_;  // a handler has no other way to reach it
};

class Synth final : public Command {
 public:
  std::string name() const override { return "synth"; }
  std::string summary() const override {
    return "make a release: synthetic rows with a privacy guarantee";
  }

  void declare(Args& args) override {
    args_ = args;
    for_each_setting(run_.settings,
                     [&](const std::string& setting, auto& variable, const std::string& help) {
                       args.option("--" + setting, variable, help);
                     });
    args.option("--config", config_,
                "take settings from this .toml or .json file; flags win over it");
    args.flag("--plan", plan_, "say what would be done and its cost, and stop");
    args.flag("--force", run_.force, "replace a former release in --out");
    args.flag("--resume", run_.resume, "go on with an interrupted release, at no extra cost");
    common_.declare(args);
  }

  int run() override {
    run_.threads = common_.thread_count();
    run_.reading = reading_bars(!common_.quiet);
    run_.note = [this](const std::string& text) { common_.note(text); };
    const auto given = [this](std::string_view setting) {
      return args_->given("--" + std::string(setting));
    };
    if (!config_.empty()) apply(Document::read(config_), run_.settings, given);
    if (run_.resume) {
      run_.settings = settings_to_resume(run_.settings.out, run_.settings, given);
    }
    if (plan_) {
      print_plan(plan_synthesis(run_));
      return 0;
    }
    if (!common_.quiet && isatty(STDERR_FILENO) != 0) {
      run_.progress = [](std::size_t step, double spent) {
        tell(fmt::format("\r\x1b[Kstep {}, {:.0f}% of the budget{}", step, 100.0 * spent,
                         spent >= 0.9999 ? "\n" : ""));
      };
    }
    const WhenInterrupted say(fmt::format(
        "\ntandem: Interrupted. If anything was spent, {} goes on at no extra cost; until then a "
        "ledger holds the whole budget.\n",
        resuming_command(run_.settings.out)));
    const auto summary = synthesize(run_);
    if (common_.json) {
      Document out = Document::object({{"format", 1}, {"out", summary.out}});
      out.set("release", summary.release);
      fmt::print("{}\n", out.to_json());
    } else {
      fmt::print("{}", to_text(summary));
    }
    return 0;
  }

 private:
  void print_plan(const std::vector<std::string>& lines) const {
    if (common_.json) {
      Document plan = Document::array();
      for (const auto& line : lines) plan.push(line);
      fmt::print("{}\n", Document::object({{"format", 1}, {"plan", std::move(plan)}}).to_json());
    } else {
      for (const auto& line : lines) fmt::print("{}\n", line);
    }
  }

  SynthRun run_;
  std::string config_;
  bool plan_ = false;
  CommonFlags common_;
  std::optional<Args> args_;
};

}  // namespace

std::unique_ptr<Command> synth_command() { return std::make_unique<Synth>(); }

}  // namespace tandem::cli
