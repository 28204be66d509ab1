// SPDX-License-Identifier: Apache-2.0
#include "tandem/engine/release/release_documents.h"

#include <fmt/core.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "tandem/base/error.h"
#include "tandem/base/text.h"
#include "tandem/base/version.h"
#include "tandem/engine/input_files.h"
#include "tandem/engine/privacy_unit_text.h"
#include "tandem/engine/release/measurements.h"
#include "tandem/privacy/accountant.h"

namespace tandem {

namespace {

// The format of the rows, as far as flags stated it.
Document text_document(const FormatSettings& text) {
  Document out = Document::object();
  for_each_format_setting(text, [&](const char* name, const std::string& value, const char*) {
    if (!value.empty()) out.set(name, value);
  });
  return out;
}

// Files without their folders, which say something of whoever ran it.
Document parameters_document(const Parameters& parameters, std::span<const PinnedFile> files) {
  Document out = Document::object();
  for (const auto& [name, value] : parameters) {
    const bool is_file = std::ranges::find(files, name, &PinnedFile::option) != files.end();
    out.set(name, is_file ? display_names(std::span(&value, 1)).front() : value);
  }
  return out;
}

Document sources_document(const SynthSettings& s, const PinnedInputs& inputs) {
  std::vector<std::string> paths = s.public_sources;
  std::vector<std::string> digests = inputs.public_files;
  for (const auto& file : inputs.parameter_files) {
    paths.push_back(file.path);
    digests.push_back(file.digest);
  }
  Document out = Document::array();
  const auto names = display_names(paths);
  for (std::size_t i = 0; i < names.size(); ++i) {
    out.push(Document::object({{"name", names[i]}, {"sha256", digests[i]}}));
  }
  return out;
}

// Epsilon, delta and rho of an amount spent by a filter.
Document amount_document(const SynthSettings& s, const Filter& filter) {
  Document out = Document::object();
  if (filter.currency() == Currency::Pure) {
    out.set("epsilon", filter.spent().upper_bound());
    out.set("delta", 0.0);
  } else {
    const Rho rho(filter.spent().upper_bound());
    out.set("epsilon",
            rho.value() > 0.0 ? std::min(s.epsilon, epsilon_of(rho, Delta(s.delta)).value()) : 0.0);
    out.set("delta", s.delta);
  }
  out.set("rho", filter.currency() == Currency::Zcdp ? filter.spent().upper_bound()
                                                     : filter.spent_rho().value());
  return out;
}

// {"columns": ["a", "b"], "l1": 120.5, "confidence": 0.95, "supported": true}
Document bounds_document(const Domain& domain, const std::vector<ErrorBound>& bounds) {
  Document out = Document::array();
  for (const auto& bound : bounds) {
    Document columns = Document::array();
    for (const auto id : bound.clique) columns.push(domain[id].name);
    out.push(Document::object({{"columns", std::move(columns)},
                               {"l1", bound.l1},
                               {"confidence", bound.confidence},
                               {"supported", bound.supported}}));
  }
  return out;
}

Document columns_document(const Domain& domain, const Clique& clique) {
  Document out = Document::array();
  for (const auto id : clique) out.push(domain[id].name);
  return out;
}

const char* name_of(StepKind kind) {
  switch (kind) {
    case StepKind::Measure:
      return "measure";
    case StepKind::MeasureScore:
      return "measure_score";
    case StepKind::MeasureConjunctions:
      return "measure_conjunctions";
    case StepKind::DrawConjunctions:
      return "draw_conjunctions";
    case StepKind::Select:
      return "select";
    case StepKind::SelectCell:
      return "select_cell";
    case StepKind::DrawCells:
      return "draw_cells";
    case StepKind::Divide:
      return "divide";
  }
  throw InternalError("A step is of an unknown kind.");
}

Document step_document(const Domain& domain, Currency currency, const Step& step) {
  Document out = Document::object({{"kind", name_of(step.kind)}});
  if (step.group > 0) out.set("group", static_cast<std::uint64_t>(step.group));
  if (step.kind == StepKind::Measure) {
    out.set("noise", name_of(step.noise));
    Document measured = Document::array();
    for (const auto& [clique, values, sigma] : step.measured) {
      measured.push(Document::object({{"columns", columns_document(domain, clique)},
                                      {"values", static_cast<std::uint64_t>(values)},
                                      {"sigma", sigma}}));
    }
    out.set("measured", std::move(measured));
  } else if (step.kind == StepKind::MeasureScore || step.kind == StepKind::MeasureConjunctions) {
    out.set("noise", name_of(step.noise));
    out.set("sigma", step.measured.front().sigma);
    if (step.choices > 0) out.set("conjunctions", static_cast<std::uint64_t>(step.choices));
  } else if (step.kind == StepKind::Divide) {
    out.set("groups", static_cast<std::uint64_t>(step.groups));
  } else {
    out.set("choices", static_cast<std::uint64_t>(step.choices));
    out.set("draws", static_cast<std::uint64_t>(step.draws));
    out.set("epsilon_of_draw", step.epsilon);
    if (step.kind == StepKind::Select || step.kind == StepKind::SelectCell) {
      out.set("chosen", columns_document(domain, step.chosen));
    }
    if (step.kind == StepKind::Select) {
      out.set("origin", step.origin == Origin::Public ? "public" : "private");
    }
    if (step.kind == StepKind::SelectCell) {
      out.set("output", static_cast<std::uint64_t>(step.output));
    }
  }
  out.set("rho", step.rho.value());
  if (currency == Currency::Pure) out.set("epsilon", step.cost.upper_bound());
  return out;
}

}  // namespace

Document guarantee_document(const SynthSettings& s, const Curator& gate, Records records) {
  Document guarantee = Document::object({{"epsilon", s.epsilon}, {"delta", s.delta}});
  if (gate.currency() == Currency::Zcdp) guarantee.set("rho", gate.filter().total().upper_bound());
  const PrivacyUnit& unit = gate.unit();
  guarantee.set("neighbors", name_of(unit.neighbors));
  guarantee.set("rows_per_person", std::int64_t{unit.rows_per_person});
  guarantee.set("person_may_be_absent", unit.may_be_absent);
  guarantee.set("records", records_key(records));
  return guarantee;
}

Document release_document(const SynthSettings& s, const PreparedRun& run, const Curator& curator,
                          const Release& release, const ReleaseFacts& facts) {
  const Prepared& p = run.parts;
  Document steps = Document::array();
  for (const auto& step : curator.history()) {
    steps.push(step_document(p.schema.domain(), curator.currency(), step));
  }
  Document out = Document::object(
      {{"format", kReleaseFormat}, {"tandem", version()}, {"id", facts.id}, {"day", facts.day}});
  std::vector<std::string> reasons;
  if (curator.seeded()) {
    out.set("seeded", true);
    reasons.emplace_back("seeded");
  }
  if (s.private_as_public) {
    out.set("private_as_public", true);
    reasons.emplace_back("private data as public");
  }
  if (!reasons.empty()) {
    out.set("private", false);
    out.set("stamp", fmt::format("NOT PRIVATE ({})", fmt::join(reasons, ", ")));
  }
  out.set("mechanism", p.mechanism.name);
  out.set("parameters", parameters_document(p.parameters, run.inputs.parameter_files));
  out.set("workload", display_workload(p.workload.name()));
  out.set("guarantee", guarantee_document(s, curator, p.schema.format().records));
  out.set("spent", amount_document(s, curator.filter()));
  out.set("steps", std::move(steps));
  out.set("public", sources_document(s, run.inputs));
  if (!run.table.facts.decoder.empty()) out.set("decoder", run.table.facts.decoder);
  out.set("total", release.total);
  if (release.rows) out.set("rows", static_cast<std::uint64_t>(release.rows->rows()));
  if (!release.repeats.empty()) {
    out.set("rows", static_cast<std::uint64_t>(release.repeats.size()));
    out.set("pairs", true);
  }
  if (!release.answers.empty()) {
    out.set("answers", static_cast<std::uint64_t>(release.answers.size()));
  }
  if (auto text = text_document(s.text); !text.as_object().empty())
    out.set("text", std::move(text));
  out.set("schema_sha256", p.schema_digest);
  out.set("measurements_sha256", facts.files.measurements);
  if (!facts.files.model.empty()) out.set("model_sha256", facts.files.model);
  out.set("facts", release.facts);
  out.set("warnings", warnings_document(release.warnings));
  if (const auto& error = release.certified_error) {
    out.set("certified_error",
            Document::object({{"average_error", error->average_error},
                              {"stddev", error->stddev},
                              {"at_most", error->at_most},
                              {"confidence", error->confidence},
                              {"marginals", static_cast<std::uint64_t>(error->marginals)},
                              {"of_marginals", static_cast<std::uint64_t>(error->of_marginals)}}));
  }
  if (!release.error_bounds.empty()) {
    out.set("error_bounds", bounds_document(p.schema.domain(), release.error_bounds));
  }
  return out;
}

std::vector<Warning> warnings_in(const Document& release) {
  std::vector<Warning> out;
  for (const auto& warning : release.at("warnings").as_array()) {
    if (warning.is_object()) {
      out.push_back({warning.at("key").as_string(), warning.at("text").as_string()});
    } else {
      out.push_back({"", warning.as_string()});  // format 1
    }
  }
  return out;
}

Document warnings_document(const std::vector<Warning>& warnings) {
  Document out = Document::array();
  for (const auto& [key, text] : warnings) {
    out.push(Document::object({{"key", key}, {"text", plain(text)}}));
  }
  return out;
}

namespace {

// Six digits, and tenths of a row where six are too few for them.
std::string in_rows(double number) {
  constexpr double kSixDigits = 1e5;
  return std::abs(number) < kSixDigits ? fmt::format("{:.6g}", number)
                                       : fmt::format("{:.1f}", number);
}

}  // namespace

std::string answers_text(const std::vector<Answer>& answers) {
  constexpr double kOf95Percent = 1.959963984540054;  // standard deviations of a normal
  std::string out = "query,estimate,stddev,ci95_low,ci95_high\n";
  for (const auto& [query, estimate, stddev, margin95, measured] : answers) {
    if (!stddev) {
      out += fmt::format("{},{},,,\n", csv_field(query), in_rows(estimate));
      continue;
    }
    const double margin = margin95.value_or(kOf95Percent * *stddev);
    const double middle = measured.value_or(estimate);
    out += fmt::format("{},{},{:.6g},{},{}\n", csv_field(query), in_rows(estimate), *stddev,
                       in_rows(middle - margin), in_rows(middle + margin));
  }
  return out;
}

}  // namespace tandem
