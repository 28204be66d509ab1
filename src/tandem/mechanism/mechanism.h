// SPDX-License-Identifier: Apache-2.0
#pragma once
// A mechanism as the registry knows it: a name, a description, options, and a function that spends
// a curator's budget on a problem.

#include <functional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "tandem/base/rng.h"
#include "tandem/mechanism/options.h"
#include "tandem/mechanism/plan.h"
#include "tandem/mechanism/problem.h"
#include "tandem/mechanism/release.h"
#include "tandem/privacy/curator.h"

namespace tandem {

enum class PublicUse {
  NotUsed,  // it never looks at public data
  Helps,    // it works without, and better with some
  Needed
};

struct Mechanism {
  std::string name;
  std::string summary;
  std::string reference;  // the paper
  PublicUse public_data = PublicUse::NotUsed;
  bool pure = false;          // also runs on a pure epsilon (delta 0)
  bool conjunctions = false;  // takes workloads of conjunctions too
  bool answers = false;       // releases answers, and no model to make rows from
  std::vector<OptionInfo> options;

  // All parameters with their values, given and default. UsageError for an unknown or wrong one.
  std::function<Parameters(const Parameters&)> resolve;
  std::function<Release(Curator&, const Problem&, const Parameters&, Rng&)> run;
  // What it would do with this budget, and what that takes beside the tables; the curator holds no
  // data here. Both are told the private rows by the size of their file (0: unknown): a number for
  // predictions alone, which no run ever sees. The second is quick.
  std::function<Plan(const Curator&, const Problem&, const Parameters&, double rows_expected)> plan;
  std::function<Effort(const Curator&, const Problem&, const Parameters&, double rows_expected)>
      effort;
  // Columns that public tables may lack, by the parameters; none: they have all.
  std::function<std::vector<std::string>(const Parameters&)> public_may_lack{};
  // Options whose value is the path of a public file, by the parameters and the columns.
  std::function<std::vector<std::string>(const Parameters&, const Domain&)> names_files{};
  // Put over other settings where a run is only rehearsed up to its first charge: they leave out
  // long work on public data that can't fail.
  Parameters rehearsed{};
};

struct MechanismText {
  std::string name;
  std::string summary;
  std::string reference;
  bool needs_public_data = false;
  bool helped_by_public_data = false;  // where it is not needed
  bool pure = false;
  bool conjunctions = false;
  bool answers = false;
};

// `plan` may leave the rows expected out.
template <class Options, class PlanOf>
Mechanism make_mechanism(const MechanismText& text,
                         Release (*run)(Curator&, const Problem&, const Options&, Rng&),
                         PlanOf plan, const std::vector<Field<Options>>& fields,
                         Effort (*effort)(const Curator&, const Problem&, const Options&,
                                          double rows_expected) = nullptr,
                         const std::vector<Printed>& printed = {}) {
  Mechanism out;
  out.name = text.name;
  out.summary = text.summary;
  out.reference = text.reference;
  if (text.helped_by_public_data) out.public_data = PublicUse::Helps;
  if (text.needs_public_data) out.public_data = PublicUse::Needed;
  out.pure = text.pure;
  out.conjunctions = text.conjunctions;
  out.answers = text.answers;
  if (!printed.empty()) out.options.push_back(as_option(printed));
  for (const auto& field : fields) out.options.push_back(field.info);
  const std::string name = text.name;
  const auto read = [=](const Parameters& given) {
    return read_options(name, fields, with_printed(printed, given));
  };
  out.resolve = [=](const Parameters& given) {
    const Options options = read(given);
    Parameters all;
    if (!printed.empty()) all.emplace_back(kAs, as_word(printed, given));
    for (const auto& field : fields) all.emplace_back(field.info.name, field.get(options));
    return all;
  };
  out.run = [=](Curator& curator, const Problem& problem, const Parameters& given, Rng& rng) {
    return run(curator, problem, read(given), rng);
  };
  out.plan = [=](const Curator& curator, const Problem& problem, const Parameters& given,
                 double rows) -> Plan {
    const Options options = read(given);
    if constexpr (std::is_invocable_v<PlanOf, const Curator&, const Problem&, const Options&,
                                      double>) {
      return plan(curator, problem, options, rows);
    } else {
      return plan(curator, problem, options);
    }
  };
  out.effort = [=](const Curator& curator, const Problem& problem, const Parameters& given,
                   double rows) {
    return effort == nullptr ? Effort{} : effort(curator, problem, read(given), rows);
  };
  return out;
}

}  // namespace tandem
