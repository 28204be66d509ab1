// SPDX-License-Identifier: Apache-2.0
#include "tandem/engine/synth.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <memory>
#include <optional>
#include <utility>

#include "tandem/base/digest.h"
#include "tandem/base/error.h"
#include "tandem/base/text.h"
#include "tandem/engine/measurements.h"
#include "tandem/engine/preparation.h"
#include "tandem/engine/privacy_unit_text.h"
#include "tandem/engine/release_documents.h"
#include "tandem/engine/release_folder.h"
#include "tandem/engine/run_record.h"
#include "tandem/mechanism/registry.h"
#include "tandem/model/fitted_rows.h"
#include "tandem/model/model_file.h"
#include "tandem/privacy/accountant.h"
#include "tandem/privacy/ledger.h"
#include "tandem/privacy/private_data.h"
#include "tandem/source/memory_source.h"
#include "tandem/source/open.h"

namespace tandem {

namespace {

std::size_t rows_to_make(const SynthSettings& s, const Release& release) {
  if (s.rows > 0) return static_cast<std::size_t>(s.rows);
  const double rows =
      std::clamp(std::nearbyint(release.total), 1.0, static_cast<double>(kMostRows));
  return static_cast<std::size_t>(rows);
}

// The schema goes with the rows it describes, under the name of its format.
std::string schema_file_name(const SynthSettings& s) {
  return s.schema.empty() || s.schema.ends_with(".toml") ? "schema.toml" : "schema.json";
}

// What a refit goes on from: the measurements and the model.
FileDigests write_models(const ReleaseFolder& folder, const Domain& domain,
                         const Release& release) {
  FileDigests out;
  const auto text = measurements_document(domain, release.measurements).to_json() + "\n";
  folder.write(kMeasurementsFile, text);
  out.measurements = sha256_hex(text);
  if (const auto model = write_model(*release.model)) {
    folder.write(kModelFile, *model);
    out.model = sha256_hex(*model);
  }
  return out;
}

bool keep_nothing(std::string_view /*setting*/) { return false; }

}  // namespace

SynthSettings settings_to_resume(const std::string& out, const SynthSettings& given,
                                 const std::function<bool(std::string_view)>& keep) {
  if (ReleaseFolder::is_whole(out) && !ReleaseFolder::is_interrupted(out)) return given;
  const auto keep_or_out = [&](std::string_view name) { return name == "out" || keep(name); };
  return read_record(ReleaseFolder::resume(out).record(), given, keep_or_out).settings;
}

SynthSummary synthesize(const SynthRun& run) {
  const SynthSettings& s = run.settings;
  SynthSummary summary;
  summary.out = s.out;
  if (run.resume && ReleaseFolder::is_whole(s.out) && !ReleaseFolder::is_interrupted(s.out)) {
    summary.was_whole = true;
    summary.release = ReleaseFolder::read_release(s.out);
    if (summary.release.at("format").as_integer() != kReleaseFormat) {
      summary.release.at("format").fail("was written by another version; read it with that one.");
    }
    return summary;
  }

  const Prepared p = prepare(s, run.find, run.threads, run.note);
  check_memory(s, p.schema);
  const Problem problem =
      problem_of(p, load_public(s, p.schema, run.threads, run.note, run.reading));
  check_memory(s, p.schema, memory_of_mechanism(s, p, problem));
  const Schema writing = learn_inside(p.schema, s.public_sources);
  const bool seeded = s.seed >= 0;
  const auto seed = static_cast<std::uint64_t>(s.seed);
  std::shared_ptr<Ledger> ledger;
  if (!s.ledger.empty()) ledger = std::make_shared<Ledger>(Ledger::open(s.ledger));

  // The run's id is on disk before the ledger hears of it, so that a crash loses neither.
  ReleaseFolder folder =
      run.resume ? ReleaseFolder::resume(s.out)
                 : ReleaseFolder::start(
                       s.out, run.force,
                       to_document(RunRecord{.id = Ledger::new_run_id(),
                                             .rng = seeded ? seed : SystemEntropy().word(),
                                             .schema_digest = p.schema_digest,
                                             .settings = s}));
  const RunRecord record = read_record(folder.record(), {}, keep_nothing);
  check_same_run(record, s, p.schema_digest);
  if (ledger) {
    try {
      const std::string label = std::filesystem::absolute(folder.file("")).parent_path().stem();
      ledger->reserve(record.id, {p.mechanism.name, label, p.unit, seeded}, p.filter.reservation());
    } catch (const BudgetError&) {
      if (!run.resume) folder.discard();
      throw;
    }
  }

  std::unique_ptr<EntropySource> entropy;
  if (seeded) {
    entropy = std::make_unique<SeededEntropy>(seed);
  } else {
    entropy = std::make_unique<SystemEntropy>();
  }
  Rng rng(record.rng);
  std::optional<Curator> gate;
  Release release;
  try {
    gate.emplace(
        open_private(s.private_source, p.schema,
                     {p.unit, s.person, run.threads, progress_of(run.reading, s.private_source)}),
        p.filter, std::move(entropy), file_transcript(folder.transcript(), ledger, record.id),
        CuratorSettings{.unit = p.unit, .threads = run.threads, .progress = run.progress});
    release = p.mechanism.run(*gate, problem, p.parameters, rng);
  } catch (const Error&) {
    // Privacy: the filter says that nothing was charged, so nothing private was drawn.
    if (!run.resume && (!gate || gate->filter().spent().is_zero())) {
      if (ledger) ledger->settle(record.id, p.filter.settlement());
      folder.discard();
    }
    throw;
  }
  const Curator& curator = *gate;

  const std::size_t rows = rows_to_make(s, release);
  Table sampled = fitted_rows(*release.model, p.workload, rows, rng, memory_limit(s));
  settle_rows(p.schema.rules(), sampled, rng);
  write_csv(folder.file(kRowsFile), writing, sampled, rng);
  sync_to_disk(folder.file(kRowsFile));
  folder.write(schema_file_name(s), p.schema_text);
  const FileDigests files = write_models(folder, problem.domain, release);

  summary.release = release_document(s, p, curator, release, rows, files);
  if (ledger) {
    ledger->settle(record.id, curator.filter().settlement());
    summary.release.set("ledger", Document::object({{"dataset", ledger->terms().dataset},
                                                    {"run", record.id},
                                                    {"head", ledger->head()}}));
  }
  folder.write("release.json", summary.release.to_json(2) + "\n");
  folder.publish();
  return summary;
}

std::vector<std::string> plan_synthesis(const SynthRun& run) {
  const SynthSettings& s = run.settings;
  const Prepared p = prepare(s, run.find, run.threads, run.note);
  check_memory(s, p.schema);
  PublicData public_data = load_public(s, p.schema, run.threads, run.note, run.reading);
  const double rows_expected = expected_rows(s, p.schema, public_data);
  const Problem problem = problem_of(p, std::move(public_data), rows_expected);
  check_memory(s, p.schema, memory_of_mechanism(s, p, problem));
  // A curator of no rows knows every price and scale, and has nothing to tell.
  const Curator curator(PrivateData(memory_source(Table(problem.domain, 0))), p.filter,
                        std::make_unique<SystemEntropy>(), memory_transcript(),
                        {.unit = p.unit, .threads = {}, .progress = {}});
  std::vector<std::string> lines;
  lines.push_back(fmt::format("Mechanism {}: {}.", p.mechanism.name, p.mechanism.summary));
  std::string guarantee = fmt::format("Guarantee: epsilon {:g}, delta {:g}", s.epsilon, s.delta);
  if (p.filter.currency() == Currency::Zcdp) {
    guarantee += fmt::format(" (rho {:.6g})", p.filter.total().upper_bound());
  }
  lines.push_back(fmt::format("{}, {}, {} row{} a person.", guarantee, name_of(p.unit.neighbors),
                              p.unit.rows_per_person, p.unit.rows_per_person == 1 ? "" : "s"));
  for (auto& line : p.mechanism.plan(curator, problem, p.parameters)) {
    lines.push_back(std::move(line));
  }
  lines.push_back(
      fmt::format("Memory: at most about {}, within the limit of {}.",
                  human_bytes(predicted_memory(s, p.schema, memory_of_mechanism(s, p, problem))),
                  human_bytes(memory_limit(s))));
  if (!s.ledger.empty()) {
    const auto report = Ledger::open(s.ledger).report();
    const double left =
        p.filter.currency() == Currency::Pure ? report.left_pure.value() : report.left_rho.value();
    const bool accepted = p.filter.total().upper_bound() <= left && report.terms.unit == p.unit;
    lines.push_back(
        fmt::format("Ledger {}: {:.6g} of epsilon {:g} is spent or reserved; it would {} "
                    "this run.",
                    s.ledger, report.total.epsilon.value(), report.terms.epsilon.value(),
                    accepted ? "accept" : "refuse"));
  }
  lines.emplace_back("Nothing was spent and no private data was read.");
  return lines;
}

std::string to_text(const SynthSummary& summary) {
  const Document& r = summary.release;
  const Document& guarantee = r.at("guarantee");
  const Document& spent = r.at("spent");
  std::string out;
  if (summary.was_whole) out += "The release was already whole.\n";
  if (r.find("seeded") != nullptr) out += "NOT PRIVATE (seeded): for tests and research only\n";
  out += fmt::format("{}\n", summary.out);
  const auto line = [&](std::string_view name, const std::string& text) {
    out += fmt::format("  {:<12} {}\n", name, text);
  };
  line("mechanism", r.at("mechanism").as_string());
  line("rows", with_commas(static_cast<std::uint64_t>(r.at("rows").as_integer())));
  line("guarantee",
       fmt::format("epsilon {:g}, delta {:g}, {}, {} row{} a person",
                   guarantee.at("epsilon").as_number(), guarantee.at("delta").as_number(),
                   guarantee.at("neighbors").as_string(),
                   guarantee.at("rows_per_person").as_integer(),
                   guarantee.at("rows_per_person").as_integer() == 1 ? "" : "s"));
  line("spent",
       fmt::format("epsilon {:.6g} at delta {:g} (rho {:.6g})", spent.at("epsilon").as_number(),
                   spent.at("delta").as_number(), spent.at("rho").as_number()));
  if (const auto* ledger = r.find("ledger")) {
    line("ledger", ledger->at("dataset").as_string());
  }
  line("files", r.find("model_sha256") != nullptr
                    ? "synthetic.csv, measurements.json, model.bin, release.json and the schema"
                    : "synthetic.csv, measurements.json, release.json and the schema");
  if (const auto* notes = r.find("notes")) {
    for (const auto& note : notes->as_array()) line("note", note.as_string());
  }
  for (const auto& warning : r.at("warnings").as_array()) {
    line("warning", warning.as_string());
  }
  return out;
}

}  // namespace tandem
