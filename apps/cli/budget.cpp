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
    return "the ledger of a private data set: create, show, limit, verify, settle";
  }

  void declare(Args& args) override {
    using enum Args::Need;
    args.option("action", action_, "create, show, limit, verify or settle", Required);
    args.option("--ledger", request_.ledger, "the ledger's file", Required);
    args.option("--dataset", request_.dataset, "create: the data set's name");
    args.option("--epsilon", request_.epsilon, "create, limit: the total budget");
    args.option("--delta", request_.delta, "create: failure probability of the guarantee");
    args.option("--neighbors", request_.neighbors, "create: replace-one or add-remove");
    args.option("--rows-per-person", request_.rows_per_person, "create: rows one person may have");
    args.option("--anchor", anchors_,
                "verify: a ledger head that a release cites; may be repeated");
    args.option("--out", request_.out,
                "settle: the release whose run died; it is closed at what its transcript proves");
    args.flag("--json", json_, "print JSON");
  }

  int run() override {
    if (action_ == "create") {
      fmt::print("{}", show_budget(create_budget(request_), json_));
      return 0;
    }
    if (action_ == "limit") {
      fmt::print("{}", show_budget(limit_budget(request_), json_));
      return 0;
    }
    if (action_ == "settle") {
      fmt::print("{}", show_budget(settle_budget(request_), json_));
      return 0;
    }
    if (action_ == "show") {
      fmt::print("{}", show_budget(Ledger::open(request_.ledger), json_));
      return 0;
    }
    if (action_ != "verify") {
      throw UsageError(
          fmt::format("tandem budget {} is unknown; choose create, show, limit, verify or settle.",
                      in_quotes(action_)));
    }
    const auto verdict = verify_budget(Ledger::open(request_.ledger), anchors_, json_);
    fmt::print("{}", verdict.text);
    return verdict.whole ? 0 : 3;
  }

 private:
  std::string action_;
  BudgetRequest request_;
  std::vector<std::string> anchors_;
  bool json_ = false;
};

}  // namespace

std::unique_ptr<Command> budget_command() { return std::make_unique<Budget>(); }

}  // namespace tandem::cli
