// SPDX-License-Identifier: Apache-2.0
#include "tandem/engine/synth.h"

#include <fmt/core.h>
#include <fmt/format.h>

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
#include "tandem/data/csv.h"
#include "tandem/engine/budget.h"
#include "tandem/engine/execute.h"
#include "tandem/engine/memory.h"
#include "tandem/engine/preparation.h"
#include "tandem/engine/privacy_unit_text.h"
#include "tandem/engine/rehearsal.h"
#include "tandem/engine/release/measurements.h"
#include "tandem/engine/release/pair_rows.h"
#include "tandem/engine/release/release_documents.h"
#include "tandem/engine/release/release_folder.h"
#include "tandem/engine/release/release_text.h"
#include "tandem/engine/release/run_record.h"
#include "tandem/engine/reliability.h"
#include "tandem/mechanism/registry.h"
#include "tandem/model/model_file.h"
#include "tandem/model/records_model.h"
#include "tandem/privacy/accountant.h"
#include "tandem/privacy/ledger.h"
#include "tandem/privacy/private_data.h"
#include "tandem/source/open.h"
#include "tandem/source/source_files.h"

namespace tandem {

namespace {

constexpr const char* kForGroups = "grouped";

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
  const auto model = release.model ? write_model(*release.model) : std::nullopt;
  if (model) {
    folder.write(kModelFile, *model);
    out.model = sha256_hex(*model);
  }
  return out;
}

bool keep_nothing(std::string_view /*setting*/) { return false; }

}  // namespace

namespace {

HowToPrepare how_to_prepare(const SynthRun& run) {
  return {.find = run.find, .threads = run.threads, .note = run.note, .reading = run.reading};
}

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
  if (dynamic_cast<const Cancelled*>(&error) != nullptr) throw Cancelled(text);
  if (dynamic_cast<const BudgetError*>(&error) != nullptr) throw BudgetError(text);
  if (dynamic_cast<const SourceError*>(&error) != nullptr) throw SourceError(text);
  throw InternalError(text);
}

// A run on its way from its reservation to its release, and what becomes of it when it fails.
struct Underway {
  const SynthRun& run;
  const PreparedRun& prepared;
  ReleaseFolder folder;
  RunRecord record;
  std::shared_ptr<Ledger> ledger;
  std::optional<Execution> execution{};
  bool settled = false;

  const Filter& filter() const {
    return execution ? execution->gate().filter() : prepared.parts.filter;
  }

  void settle() {
    const auto steps = execution ? static_cast<std::int64_t>(execution->gate().steps()) : 0;
    if (ledger) ledger->settle(record.id, filter().settlement(), steps);
    settled = true;
  }

  // Nothing was charged, so nothing private was drawn.
  bool is_untouched() const { return !run.resume && filter().spent().is_zero(); }

  // Disk, source, memory and transcript can be better next time, and who stopped it may change
  // their mind; anything else would come again.
  bool can_go_on(const Error& error) const {
    return settled || !execution || execution->gate().interrupted() ||
           dynamic_cast<const SourceError*>(&error) != nullptr ||
           dynamic_cast<const Cancelled*>(&error) != nullptr;
  }

  double share_spent() const {
    return filter().spent().upper_bound() / filter().total().lower_bound();
  }

  std::string how_to_go_on() const {
    return fmt::format(
        "{:.3g}% of the budget is spent and nothing is lost: {} goes on at no extra "
        "cost{}.",
        100.0 * share_spent(), resuming_command(run.settings.out, run.settings.make),
        ledger && !settled ? ", and until then the ledger holds the whole budget" : "");
  }

  // Ends the run after an error, and says what became of it; one that drew nothing leaves nothing.
  void fail(const Error& error) {
    if (is_untouched()) {
      settle();
      folder.discard();
      if (dynamic_cast<const Cancelled*>(&error) != nullptr) {
        throw_with(error, "Nothing was spent, and nothing is left of the run.");
      }
      return;
    }
    if (can_go_on(error)) throw_with(error, how_to_go_on());
    try {
      settle();
    } catch (const Error&) {  // another copy of the run went further: it alone can end it
      throw_with(error, how_to_go_on());
    }
    folder.discard();
    throw_with(error, fmt::format("Of this run's budget {:.3g}% was spent on steps that were taken "
                                  "{}; it can't be resumed.",
                                  100.0 * share_spent(),
                                  ledger ? "and the rest was given back to the ledger"
                                         : "before it failed"));
  }
};

