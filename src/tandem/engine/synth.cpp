// SPDX-License-Identifier: Apache-2.0
#include "tandem/engine/synth.h"

#include <fmt/core.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <filesystem>
#include <memory>
#include <new>
#include <optional>
#include <utility>

#include "tandem/base/digest.h"
#include "tandem/base/error.h"
#include "tandem/base/text.h"
#include "tandem/engine/input_files.h"
#include "tandem/engine/preparation.h"
#include "tandem/engine/privacy_unit_text.h"
#include "tandem/engine/rehearsal.h"
#include "tandem/engine/release/measurements.h"
#include "tandem/engine/release/release_documents.h"
#include "tandem/engine/release/release_folder.h"
#include "tandem/engine/release/run_record.h"
#include "tandem/engine/reliability.h"
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

// As many as asked for, or as the private table has or is estimated to have. A noisy total can be
// far too large, so what would not fit into memory is not made.
std::size_t rows_to_make(const SynthSettings& s, const Domain& domain, Release& release) {
  if (s.rows > 0) return static_cast<std::size_t>(s.rows);
  constexpr double kCopies = 4.0;  // sampled, fitted and written
  double row = 0.0;
  for (const auto& attribute : domain.attributes()) {
    row += static_cast<double>(code_width(attribute.size));
  }
  const double most = std::min(static_cast<double>(kMostRows),
                               std::max(1.0, std::floor(memory_limit(s) / (kCopies * row))));
  const double wanted = std::nearbyint(release.total);
  if (wanted > most) {
    release.warnings.push_back(fmt::format(
        "The estimated {:.4g} rows do not fit into memory, so {:.4g} were made; state --rows.",
        wanted, most));
  }
  return static_cast<std::size_t>(std::clamp(wanted, 1.0, most));
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

namespace {

// A release's name: random, or of a seeded run from its seed. A run that goes on keeps it.
std::string release_id(const RunRecord& record) {
  const bool seeded = record.settings.seed >= 0;
  const std::string from = seeded ? fmt::format("seed {}", record.settings.seed) : record.id;
  return sha256_hex("release of " + from).substr(0, 32);
}

std::string today() {
  const auto day = std::chrono::floor<std::chrono::days>(std::chrono::system_clock::now());
  const std::chrono::year_month_day date(day);
  return fmt::format("{:04}-{:02}-{:02}", static_cast<int>(date.year()),
                     static_cast<unsigned>(date.month()), static_cast<unsigned>(date.day()));
}

// The same kind of error, with what became of the run.
[[noreturn]] void throw_with(const Error& error, const std::string& sentence) {
  const std::string text = std::string(error.what()) + " " + sentence;
  if (dynamic_cast<const SchemaError*>(&error) != nullptr) throw SchemaError(text);
  if (dynamic_cast<const UsageError*>(&error) != nullptr) throw UsageError(text);
  if (dynamic_cast<const BudgetError*>(&error) != nullptr) throw BudgetError(text);
  if (dynamic_cast<const SourceError*>(&error) != nullptr) throw SourceError(text);
  throw InternalError(text);
}

// A run on its way from its reservation to its release, and what becomes of it when it fails.
struct Underway {
  const SynthRun& run;
  const Prepared& p;
  ReleaseFolder folder;
  RunRecord record;
  std::shared_ptr<Ledger> ledger;
  std::optional<Curator> gate;
  bool settled = false;

  void settle() {
    const auto steps = gate ? static_cast<std::int64_t>(gate->steps()) : 0;
    if (ledger) {
      ledger->settle(record.id, gate ? gate->filter().settlement() : p.filter.settlement(), steps);
    }
    settled = true;
  }

  // Nothing was charged, so nothing private was drawn.
  bool is_untouched() const { return !run.resume && (!gate || gate->filter().spent().is_zero()); }

  // Disk, source, memory and transcript can be better next time; anything else would come again.
  bool can_go_on(const Error& error) const {
    return settled || !gate || gate->interrupted() ||
           dynamic_cast<const SourceError*>(&error) != nullptr;
  }

  std::string how_to_go_on() const {
    return fmt::format(
        "Nothing is lost: {} goes on at no extra cost{}.", resuming_command(run.settings.out),
        ledger && !settled ? ", and until then the ledger holds the whole budget" : "");
  }

  // Ends the run after an error, and says what became of it; one that drew nothing leaves nothing.
  void fail(const Error& error) {
    if (is_untouched()) {
      settle();
      folder.discard();
      return;
    }
    if (can_go_on(error)) throw_with(error, how_to_go_on());
    try {
      settle();
    } catch (const Error&) {  // another copy of the run went further: it alone can end it
      throw_with(error, how_to_go_on());
    }
    folder.discard();
    const Filter& filter = gate->filter();
    throw_with(
        error,
        fmt::format("Of this run's budget {:.3g}% was spent on steps that were taken "
                    "{}; it can't be resumed.",
                    100.0 * filter.spent().upper_bound() / filter.total().lower_bound(),
                    ledger ? "and the rest was given back to the ledger" : "before it failed"));
  }
};

}  // namespace

std::string resuming_command(const std::string& out) {
  return fmt::format("'tandem synth --resume --out {}'", out);
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
  const PinnedInputs inputs{.schema = p.schema_digest,
                            .workload = p.workload.digest(),
                            .public_files = file_digests(s.public_sources)};
  const Schema writing = learn_inside(p.schema, s.public_sources);
  rehearse(p, problem, run.threads);
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
                                             .inputs = inputs,
                                             .settings = s}));
  RunRecord record = read_record(folder.record(), {}, keep_nothing);
  check_same_run(record, s, inputs);
  if (ledger) {
    try {
      const std::string label = std::filesystem::absolute(folder.file("")).parent_path().stem();
      ledger->reserve(record.id, {p.mechanism.name, label, p.unit, seeded}, p.filter.reservation());
    } catch (const BudgetError&) {
      if (!run.resume) folder.discard();
      throw;
    }
  }

  Underway under{run, p, std::move(folder), std::move(record), ledger, std::nullopt};
  try {
    std::unique_ptr<EntropySource> entropy;
    if (seeded) {
      entropy = std::make_unique<SeededEntropy>(seed);
    } else {
      entropy = std::make_unique<SystemEntropy>();
    }
    Rng rng(under.record.rng);
    under.gate.emplace(
        open_private(s.private_source, p.schema,
                     {p.unit, s.person, run.threads, progress_of(run.reading, s.private_source)}),
        p.filter, std::move(entropy),
        file_transcript(under.folder.transcript(), ledger, under.record.id),
        CuratorSettings{.threads = run.threads, .progress = run.progress});
    Release release = p.mechanism.run(*under.gate, problem, p.parameters, rng);
    for (auto& warning : reliability_warnings(release, p.unit)) {
      release.warnings.push_back(std::move(warning));
    }

    const std::size_t rows = rows_to_make(s, problem.domain, release);
    Table sampled = fitted_rows(*release.model, p.workload, rows, rng, memory_limit(s));
    settle_rows(p.schema.rules(), sampled, rng);
    write_csv(under.folder.file(kRowsFile), writing, sampled, rng);
    sync_to_disk(under.folder.file(kRowsFile));
    under.folder.write(schema_file_name(s), p.schema_text);
    const FileDigests files = write_models(under.folder, problem.domain, release);

    summary.release = release_document(s, p, *under.gate, release, rows,
                                       {release_id(under.record), today(), inputs, files});
    under.settle();
    if (ledger) {
      summary.release.set("ledger", Document::object({{"dataset", ledger->terms().dataset},
                                                      {"run", under.record.id},
                                                      {"head", ledger->head()}}));
    }
    under.folder.write("release.json", summary.release.to_json(2) + "\n");
    under.folder.publish();
  } catch (const Error& error) {
    under.fail(error);
    throw;
  } catch (const std::bad_alloc&) {
    under.fail(SourceError("The machine has too little memory for this run."));
    throw;
  }
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
  const Curator curator(PrivateData(memory_source(Table(problem.domain, 0)), p.unit), p.filter,
                        std::make_unique<SystemEntropy>(), memory_transcript(),
                        {.threads = {}, .progress = {}});
  rehearse(p, problem, run.threads);
  std::vector<std::string> lines;
  lines.push_back(fmt::format("Mechanism {}: {}.", p.mechanism.name, p.mechanism.summary));
  std::string guarantee = fmt::format("Guarantee: epsilon {:g}, delta {:g}", s.epsilon, s.delta);
  if (p.filter.currency() == Currency::Zcdp) {
    guarantee += fmt::format(" (rho {:.6g})", p.filter.total().upper_bound());
  }
  lines.push_back(fmt::format("{}, {}.", guarantee, describe(p.unit)));
  lines.emplace_back(
      "Every line of the private file is a row: a record with k line feeds inside quotes is k + "
      "1.");
  for (auto& line : p.mechanism.plan(curator, problem, p.parameters)) {
    lines.push_back(std::move(line));
  }
  for (auto& line : foreseen_warnings(curator, problem, most_rows(s.private_source, p.schema))) {
    lines.push_back("Warning: " + std::move(line));
  }
  lines.push_back(
      fmt::format("Memory: at most about {}, within the limit of {}.",
                  human_bytes(predicted_memory(s, p.schema, memory_of_mechanism(s, p, problem))),
                  human_bytes(memory_limit(s))));
  if (!s.ledger.empty()) {
    const auto report = Ledger::open(s.ledger).report();
    const double left =
        p.filter.currency() == Currency::Pure ? report.left_pure.value() : report.left_rho.value();
    const bool accepted =
        p.filter.total().upper_bound() <= left && p.unit.covers(report.terms.unit);
    lines.push_back(
        fmt::format("Ledger {}: {:.6g} of epsilon {:g} is spent or reserved; it would {} "
                    "this run.",
                    s.ledger, report.total.epsilon.value(), report.terms.epsilon.value(),
                    accepted ? "accept" : "refuse"));
  }
  lines.emplace_back("Nothing was spent and no private data was read.");
  return lines;
}

namespace {

PrivacyUnit unit_in(const Document& guarantee) {
  PrivacyUnit unit = parse_privacy_unit(guarantee.at("neighbors").as_string(),
                                        guarantee.at("rows_per_person").as_integer());
  const auto* absent = guarantee.find("person_may_be_absent");
  unit.may_be_absent = absent != nullptr && absent->as_bool();
  return unit;
}

}  // namespace

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
  line("guarantee", fmt::format("epsilon {:g}, delta {:g}, {}", guarantee.at("epsilon").as_number(),
                                guarantee.at("delta").as_number(), describe(unit_in(guarantee))));
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
