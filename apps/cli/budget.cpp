// SPDX-License-Identifier: Apache-2.0
// tandem budget: the ledger of a private data set.

#include <fmt/core.h>

#include "commands.h"
#include "tandem/base/error.h"
#include "tandem/base/text.h"
#include "tandem/engine/budget.h"

namespace tandem::cli {

namespace {

class Budget final : public Command {
 public:
  std::string name() const override { return "budget"; }
  std::string summary() const override {
    return "the ledger of a private data set: create, show, limit, verify";
  }

  void declare(Args& args) override {
    using enum Args::Need;
    args.option("action", action_, "create, show, limit or verify", Required);
    args.option("--ledger", request_.ledger, "the ledger's file", Required);
    args.option("--dataset", request_.dataset, "create: the data set's name");
    args.option("--epsilon", request_.epsilon, "create, limit: the total budget");
    args.option("--delta", request_.delta, "create: failure probability of the guarantee");
    args.option("--neighbors", request_.neighbors, "create: replace-one or add-remove");
    args.option("--rows-per-person", request_.rows_per_person,
                "create: rows one person may have");
    args.option("--anchor", request_.anchors,
                "verify: a ledger head that a release cites; may be repeated");
    args.flag("--json", json_, "print JSON");
  }

  int run() override {
    if (action_ == "create") return print(create_budget(request_));
    if (action_ == "show") return print(show_budget(request_));
    if (action_ == "limit") return print(limit_budget(request_));
    if (action_ != "verify") {
      throw UsageError(fmt::format("tandem budget {} is unknown; choose create, show, limit or verify.",
                                   in_quotes(action_)));
    }
    const auto report = verify_budget(request_);
    print(report);
    return report.whole() ? 0 : 3;
  }

 private:
  template <class Report>
  int print(const Report& report) const {
    if (json_) {
      fmt::print("{}\n", to_document(report).to_json());
    } else {
      fmt::print("{}", to_text(report));
    }
    return 0;
  }

  std::string action_;
  BudgetRequest request_;
  bool json_ = false;
};

}  // namespace

std::unique_ptr<Command> budget_command() { return std::make_unique<Budget>(); }

}  // namespace tandem::cli