// What private rows may take beside all else.
double memory_left(const SynthSettings& s, const PreparedRun& prepared) {
  constexpr double kLeast = 16e6;
  return std::max(kLeast, memory_limit(s.memory_limit) - prepared.predicted_bytes);
}

PrivateData open_rows(const SynthRun& run, const PreparedRun& prepared) {
  const SynthSettings& s = run.settings;
  const PrivateSourceOptions opening{prepared.parts.unit, s.person, run.threads,
                                     progress_of(run.reading, s.private_source)};
  PrivateData data = run.door->open(prepared.parts.schema, opening, memory_left(s, prepared));
  require_rows_enough(prepared, data.facts().rows);
  return data;
}

// Everything but release.json, which comes last, and what that has to say.
Document write_release(Underway& under, const Release& release) {
  const SynthSettings& s = under.run.settings;
  const Prepared& p = under.prepared.parts;
  if (release.rows) {
    const std::string path = under.folder.file(kRowsFile);
    const Schema writing = follow_rows(under.prepared.writing, *release.rows);
    write_csv(path, writing, *release.rows, under.execution->rng());
    sync_to_disk(path);
  }
  if (!release.repeats.empty()) {
    write_pair_rows(under.folder.file(kRowsFile), p.schema, *release.model->as_records(),
                    release.repeats);
  }
  if (!release.answers.empty()) under.folder.write(kAnswersFile, answers_text(release.answers));
  under.folder.write(schema_file_name(s), p.schema_text);
  const FileDigests files = write_models(under.folder, p.schema.domain(), release);
  return release_document(s, under.prepared, under.execution->gate(), release,
                          {release_id(under.record), today(), files});
}

}  // namespace

std::string resuming_command(const std::string& out, const std::string& make) {
  return fmt::format("'tandem {} --resume --out {}'", make == "answers" ? "answer" : "synth", out);
}

namespace {

// The run with a door to its private rows. A plan of Parquet may go without the files.
SynthRun with_door(SynthRun run, bool may_lack = false) {
  SynthSettings& s = run.settings;
  if (run.door) return run;
  if (!is_parquet(s.private_source)) {
    run.door = Door::file(s.private_source);
    return run;
  }
  require_file(s.private_source);
  if (s.text.records.empty()) s.text.records = records_key(Records::Quoted);
  if (s.text.records != records_key(Records::Quoted)) {
    throw UsageError(TANDEM_SETTING(
        "records") " of Parquet can only be quoted: each row is a row, whatever it holds.");
  }
  const bool lacks =
      may_lack && std::ranges::none_of(source_files(s.private_source), [](const auto& file) {
        std::error_code ignored;
        return std::filesystem::exists(file, ignored);
      });
  run.door = lacks ? Door::stream({}) : Door::parquet(s.private_source, run.threads);
  return run;
}

RunInfo info_of(const Prepared& p, const std::string& label, bool seeded) {
  return {p.mechanism.name, label, p.unit, seeded, p.schema.format().records};
}

}  // namespace

void foresee(const SynthRun& asked) {
  constexpr bool kMayLack = true;
  const SynthRun run = with_door(asked, kMayLack);
  const SynthSettings& s = run.settings;
  const Prepared p = prepare_run(s, *run.door, how_to_prepare(run)).parts;
  ReleaseFolder::require_startable(s.out, run.force);
  if (s.ledger.empty()) return;
  Ledger::open(s.ledger).require_room(info_of(p, "", s.seed >= 0), p.filter.reservation());
}

