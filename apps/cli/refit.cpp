// SPDX-License-Identifier: Apache-2.0
// tandem refit: another release from an existing one, free of charge.

#include <fmt/core.h>

#include "commands.h"
#include "interrupt.h"
#include "progress.h"
#include "tandem/base/document.h"
#include "tandem/engine/refit.h"

namespace tandem::cli {

namespace {

class Refit final : public Command {
 public:
  std::string name() const override { return "refit"; }
  std::string summary() const override {
    return "more rows, conditional rows or another model from a release: costs no privacy";
  }

  void declare(Args& args) override {
    using enum Args::Need;
    args.option("release", request_.release, "the release folder to start from", Required);
    args.option("--out", request_.out, "the new release folder", Required);
    args.option("--rows", request_.rows, "rows to generate; 0: as many as the release has");
    args.option("--where", request_.where,
                "only such rows: 'sex = F and age < 15'; =, !=, <, <=, >, >=, in (...)");
    args.option("--max-model-mb", request_.max_model_mb,
                "fit a graphical model of at most this size to the measurements anew; 0: keep the "
                "release's model");
    args.option("--public", request_.public_sources,
                "public data, for columns that are written as it lies inside their ranges");
    args.option("--seed", request_.seed, "of the rows: the same seed gives the same ones");
    args.option("--memory-limit", request_.memory_limit,
                "such as 8GB; default: three quarters of the machine");
    args.flag("--force", request_.force, "replace a former release in --out");
    common_.declare(args);
  }

  int run() override {
    const Interruptible interruptible;
    request_.threads = common_.thread_count();
    request_.threads.cancel = interruptible.token();
    RunLine line(!common_.quiet);
    request_.note = [&](const std::string& text) {
      line.clear();
      common_.note(text);
    };
    request_.stage = [&](const std::string& doing) { line.show(doing); };
    const auto summary = refit(request_);
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
  RefitRequest request_;
  CommonFlags common_;
};

}  // namespace

std::unique_ptr<Command> refit_command() { return std::make_unique<Refit>(); }

}  // namespace tandem::cli
