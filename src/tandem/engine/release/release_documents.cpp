// SPDX-License-Identifier: Apache-2.0
#include "tandem/engine/release/release_documents.h"

#include <algorithm>

#include "tandem/base/version.h"
#include "tandem/engine/input_files.h"
#include "tandem/engine/privacy_unit_text.h"
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

Document parameters_document(const Parameters& parameters) {
  Document out = Document::object();
  for (const auto& [name, value] : parameters) out.set(name, value);
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

}  // namespace

Document release_document(const SynthSettings& s, const Prepared& p, const Curator& curator,
                          const Release& release, std::size_t rows, const ReleaseFacts& facts) {
  Document guarantee = Document::object({{"epsilon", s.epsilon}, {"delta", s.delta}});
  if (p.filter.currency() == Currency::Zcdp) guarantee.set("rho", p.filter.total().upper_bound());
  guarantee.set("neighbors", name_of(p.unit.neighbors));
  guarantee.set("rows_per_person", std::int64_t{p.unit.rows_per_person});
  guarantee.set("person_may_be_absent", p.unit.may_be_absent);

  Document steps = Document::array();
  for (const auto& charge : curator.filter().charges()) {
    Document step = Document::object({{"what", charge.what}, {"rho", charge.rho.value()}});
    if (p.filter.currency() == Currency::Pure) step.set("epsilon", charge.cost.upper_bound());
    steps.push(std::move(step));
  }
  Document sources = Document::array();
  const auto names = display_names(s.public_sources);
  for (std::size_t i = 0; i < names.size(); ++i) {
    sources.push(Document::object({{"name", names[i]}, {"sha256", facts.inputs.public_files[i]}}));
  }
  Document out = Document::object(
      {{"format", kReleaseFormat}, {"tandem", version()}, {"id", facts.id}, {"day", facts.day}});
  if (curator.seeded()) {
    out.set("seeded", true);
    out.set("private", false);
    out.set("stamp", "NOT PRIVATE (seeded)");
  }
  out.set("mechanism", p.mechanism.name);
  out.set("parameters", parameters_document(p.parameters));
  out.set("workload", display_workload(p.workload.name()));
  out.set("guarantee", std::move(guarantee));
  out.set("spent", amount_document(s, curator.filter()));
  out.set("steps", std::move(steps));
  out.set("public", std::move(sources));
  out.set("total", release.total);
  out.set("rows", static_cast<std::uint64_t>(rows));
  if (auto text = text_document(s.text); !text.as_object().empty())
    out.set("text", std::move(text));
  out.set("schema_sha256", p.schema_digest);
  out.set("measurements_sha256", facts.files.measurements);
  if (!facts.files.model.empty()) out.set("model_sha256", facts.files.model);
  if (!release.notes.empty()) {
    out.set("notes", Document::array({release.notes.begin(), release.notes.end()}));
  }
  out.set("warnings", Document::array({release.warnings.begin(), release.warnings.end()}));
  if (!release.error_bounds.empty()) {
    out.set("error_bounds", bounds_document(p.schema.domain(), release.error_bounds));
  }
  return out;
}

}  // namespace tandem
