// SPDX-License-Identifier: Apache-2.0
#include "tandem/engine/synth.h"

#include <fmt/core.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <memory>
#include <optional>
#include <utility>

#include "tandem/base/digest.h"
#include "tandem/base/error.h"
#include "tandem/base/text.h"
#include "tandem/base/version.h"
#include "tandem/engine/privacy_unit_text.h"
#include "tandem/engine/release_folder.h"
#include "tandem/mechanism/registry.h"
#include "tandem/privacy/accountant.h"
#include "tandem/privacy/ledger.h"
#include "tandem/privacy/private_data.h"
#include "tandem/source/memory_source.h"
#include "tandem/source/open.h"

namespace tandem {

namespace {

constexpr int kReleaseFormat = 1;
constexpr int kMeasurementsFormat = 1;
constexpr int kRunFormat = 1;
constexpr std::int64_t kMostRows = 1'000'000'000;
constexpr double kLeastEpsilon = 1e-6;  // below, noise drowns any table, and then its own integers
constexpr double kMostEpsilon = 1000.0;

// ---- From settings to parts, all public ----

struct Prepared {
  Schema schema;
  std::string schema_digest;
  Mechanism mechanism;
  Parameters parameters;
  PrivacyUnit unit;
  Filter filter;
  Workload workload;
};

Filter filter_of(const SynthSettings& s) {
  if (!(s.epsilon >= kLeastEpsilon) || s.epsilon > kMostEpsilon) {
    throw UsageError(
        fmt::format("--epsilon is missing or out of range; give a number from {:g} to {:g}.",
                    kLeastEpsilon, kMostEpsilon));
  }
  if (!(s.delta >= 0.0) || s.delta >= 1.0) {
    throw UsageError(fmt::format("--delta is {}; choose a number from 0 to below 1.", s.delta));
  }
  if (s.delta == 0.0) return Filter::pure(Epsilon(s.epsilon));
  return Filter::zcdp(rho_of(Epsilon(s.epsilon), Delta(s.delta)));
}

Prepared prepare(const SynthRun& run) {
  const SynthSettings& s = run.settings;
  if (s.private_source.empty()) throw UsageError("--private is missing; name the private table.");
  if (s.schema.empty()) {
    throw UsageError("--schema is missing; name the schema of the private table.");
  }
  if (s.format != "csv") {
    throw UsageError(fmt::format("--format is {}; this version writes csv.", in_quotes(s.format)));
  }
  if (s.rows < 0 || s.rows > kMostRows) {
    throw UsageError(fmt::format("--rows is {}; choose 0 to {}.", s.rows, with_commas(kMostRows)));
  }
  if (s.seed < -1) {
    throw UsageError(fmt::format("--seed is {}; choose a whole number from 0.", s.seed));
  }
  Schema schema = Schema::read(s.schema);
  auto mechanism = run.find(s.mechanism == "auto" ? "independent" : s.mechanism);
  auto parameters = mechanism.resolve(parse_parameters(s.parameters));
  auto unit = parse_privacy_unit(s.neighbors, s.rows_per_person);
  auto filter = filter_of(s);
  if (filter.currency() == Currency::Pure && !mechanism.pure) {
    throw UsageError(
        fmt::format("{} has no pure guarantee; give a --delta above 0.", mechanism.name));
  }
  if (mechanism.needs_public_data && s.public_sources.empty()) {
    throw UsageError(fmt::format("{} needs public data; give it with --public.", mechanism.name));
  }
  auto workload = Workload::parse(schema.domain(), s.workload);
  return {std::move(schema),
          sha256_hex(read_text_file(s.schema)),
          std::move(mechanism),
          std::move(parameters),
          unit,
          std::move(filter),
          std::move(workload)};
}

PublicData load_public(const SynthRun& run, const Schema& schema) {
  PublicData data;
  for (const auto& source : run.settings.public_sources) {
    CsvOptions options;
    options.threads = run.threads;
    CsvTable loaded = load_table(source, schema, options);
    if (!loaded.ignored_columns.empty() && run.note) {
      run.note(fmt::format("Note: {}: ignored {}, not in the schema.", source,
                           list_names(loaded.ignored_columns, 8)));
    }
    data.tables.push_back({source, std::move(loaded.table)});
    const auto rows = static_cast<double>(data.tables.back().table.rows());
    if (rows > 0.0 && run.settings.delta > 1.0 / rows && run.note) {
      run.note(
          fmt::format("Note: delta {:g} is above one over the rows of {}; a smaller delta is "
                      "customary.",
                      run.settings.delta, source));
    }
  }
  return data;
}

// ---- Memory ----

double parse_bytes(const std::string& text) {
  static constexpr std::pair<std::string_view, double> kUnits[] = {
      {"TB", 0x1p40}, {"GB", 0x1p30}, {"MB", 0x1p20}, {"KB", 0x1p10}, {"B", 1.0}, {"", 1.0}};
  for (const auto& [unit, bytes] : kUnits) {
    if (!text.ends_with(unit)) continue;
    const auto number =
        parse_number(trim(std::string_view(text).substr(0, text.size() - unit.size())));
    if (number && *number > 0.0) return *number * bytes;
    break;
  }
  throw UsageError(
      fmt::format("--memory-limit is {}; write a size such as 8GB or 500MB.", in_quotes(text)));
}

double memory_limit(const SynthSettings& s) {
  if (!s.memory_limit.empty()) return parse_bytes(s.memory_limit);
  const double pages = static_cast<double>(sysconf(_SC_PHYS_PAGES));
  return 0.75 * pages * static_cast<double>(sysconf(_SC_PAGE_SIZE));
}

// An estimate from above, from sizes of files and of the schema: tables as codes while they are
// read and while rows are written, and the marginals measured.
double predicted_memory(const SynthSettings& s, const Schema& schema) {
  const auto table_bytes = [](const std::string& path) {
    std::error_code missing;
    const auto size = static_cast<double>(std::filesystem::file_size(path, missing));
    if (missing) return 0.0;
    return size * (path.ends_with(".gz") ? 10.0 : 1.0);
  };
  double bytes = 3.0 * table_bytes(s.private_source);
  for (const auto& source : s.public_sources) bytes += 2.0 * table_bytes(source);
  double row = 0.0;
  double cells = 0.0;
  for (const auto& attribute : schema.domain().attributes()) {
    row += static_cast<double>(code_width(attribute.size));
    cells += static_cast<double>(attribute.size);
  }
  return bytes + static_cast<double>(s.rows) * row + 64.0 * cells + 0x1p25;
}

void check_memory(const SynthSettings& s, const Schema& schema) {
  const double need = predicted_memory(s, schema);
  if (need > memory_limit(s)) {
    throw UsageError(fmt::format(
        "The run may need {} and the limit is {}; raise --memory-limit or choose a smaller table.",
        human_bytes(need), human_bytes(memory_limit(s))));
  }
}

// ---- What is written ----

std::string noise_name(NoiseKind kind) {
  switch (kind) {
    case NoiseKind::None:
      return "none";
    case NoiseKind::Gaussian:
      return "gaussian";
    case NoiseKind::Laplace:
      return "laplace";
  }
  throw InternalError("Noise is of an unknown kind.");
}

// {"unit": 1.0, "rows": [[[cell, coefficient], ...], ...]}: what was asked of the marginal's cells.
Document map_document(const LinearMap& map, std::size_t cells) {
  Document rows = Document::array();
  for (std::size_t r = 0; r < map.outputs(cells); ++r) {
    Document row = Document::array();
    for (const auto& [column, coefficient] : map.row(r)) {
      row.push(Document::array({static_cast<std::uint64_t>(column), coefficient}));
    }
    rows.push(std::move(row));
  }
  return Document::object({{"unit", map.unit()}, {"rows", std::move(rows)}});
}

Document measurements_document(const Domain& domain, const std::vector<Measurement>& measurements) {
  Document list = Document::array();
  for (const auto& m : measurements) {
    Document columns = Document::array();
    for (const auto id : m.query.clique) columns.push(domain[id].name);
    Document item = Document::object({{"columns", std::move(columns)}});
    if (!m.query.map.is_identity()) {
      item.set("map", map_document(m.query.map, domain.cells(m.query.clique)));
    }
    item.set("origin", m.origin == Origin::Private ? "private" : "public");
    item.set("noise", noise_name(m.noise));
    item.set("stddev", m.sigma.value());
    item.set("values", Document::array({m.values.begin(), m.values.end()}));
    list.push(std::move(item));
  }
  return Document::object({{"format", kMeasurementsFormat}, {"measurements", std::move(list)}});
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

Document release_document(const SynthSettings& s, const Prepared& p, const Curator& curator,
                          const Release& release, std::size_t rows) {
  Document guarantee = Document::object({{"epsilon", s.epsilon}, {"delta", s.delta}});
  if (p.filter.currency() == Currency::Zcdp) guarantee.set("rho", p.filter.total().upper_bound());
  guarantee.set("neighbors", name_of(p.unit.neighbors));
  guarantee.set("rows_per_person", std::int64_t{p.unit.rows_per_person});

  Document steps = Document::array();
  for (const auto& charge : curator.filter().charges()) {
    Document step = Document::object({{"what", charge.what}, {"rho", charge.rho.value()}});
    if (p.filter.currency() == Currency::Pure) step.set("epsilon", charge.cost.upper_bound());
    steps.push(std::move(step));
  }
  Document warnings = Document::array();
  for (const auto& warning : release.warnings) warnings.push(warning);

  Document out = Document::object({{"format", kReleaseFormat}, {"tandem", version()}});
  if (curator.seeded()) {
    out.set("seeded", true);
    out.set("private", false);
    out.set("stamp", "NOT PRIVATE (seeded)");
  }
  out.set("mechanism", p.mechanism.name);
  out.set("parameters", parameters_document(p.parameters));
  out.set("workload", p.workload.name());
  out.set("guarantee", std::move(guarantee));
  out.set("spent", amount_document(s, curator.filter()));
  out.set("steps", std::move(steps));
  out.set("public", Document::array({s.public_sources.begin(), s.public_sources.end()}));
  out.set("total", release.total);
  out.set("rows", static_cast<std::uint64_t>(rows));
  out.set("schema_sha256", p.schema_digest);
  out.set("warnings", std::move(warnings));
  return out;
}

std::size_t rows_to_make(const SynthSettings& s, const Release& release) {
  if (s.rows > 0) return static_cast<std::size_t>(s.rows);
  const double rows =
      std::clamp(std::nearbyint(release.total), 1.0, static_cast<double>(kMostRows));
  return static_cast<std::size_t>(rows);
}

// ---- The record of a run, for --resume ----

struct RunRecord {
  std::string id;         // in the ledger
  std::uint64_t rng = 0;  // seed of the post-processing: a run that goes on asks the same again
  std::string schema_digest;
  SynthSettings settings;
};

Document to_document(const RunRecord& record) {
  return Document::object({{"format", kRunFormat},
                           {"tandem", version()},
                           {"run", record.id},
                           {"rng", fmt::format("{:016x}", record.rng)},
                           {"schema_sha256", record.schema_digest},
                           {"settings", to_document(record.settings)}});
}

// UsageError for a record that is damaged or of another version. Settings that `keep` holds back
// stay as they are in `settings`.
RunRecord read_record(const Document& document, const SynthSettings& settings,
                      const std::function<bool(std::string_view)>& keep) {
  if (document.at("format").as_integer() != kRunFormat) {
    document.at("format").fail("was written by another version; resume it with that one.");
  }
  if (document.at("tandem").as_string() != version()) {
    document.at("tandem").fail("names another version; resume the run with that one.");
  }
  RunRecord record{.id = document.at("run").as_string(),
                   .rng = 0,
                   .schema_digest = document.at("schema_sha256").as_string(),
                   .settings = settings};
  if (record.id.size() != 32 || !is_hex(record.id)) document.at("run").fail("is no id of a run.");
  const std::string& rng = document.at("rng").as_string();
  if (rng.size() != 16 || !is_hex(rng)) document.at("rng").fail("is no 16 hexadecimal digits.");
  record.rng = std::stoull(rng, nullptr, 16);
  apply(document.at("settings"), record.settings, keep);
  return record;
}

bool keep_nothing(std::string_view /*setting*/) { return false; }

// Where the folder is and how much memory there is may change; nothing that shapes the release.
void check_same_run(const RunRecord& recorded, const SynthSettings& settings, const Prepared& p) {
  const Document before = to_document(recorded.settings);
  const Document now = to_document(settings);
  for (const auto& [name, value] : now.as_object()) {
    if (name == "out" || name == "memory-limit") continue;
    if (before.at(name).to_json() != value.to_json()) {
      throw UsageError(fmt::format(
          "--{} is not what the interrupted release began with; resume it unchanged, or start anew "
          "with --force.",
          name));
    }
  }
  if (recorded.schema_digest != p.schema_digest) {
    throw UsageError("The schema has changed since the release began; restore it, or start anew.");
  }
}

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

  const Prepared p = prepare(run);
  check_memory(s, p.schema);
  const Problem problem{p.schema.domain(), p.workload, load_public(run, p.schema)};
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
  check_same_run(record, s, p);
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
    gate.emplace(open_private(s.private_source, p.schema, {p.unit, s.person, run.threads}),
                 p.filter, std::move(entropy),
                 file_transcript(folder.transcript(), ledger, record.id),
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
  const Table sampled = release.model->sample(rows, rng);
  write_csv(folder.file("synthetic.csv"), p.schema, sampled, rng);
  sync_to_disk(folder.file("synthetic.csv"));
  folder.write("measurements.json",
               measurements_document(problem.domain, release.measurements).to_json() + "\n");

  summary.release = release_document(s, p, curator, release, rows);
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
  const Prepared p = prepare(run);
  check_memory(s, p.schema);
  const Problem problem{p.schema.domain(), p.workload, load_public(run, p.schema)};
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
  lines.push_back(fmt::format("Memory: at most about {}, within the limit of {}.",
                              human_bytes(predicted_memory(s, p.schema)),
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
  line("files", "synthetic.csv, measurements.json, release.json");
  for (const auto& warning : r.at("warnings").as_array()) {
    line("warning", warning.as_string());
  }
  return out;
}

}  // namespace tandem