SynthSummary synthesize(const SynthRun& asked) {
  SynthSummary summary;
  summary.out = asked.settings.out;
  if (asked.resume && ReleaseFolder::is_whole(summary.out) &&
      !ReleaseFolder::is_interrupted(summary.out)) {
    summary.was_whole = true;
    summary.release = ReleaseFolder::read_release(summary.out);
    const auto format = summary.release.at("format").as_integer();
    if (format < kOldestReleaseFormat || format > kReleaseFormat) {
      summary.release.at("format").fail("was written by another version; read it with that one.");
    }
    return summary;
  }

  const SynthRun run = with_door(asked);
  const SynthSettings& s = run.settings;
  const PreparedRun prepared = prepare_run(s, *run.door, how_to_prepare(run));
  const Prepared& p = prepared.parts;
  run.door->check(p.schema, s.person, p.workload.conjunctions());
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
                                             .inputs = prepared.inputs,
                                             .settings = s}));
  RunRecord record = read_record(folder.record(), {}, keep_nothing);
  check_same_run(record, s, prepared.inputs);
  if (ledger) {
    try {
      const std::string label = std::filesystem::absolute(folder.file("")).parent_path().stem();
      ledger->reserve(record.id, info_of(p, label, seeded), p.filter.reservation());
    } catch (const BudgetError&) {
      if (!run.resume) folder.discard();
      throw;
    }
  }

  Underway under{run, prepared, std::move(folder), std::move(record), ledger};
  try {
    const Task task{.parts = p,
                    .problem = prepared.problem,
                    .rules = p.schema.row_rules(),
                    .rows = s.rows,
                    .most_rows = run.door->most_made(),
                    .memory = memory_limit(s.memory_limit),
                    .pairs = is_pairs(s.private_source),
                    .answers = s.make == "answers"};
    Means means{.entropy = entropy_of(s.seed),
                .transcript = file_transcript(under.folder.transcript(), ledger, under.record.id),
                .rng = under.record.rng,
                .threads = run.threads,
                .progress = run.progress};
    under.execution.emplace(open_rows(run, prepared), task, std::move(means));
    Release release = under.execution->run();
    for (auto& warning : promise_warnings(s.epsilon, s.delta, release.total)) {
      release.warnings.push_back(std::move(warning));
    }
    if (run.progress) {
      run.progress({.stage = RunProgress::Stage::Writing,
                    .step = under.execution->gate().steps(),
                    .share = 1.0});
    }
    summary.release = write_release(under, release);
    under.settle();
    if (ledger) {
      summary.release.set("ledger", Document::object({{"dataset", ledger->terms().dataset},
                                                      {"run", under.record.id},
                                                      {"head", ledger->head()}}));
      summary.budget = budget_in_words(ledger->report());
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

namespace {

bool has_quoted_records(const Document& guarantee) {
  const auto* records = guarantee.find("records");  // none: an earlier version made the release
  return records != nullptr && records->as_string() == records_key(Records::Quoted);
}

// Why a ledger would refuse a run, as a clause; empty where it would not.
std::string refusal_of(const LedgerReport& report, const SynthSettings& s, const Prepared& p) {
  const bool pure = p.filter.currency() == Currency::Pure;
  if (s.seed >= 0) return "a seeded run is not private";
  if (!p.unit.covers(report.terms.unit)) {
    return fmt::format("the ledger protects {}, and this run states {}",
                       describe(report.terms.unit), describe(p.unit));
  }
  const Records records = p.schema.format().records;
  if (report.records.value_or(records) != records) {
    return "its other runs read records in another mode";
  }
  if (!pure && report.terms.delta.value() == 0.0) {
    return "the ledger has delta 0, and this run has no pure guarantee";
  }
  const double left = pure ? report.left_pure.value() : report.left_rho.value();
  if (p.filter.total().upper_bound() <= left) return "";
  return "left is " + left_in_words(report);
}

// The same call with the mechanism for groups, at the same guarantee.
SynthRun for_groups(const SynthRun& run) {
  SynthRun other = run;
  other.settings.mechanism = kForGroups;
  other.settings.parameters = {"fine=" + run.group_by};
  other.group_by.clear();
  other.note = {};
  return other;
}

SynthPlan::Groups plan_groups(const SynthRun& run) {
  try {
    SynthPlan plan = plan_synthesis(for_groups(run));
    return {run.group_by, std::move(plan.steps), plan.effort, plan.bytes, {}};
  } catch (const UsageError& error) {
    return {run.group_by, {}, {}, 0.0, plain(error.what())};
  }
}

SynthPlan plan_one(const SynthRun& run) {
  const SynthSettings& s = run.settings;
  const PreparedRun prepared = prepare_run(s, *run.door, how_to_prepare(run));
  const Prepared& p = prepared.parts;
  if (!run.group_by.empty()) {
    for (const auto name : split(run.group_by, ',')) {
      p.schema.domain().at(trim(name), TANDEM_SETTING("group-by"));
    }
  }
  const Curator curator = planning_curator(p, prepared.problem.domain);
  SynthPlan out;
  out.mechanism = p.mechanism.name;
  out.summary = p.mechanism.summary;
  out.guarantee = guarantee_document(s, curator, p.schema.format().records);
  out.steps = p.mechanism.plan(curator, prepared.problem, p.parameters, prepared.expected_rows);
  out.effort = prepared.effort;
  out.warnings = foreseen_warnings(curator, prepared.problem, most_rows(prepared.table, p.schema));
  const double rows = prepared.table.facts.rows.value_or(
      s.make == "answers" ? static_cast<double>(s.rows) : prepared.expected_rows);
  for (auto& warning : promise_warnings(s.epsilon, s.delta, rows)) {
    out.warnings.push_back(std::move(warning));
  }
  out.bytes = prepared.predicted_bytes;
  out.most_bytes = memory_limit(s.memory_limit);
  if (!s.ledger.empty()) {
    const auto report = Ledger::open(s.ledger).report();
    out.ledger = {s.ledger, report.total.epsilon.value(), report.terms.epsilon.value(),
                  refusal_of(report, s, p)};
  }
  if (!run.group_by.empty() && p.mechanism.name != kForGroups) out.groups = plan_groups(run);
  return out;
}

}  // namespace

SynthPlan plan_synthesis(const SynthRun& asked) {
  constexpr bool kMayLack = true;
  const SynthRun run = with_door(asked, kMayLack);
  if (run.group_by.empty()) return plan_one(run);
  try {
    return plan_one(run);
  } catch (const UsageError& error) {
    // What keeps the others from running, such as public data without the columns of groups, need
    // not keep the mechanism for groups.
    auto groups = plan_groups(run);
    if (!groups.refusal.empty()) throw;
    SynthPlan out = plan_one(for_groups(run));
    out.warnings.push_back(
        {"plan.groups_alone",
         fmt::format("This is the plan for groups by {} alone, for otherwise: {}", run.group_by,
                     plain(error.what()))});
    return out;
  }
}

double epsilon_for_error(const SynthRun& asked, double target) {
  constexpr bool kMayLack = true;
  const SynthRun run = with_door(asked, kMayLack);
  const SynthSettings& s = run.settings;
  if (!(target > 0.0) || target >= 1.0) {
    throw UsageError(fmt::format(
        TANDEM_SETTING("target-error") " is {:g}; choose a share above 0 and below 1.", target));
  }
  if (s.rows < 1) {
    throw UsageError(TANDEM_SETTING(
        "rows") " is missing; say about how many rows the private table has, since " TANDEM_SETTING("target-error") " is a share of them.");
  }
  constexpr double kMost = 1000.0;
  const double most = s.epsilon > 0.0 ? s.epsilon : kMost;
  SynthRun at = run;
  at.settings.epsilon = std::min(1.0, most);
  const PreparedRun prepared = prepare_run(at.settings, *run.door, how_to_prepare(run));
  const Prepared& p = prepared.parts;
  const Curator curator = planning_curator(p, prepared.problem.domain);
  double rmse = -1.0;
  for (const auto& step :
       p.mechanism.plan(curator, prepared.problem, p.parameters, prepared.expected_rows)) {
    if (step.key == "rmse") rmse = step.numbers.at("rmse").as_number();
  }
  if (rmse < 0.0) {
    throw UsageError(
        fmt::format("{} can't plan its error, which " TANDEM_SETTING(
                        "target-error") " needs; choose " TANDEM_SETTING("mechanism") " hdmm.",
                    p.mechanism.name));
  }
  // Noise is in inverse proportion to a pure epsilon, and to the root of rho.
  const double factor = rmse / (target * static_cast<double>(s.rows));
  double epsilon = at.settings.epsilon * factor;
  if (p.filter.currency() == Currency::Zcdp) {
    const double rho = rho_of(Epsilon(at.settings.epsilon), Delta(s.delta)).value();
    epsilon = epsilon_of(Rho(rho * factor * factor), Delta(s.delta)).value();
  }
  constexpr double kLeast = 1e-6;
  const double step = std::pow(10.0, std::floor(std::log10(std::max(epsilon, kLeast))) - 3.0);
  epsilon = std::max(kLeast, std::ceil(epsilon / step) * step);  // four digits, rounded up
  if (epsilon > most) {
    throw UsageError(fmt::format(
        TANDEM_SETTING("target-error") " {:g} takes epsilon {:.4g}, and at most {:g} may be spent; "
                                       "choose a larger error, or a smaller workload.",
        target, epsilon, most));
  }
  return epsilon;
}

namespace {

std::string in_words(const Effort& effort) {
  if (effort.seconds == 0.0) return "";
  const double minutes = effort.seconds / 60.0;
  std::string time = "a few seconds";
  if (effort.seconds >= 10.0) {
    time = fmt::format("{:.0f} seconds", std::ceil(effort.seconds / 10.0) * 10.0);
  }
  if (minutes >= 2.0) time = fmt::format("{:.0f} minutes", minutes);
  if (minutes >= 120.0) time = fmt::format("{:.0f} hours", minutes / 60.0);
  return fmt::format(
      "The model takes at most {}, the whole computation about {} and, beside reading and "
      "counting, "
      "roughly {} on one core.\n",
      human_bytes(effort.model_bytes), human_bytes(effort.bytes), time);
}

}  // namespace

std::string to_text(const SynthPlan& plan) {
  std::string out = fmt::format("Mechanism {}: {}.\n", plan.mechanism, plan.summary);
  const Document& guarantee = plan.guarantee;
  out += fmt::format("Guarantee: epsilon {:g}, delta {:g}", guarantee.at("epsilon").as_number(),
                     guarantee.at("delta").as_number());
  if (const auto* rho = guarantee.find("rho")) {
    out += fmt::format(" (rho {:.6g})", rho->as_number());
  }
  out += fmt::format(", {}.\n", describe(unit_in(guarantee)));
  out += has_quoted_records(guarantee)
             ? "Every record of the private file is a row, also where its quoted values hold line "
               "feeds.\n"
             : "Every line of the private file is a row: a record with k line feeds inside quotes "
               "is k + 1; --records quoted makes it one.\n";
  for (const auto& step : plan.steps) out += step.sentence + "\n";
  out += in_words(plan.effort);
  for (const auto& warning : plan.warnings) out += "Warning: " + warning.text + "\n";
  out += fmt::format("Memory: at most about {}, within the limit of {}.\n", human_bytes(plan.bytes),
                     human_bytes(plan.most_bytes));
  if (plan.ledger) {
    out += fmt::format("Ledger {}: {:.6g} of epsilon {:g} is spent or reserved; it would {}.\n",
                       plan.ledger->path, plan.ledger->spent, plan.ledger->epsilon,
                       plan.ledger->refusal.empty() ? "accept this run"
                                                    : "refuse this run: " + plan.ledger->refusal);
  }
  if (plan.groups && !plan.groups->refusal.empty()) {
    out += fmt::format("Groups by {}: --mechanism {} could not learn each by itself: {}\n",
                       plan.groups->columns, kForGroups, plan.groups->refusal);
  } else if (plan.groups) {
    out += fmt::format(
        "Groups by {}: --mechanism {} --param fine={} would learn each by itself, at the same "
        "guarantee.\n",
        plan.groups->columns, kForGroups, plan.groups->columns);
    for (const auto& step : plan.groups->steps) out += "  " + step.sentence + "\n";
    out += "  " + in_words(plan.groups->effort);
    out += fmt::format("  Memory: at most about {}.\n", human_bytes(plan.groups->bytes));
  }
  return out + "Nothing was spent and no private data was read.\n";
}

Document to_document(const SynthPlan& plan) {
  const auto steps_of = [](const Plan& of) {
    Document out = Document::array();
    for (const auto& step : of) {
      Document item = Document::object({{"key", step.key}});
      for (const auto& [key, value] : step.numbers.as_object()) item.set(key, value);
      item.set("text", step.sentence);
      out.push(std::move(item));
    }
    return out;
  };
  Document out = Document::object({{"mechanism", plan.mechanism},
                                   {"guarantee", plan.guarantee},
                                   {"steps", steps_of(plan.steps)},
                                   {"warnings", warnings_document(plan.warnings)},
                                   {"bytes", plan.bytes},
                                   {"memory_limit", plan.most_bytes},
                                   {"model_bytes", plan.effort.model_bytes}});
  if (plan.effort.seconds > 0.0) out.set("seconds", plan.effort.seconds);
  if (plan.ledger) {
    Document ledger = Document::object({{"path", plan.ledger->path},
                                        {"spent", plan.ledger->spent},
                                        {"epsilon", plan.ledger->epsilon},
                                        {"accepts", plan.ledger->refusal.empty()}});
    if (!plan.ledger->refusal.empty()) ledger.set("refusal", plan.ledger->refusal);
    out.set("ledger", std::move(ledger));
  }
  if (plan.groups && !plan.groups->refusal.empty()) {
    out.set("groups", Document::object({{"columns", plan.groups->columns},
                                        {"mechanism", kForGroups},
                                        {"refusal", plan.groups->refusal}}));
  } else if (plan.groups) {
    out.set("groups", Document::object({{"columns", plan.groups->columns},
                                        {"mechanism", kForGroups},
                                        {"steps", steps_of(plan.groups->steps)},
                                        {"seconds", plan.groups->effort.seconds},
                                        {"bytes", plan.groups->bytes}}));
  }
  return out;
}

std::string to_text(const SynthSummary& summary, Notes notes) {
  const Document& r = summary.release;
  const Document& guarantee = r.at("guarantee");
  const Document& spent = r.at("spent");
  std::string out;
  if (summary.was_whole) out += "The release was already whole.\n";
  out += stamp_line(r);
  out += fmt::format("{}\n", summary.out);
  const auto line = [&](std::string_view name, const std::string& text) {
    out += summary_line(name, text);
  };
  line("mechanism", r.at("mechanism").as_string());
  if (const auto* rows = r.find("rows")) {
    line("rows", with_commas(static_cast<std::uint64_t>(rows->as_integer())));
  }
  if (r.find("answers") != nullptr) line("answers", answers_in_words(r));
  line("guarantee",
       fmt::format("epsilon {:g}, delta {:g}, {}{}", guarantee.at("epsilon").as_number(),
                   guarantee.at("delta").as_number(), describe(unit_in(guarantee)),
                   has_quoted_records(guarantee) ? ", quoted records" : ""));
  if (r.find("stamp") == nullptr) line("in words", promise_in_words(guarantee));
  line("spent", fmt::format("epsilon {:.6g} at delta {:g}", spent.at("epsilon").as_number(),
                            spent.at("delta").as_number()));
  if (const auto* error = r.find("certified_error")) line("error", certified_text(*error));
  if (const auto* ledger = r.find("ledger")) {
    line("ledger",
         ledger->at("dataset").as_string() + (summary.budget.empty() ? "" : ": " + summary.budget));
  }
  std::vector<std::string> files;
  if (r.find("rows") != nullptr) files.emplace_back(kRowsFile);
  if (r.find("answers") != nullptr) files.emplace_back(kAnswersFile);
  files.emplace_back(kMeasurementsFile);
  if (r.find("model_sha256") != nullptr) files.emplace_back(kModelFile);
  files.emplace_back("release.json and the schema");
  line("files", fmt::format("{}", fmt::join(files, ", ")));
  return out + closing_lines(r, notes);
}

}  // namespace tandem
