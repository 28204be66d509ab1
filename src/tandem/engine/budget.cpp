// SPDX-License-Identifier: Apache-2.0
#include "tandem/engine/budget.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <memory>
#include <vector>

#include "tandem/base/error.h"
#include "tandem/base/text.h"
#include "tandem/engine/privacy_unit_text.h"
#include "tandem/engine/release/release_documents.h"
#include "tandem/engine/release/release_folder.h"
#include "tandem/engine/reliability.h"
#include "tandem/engine/synth.h"
#include "tandem/privacy/accountant.h"
#include "tandem/privacy/filter.h"
#include "tandem/privacy/transcript.h"

namespace tandem {

namespace {

Document to_document(const LedgerTotal& total) {
  return Document::object({{"epsilon", total.epsilon.value()},
                           {"composition", std::string(name_of(total.composition))}});
}

Document to_document(const LedgerCharge& charge) {
  return Document::object(
      {{"pure_epsilon", charge.pure ? Document(charge.pure->upper_bound()) : Document()},
       {"rho", charge.rho.upper_bound()}});
}

// How many rows there are no ledger knows.
std::vector<Warning> warnings_of(const LedgerTerms& terms) {
  return promise_warnings(terms.epsilon.value(), terms.delta.value(), 0.0);
}

// What is left of a zCDP run, as the epsilon a person would ask for.
Epsilon left_epsilon(const LedgerReport& report) {
  return report.left_rho.value() > 0.0 ? epsilon_of(report.left_rho, report.terms.delta)
                                       : Epsilon(0.0);
}

// Four digits, rounded up for what is spent and down for what is left.
std::string rounded(double value, double (*direction)(double)) {
  if (!(value > 0.0)) return "0";
  const double unit = std::pow(10.0, std::floor(std::log10(value)) - 3.0);
  const double near = std::round(value / unit);  // 0.25 stays 0.25 whatever its last bits say
  const double steps = std::abs(value / unit - near) < 1e-9 * near ? near : direction(value / unit);
  return fmt::format("{:.4g}", steps * unit);
}
std::string up(double value) { return rounded(value, std::ceil); }
std::string down(double value) { return rounded(value, std::floor); }

// A charge as the epsilon it has by itself, at the ledger's delta unless it is pure.
std::string amount(const LedgerCharge& charge, Delta delta) {
  if (charge.pure) return fmt::format("epsilon {}, pure", up(charge.pure->upper_bound()));
  const Rho rho(charge.rho.upper_bound());
  return "epsilon " + up(rho.value() > 0.0 ? epsilon_of(rho, delta).value() : 0.0);
}

std::string_view how(Composition composition) {
  switch (composition) {
    case Composition::Pure:
      return "sum of pure epsilons, delta 0";
    case Composition::Zcdp:
      return "all as zCDP";
    case Composition::Mixed:
      return "pure epsilons, and zCDP for the rest";
  }
  return "";
}

std::string total_line(std::string_view title, const LedgerTotal& total) {
  if (total.epsilon.value() == 0.0) return fmt::format("{:<10}nothing\n", title);
  return fmt::format("{:<10}epsilon {} ({})\n", title, up(total.epsilon.value()),
                     how(total.composition));
}

// Code points, not bytes, so that columns line up.
std::size_t width(std::string_view text) {
  return static_cast<std::size_t>(
      std::ranges::count_if(text, [](char c) { return (c & 0xc0) != 0x80; }));
}

}  // namespace

namespace {

Epsilon total_budget(const BudgetRequest& request) {
  if (!(request.epsilon > 0.0)) {
    throw UsageError(
        TANDEM_SETTING("epsilon") " is missing or not positive; give the total budget, such as 4.");
  }
  return Epsilon(request.epsilon);
}

}  // namespace

Ledger limit_budget(const BudgetRequest& request) {
  const Epsilon epsilon = total_budget(request);
  Ledger ledger = Ledger::open(request.ledger);
  ledger.set_limit(epsilon);
  return ledger;
}

Ledger settle_budget(const BudgetRequest& request) {
  if (request.out.empty()) {
    throw UsageError(
        TANDEM_SETTING("out") " is missing; name the release that the dead run was to make.");
  }
  auto ledger = std::make_shared<Ledger>(Ledger::open(request.ledger));
  ReleaseFolder folder = ReleaseFolder::resume(request.out);
  const std::string run = folder.record().at("run").as_string();
  const RunState state = ledger->state(run);
  if (state.spent) {
    throw UsageError(
        fmt::format("{}: this run is settled; resume it with {} to finish its release.",
                    request.ledger, resuming_command(request.out)));
  }
  // The last line may have reached the disk and not the ledger. It was drawn, so it counts.
  auto transcript = file_transcript(folder.transcript(), ledger, run);
  const auto lines = transcript_lines(folder.transcript());
  Filter filter = state.reserved.pure ? Filter::pure(Epsilon(state.reserved.pure->upper_bound()))
                                      : Filter::zcdp(Rho(state.reserved.rho.upper_bound()));
  for (std::size_t step = 0; step < lines.size(); ++step) {
    filter.charge_again(*transcript->recall(step));  // BudgetError for one of another digest
  }
  ledger->settle(run, filter.settlement(), static_cast<std::int64_t>(lines.size()));
  folder.discard();
  return Ledger::open(request.ledger);
}

Ledger create_budget(const BudgetRequest& request) {
  if (request.dataset.empty())
    throw UsageError(TANDEM_SETTING("dataset") " is missing; name the private data set.");
  return Ledger::create(request.ledger,
                        {request.dataset, total_budget(request), Delta(request.delta),
                         parse_privacy_unit(request.neighbors, request.rows_per_person)});
}

std::string show_budget(const Ledger& ledger, bool json) {
  const LedgerReport report = ledger.report();
  return json ? to_document(report).to_json(2) + "\n" : to_text(report);
}

Verdict verify_budget(const Ledger& ledger, std::span<const std::string> anchors, bool json) {
  const VerifyReport report = ledger.verify(anchors);
  return {report.whole(), json ? to_document(report).to_json(2) + "\n" : to_text(report)};
}

std::string left_in_words(const LedgerReport& report) {
  const std::string pure = down(report.left_pure.value());
  const double delta = report.terms.delta.value();
  if (delta == 0.0) return "a pure run of epsilon " + pure;
  return fmt::format("a run of epsilon {} at delta {}, or a pure one of epsilon {}",
                     down(left_epsilon(report).value()), delta, pure);
}

std::string budget_in_words(const LedgerReport& report) {
  return fmt::format("epsilon {} of {} is spent or reserved; left is {}",
                     up(report.total.epsilon.value()), report.terms.epsilon.value(),
                     left_in_words(report));
}

Document to_document(const LedgerReport& report) {
  Document runs = Document::array();
  for (const LedgerRun& run : report.runs) {
    runs.push(Document::object({{"id", run.id},
                                {"time", run.time},
                                {"mechanism", run.mechanism},
                                {"label", run.label},
                                {"state", run.spent ? "settled" : "open"},
                                {"steps", run.steps},
                                {"reserved", to_document(run.reserved)},
                                {"spent", run.spent ? to_document(*run.spent) : Document()}}));
  }
  return Document::object({{"format", 1},
                           {"dataset", report.terms.dataset},
                           {"created", report.created},
                           {"neighbors", std::string(name_of(report.terms.unit.neighbors))},
                           {"rows_per_person", report.terms.unit.rows_per_person},
                           {"limit", Document::object({{"epsilon", report.terms.epsilon.value()},
                                                       {"delta", report.terms.delta.value()}})},
                           {"spent", to_document(report.spent)},
                           {"reserved", to_document(report.reserved)},
                           {"total", to_document(report.total)},
                           {"left", Document::object({{"pure_epsilon", report.left_pure.value()},
                                                      {"epsilon", left_epsilon(report).value()},
                                                      {"rho", report.left_rho.value()}})},
                           {"head", report.head},
                           {"warnings", warnings_document(warnings_of(report.terms))},
                           {"runs", std::move(runs)}});
}

std::string to_text(const LedgerReport& report) {
  const LedgerTerms& terms = report.terms;
  std::string out = fmt::format("{:<10}{}, since {}\n", "Data set", terms.dataset, report.created);
  out += fmt::format("{:<10}{}, {} row{} per person\n", "Protects", name_of(terms.unit.neighbors),
                     terms.unit.rows_per_person, terms.unit.rows_per_person == 1 ? "" : "s");
  out += fmt::format("{:<10}epsilon {} at delta {}\n", "Limit", terms.epsilon.value(),
                     terms.delta.value());
  out += total_line("Spent", report.spent);
  out += total_line("Reserved", report.reserved);
  out += total_line("Together", report.total);
  out += fmt::format("{:<10}{}\n", "Left", left_in_words(report));
  out += fmt::format("{:<10}{}\n", "Head", report.head);
  for (const auto& warning : warnings_of(terms)) out += "Warning: " + warning.text + "\n";
  if (report.runs.empty()) return out + "\nNo runs yet.\n";

  using Row = std::array<std::string, 6>;
  std::vector<Row> rows = {{"reserved at", "mechanism", "release", "state", "reserved", "spent"}};
  for (const LedgerRun& run : report.runs) {
    rows.push_back({run.time, run.mechanism, run.label, run.spent ? "settled" : "open",
                    amount(run.reserved, terms.delta),
                    run.spent ? amount(*run.spent, terms.delta) : "all, until settled"});
  }
  std::array<std::size_t, 6> widths{};
  for (const Row& row : rows) {
    for (std::size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], width(row[i]));
  }
  out += '\n';
  for (const Row& row : rows) {
    for (std::size_t i = 0; i < row.size(); ++i) {
      out += row[i];
      if (i + 1 < row.size()) out += std::string(widths[i] - width(row[i]) + 2, ' ');
    }
    out += '\n';
  }
  return out;
}

Document to_document(const VerifyReport& report) {
  return Document::object({{"format", 1},
                           {"whole", report.whole()},
                           {"entries", report.entries},
                           {"head", report.head},
                           {"fault", report.whole() ? Document() : Document(report.fault)}});
}

std::string to_text(const VerifyReport& report) {
  if (report.whole()) {
    return fmt::format("The ledger is whole: {} entries, head {}.\n",
                       with_commas(static_cast<std::uint64_t>(report.entries)), report.head);
  }
  return fmt::format("The ledger is NOT whole: {}.\n", report.fault);
}

}  // namespace tandem
