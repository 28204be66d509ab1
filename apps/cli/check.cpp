// SPDX-License-Identifier: Apache-2.0
// tandem check: hold private and public files against a schema.

#include <fmt/core.h>

#include "commands.h"
#include "interrupt.h"
#include "progress.h"
#include "tandem/base/error.h"
#include "tandem/engine/check.h"

namespace tandem::cli {

namespace {

class Check final : public Command {
 public:
  std::string name() const override { return "check"; }
  std::string summary() const override {
    return "hold a private or public file against a schema (INTERNAL: for the steward alone)";
  }

  void declare(Args& args) override {
    args.option("--private", request_.private_sources,
                "a private file; may be given more than once");
    args.option("--public", request_.public_sources, "a public file; may be given more than once");
    args.option("--schema", request_.schema, "the schema: TOML or JSON", Args::Need::Required);
    args.option("--person", request_.person, "column of the private files that names the person");
    args.option("--rows-per-person", request_.rows_per_person, "rows one person may have");
    for_each_format_setting(request_.text, [&](const std::string& setting, std::string& variable,
                                               const std::string& help) {
      args.option("--" + setting, variable, help);
    });
    common_.declare(args);
  }

  bool internal() const override { return true; }

  int run() override {
    const Interruptible interruptible;
    request_.threads = common_.thread_count();
    request_.threads.cancel = interruptible.token();
    request_.reading = reading_bars(!common_.quiet);
    const auto result = check_files(request_);
    for (const auto& note : result.notes) common_.note(note);
    fmt::print("{}", common_.json ? to_document(result).to_json() + "\n" : to_text(result));
    return result.wrong() ? 1 : 0;
  }

 private:
  CheckRequest request_;
  CommonFlags common_;
};

}  // namespace

std::unique_ptr<Command> check_command() { return std::make_unique<Check>(); }

}  // namespace tandem::cli
