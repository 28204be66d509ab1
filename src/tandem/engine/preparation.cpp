// SPDX-License-Identifier: Apache-2.0
#include "tandem/engine/preparation.h"
#include "tandem/engine/certificate.h"

#include <fmt/core.h>

#include <algorithm>
#include <memory>
#include <utility>

#include "tandem/base/digest.h"
#include "tandem/base/error.h"
#include "tandem/base/text.h"
#include "tandem/engine/draft/drafted_from.h"
#include "tandem/engine/draft/schema_draft.h"
#include "tandem/engine/input_files.h"
#include "tandem/engine/privacy_unit_text.h"
#include "tandem/engine/rehearsal.h"
#include "tandem/mechanism/answers/answer_workload.h"
#include "tandem/model/fitted_rows.h"
#include "tandem/privacy/accountant.h"
#include "tandem/source/open.h"

namespace tandem {

namespace {

constexpr double kLeastEpsilon = 1e-6;  // below, noise drowns any table, and then its own integers
constexpr double kMostEpsilon = 1000.0;

Filter filter_of(const SynthSettings& s) {
  if (!(s.epsilon >= kLeastEpsilon) || s.epsilon > kMostEpsilon) {
    throw UsageError(fmt::format(
        TANDEM_SETTING("epsilon") " is missing or out of range; give a number from {:g} to {:g}.",
        kLeastEpsilon, kMostEpsilon));
  }
  if (!(s.delta >= 0.0) || s.delta >= 1.0) {
    throw UsageError(
        fmt::format(TANDEM_SETTING("delta") " is {}; choose a number from 0 to below 1.", s.delta));
  }
  if (s.delta == 0.0) return Filter::pure(Epsilon(s.epsilon));
  return Filter::zcdp(rho_of(Epsilon(s.epsilon), Delta(s.delta)));
}

// The schema of the settings: read from its file, or drafted from public data.
struct SchemaOfRun {
  Schema schema;
  std::string text;
};

SchemaOfRun read_schema(const SynthSettings& s, const Threads& threads, const Note& note) {
  SchemaOfRun out;
  if (!s.schema.empty()) {
    const auto document = Document::read(s.schema);
    out = {Schema::from_document(document),
           published_schema(read_text_file(s.schema), s.schema,
                            s.private_as_public ? Origins::Kept : Origins::LeftOut)};
    if (!s.private_as_public) {
      refuse_schema_of_private(s.private_source, drafted_from(document));
    }
  } else {
    SchemaRequest request;
    request.public_sources = s.public_sources;
    request.propose_rules = false;
    request.threads = threads;
    auto draft = draft_schema(request);
    out.schema = Schema::from_document(Document::parse_toml(draft.toml, "the drafted schema"));
    out.text = published_schema(draft.toml, "schema.toml",
                                s.private_as_public ? Origins::Kept : Origins::LeftOut);
    if (note) {
      note(
          "Note: without " TANDEM_SETTING("schema") ", the columns are as the public data suggests; 'tandem schema' "
          "writes that down for you to edit.");
      for (const auto& doubt : draft.doubts) note("Unclear: " + doubt);
    }
  }
  out.schema = out.schema.with_format(stated_format(s.text, out.schema.format()));
  check_writable(out.schema);
  return out;
}

// Pairs are asked conjunctions: marginals of so many columns would be too many to choose from.
[[noreturn]] void refuse_marginals_of_pairs() {
  throw UsageError("A list of pairs is asked conjunctions; give " TANDEM_SETTING(
      "mechanism") " dual-query and " TANDEM_SETTING("workload") " conjunctions:3:20000:1.");
}

// What a table too wide for marginals can have instead is said with the refusal.
Workload parse_workload(const Domain& domain, const std::string& spec, bool pairs) {
  if (pairs && (spec.starts_with("all-") || spec.starts_with("random-"))) {
    refuse_marginals_of_pairs();
  }
  const auto columns = static_cast<double>(domain.size());
  const bool wide = columns * (columns - 1.0) / 2.0 * (columns - 2.0) / 3.0 > kMostMarginals;
  try {
    auto workload = Workload::parse(domain, spec);
    if (pairs && workload.conjunctions() == nullptr) refuse_marginals_of_pairs();
    return workload;
  } catch (const SchemaError&) {
    throw;
  } catch (const UsageError& error) {
    if (!wide || !spec.starts_with("all-")) throw;
    throw UsageError(
        fmt::format("{} For a table so wide there is also " TANDEM_SETTING(
                        "mechanism") " dual-query with " TANDEM_SETTING("workload") " "
                                                                                    "conjunctions:"
                                                                                    "3:20000:1.",
                    error.what()));
  }
}

void refuse_to_answer(const Mechanism& mechanism, const Workload& workload) {
  if (workload.conjunctions() != nullptr) {
    if (mechanism.answers) return;
    throw UsageError(fmt::format(
        "{} makes rows, from which conjunctions are not answered; choose " TANDEM_SETTING(
            "mechanism") " perturb, or 'tandem synth'.",
        mechanism.name));
  }
  require_answerable(workload);
}

}  // namespace

std::string automatic_mechanism(bool with_public_data, bool pure) {
  if (pure) return with_public_data ? "mw-pub" : "mst";
  return "tandem";
}

void release_what_certifies(RunParts& parts) {
  if (parts.workload.conjunctions() != nullptr) parts.filter.let_go();
}

namespace {

// Most values of a list of pairs are the first, and random ones where nothing is asked would be far
// off: on 500 items with 3,000 users, a mean error of .183 instead of .017.
void prefer_zeros(const Mechanism& mechanism, Parameters& given) {
  const auto is_free = [](const auto& item) { return item.name == "free"; };
  const bool knows = std::ranges::any_of(mechanism.options, is_free);
  const bool stated =
      std::ranges::any_of(given, [](const auto& pair) { return pair.first == "free"; });
  if (knows && !stated && mechanism.conjunctions) given.emplace_back("free", "zero");
}

// Where a mechanism's own delta is left open, it is that of the run.
void settle_delta(double delta, Parameters& resolved) {
  if (delta == 0.0) return;
  for (auto& [name, text] : resolved) {
    if (name == "delta" && text == show(std::optional<double>())) text = show(delta);
  }
}

}  // namespace

RunParts parts_of(const SynthSettings& s, const FindMechanism& find, bool with_public_data) {
  if (s.rows < 0 || s.rows > kMostRows) {
    throw UsageError(fmt::format(TANDEM_SETTING("rows") " is {}; choose 0 to {}.", s.rows,
                                 with_commas(kMostRows)));
  }
  if (s.seed < -1) {
    throw UsageError(
        fmt::format(TANDEM_SETTING("seed") " is {}; choose a whole number from 0.", s.seed));
  }
  if (s.make != "rows" && s.make != "answers") {
    throw UsageError(
        fmt::format(TANDEM_SETTING("make") " is {}; choose rows or answers.", in_quotes(s.make)));
  }
  const std::string automatic =
      s.make == "answers" ? "hdmm" : automatic_mechanism(with_public_data, s.delta == 0.0);
  auto mechanism = find(s.mechanism == "auto" ? automatic : s.mechanism);
  auto given = parse_parameters(s.parameters);
  if (is_pairs(s.private_source)) prefer_zeros(mechanism, given);
  auto parameters = mechanism.resolve(given);
  settle_delta(s.delta, parameters);
  const auto unit = protected_unit(parse_privacy_unit(s.neighbors, s.rows_per_person),
                                   s.private_source, s.person);
  auto filter = filter_of(s);
  if (filter.currency() == Currency::Pure && !mechanism.pure) {
    throw UsageError(fmt::format(
        "{} has no pure guarantee; give a " TANDEM_SETTING("delta") " above 0.", mechanism.name));
  }
  if (mechanism.public_data == PublicUse::Needed && !with_public_data) {
    throw UsageError(fmt::format("{} needs public data; give it with " TANDEM_SETTING("public") ".",
                                 mechanism.name));
  }
  if (!(s.certify_share >= 0.0 && s.certify_share <= 0.5)) {
    throw UsageError(
        fmt::format(TANDEM_SETTING("certify-share") " is {:g}; choose 0 to 0.5.", s.certify_share));
  }
  // A printed algorithm has its whole budget, unless a share other than the usual one is asked for.
  const bool as_printed = std::ranges::any_of(parameters, [](const auto& parameter) {
    return parameter.first == kAs && parameter.second != kAsOurs;
  });
  const double certify = as_printed && s.certify_share == kCertifyShare ? 0.0 : s.certify_share;
  if (certify > 0.0 && s.make == "rows" && !mechanism.answers) filter.hold(certify);
  return {std::move(mechanism), std::move(parameters), unit, std::move(filter)};
}

namespace {

// What does not go together with a list of pairs.
void refuse_with_pairs(const SynthSettings& s) {
  if (!s.person.empty()) {
    throw UsageError(TANDEM_SETTING(
        "person") " is stated, and a list of pairs has its users as people; leave it out.");
  }
  if (!s.public_sources.empty()) {
    throw UsageError(TANDEM_SETTING(
        "public") " is stated, and what works on a list of pairs uses no public data; leave it "
                  "out.");
  }
}

}  // namespace

Prepared prepare(const SynthSettings& s, const FindMechanism& find, const Threads& threads,
                 const Note& note) {
  if (s.private_source.empty()) {
    throw UsageError(TANDEM_SETTING("private") " is missing; name the private table.");
  }
  if (s.schema.empty() && s.public_sources.empty()) {
    throw UsageError(TANDEM_SETTING(
        "schema") " is missing; name the schema of the private table, or public data to draft "
                  "it from.");
  }
  if (s.format != "csv") {
    throw UsageError(fmt::format(TANDEM_SETTING("format") " is {}; this version writes csv.",
                                 in_quotes(s.format)));
  }
  if (!is_pairs(s.private_source)) require_file(s.private_source);
  for (const auto& source : s.public_sources) require_file(source);
  if (s.private_as_public && !s.ledger.empty()) {
    throw BudgetError(TANDEM_SETTING("private-as-public") " is stated, and a release that protects "
                      "nobody has no place in " TANDEM_SETTING("ledger") "; leave one of them out.");
  }
  if (!s.private_as_public) refuse_private_as_public(s.private_source, s.public_sources);
  if (is_pairs(s.private_source)) refuse_with_pairs(s);
  Prepared out{parts_of(s, find, !s.public_sources.empty()), {}, {}, {}};
  auto [schema, text] = read_schema(s, threads, note);
  if (is_pairs(s.private_source)) require_pairs(schema);
  check_memory({}, s, schema, Workload::bytes_to_draw(s.workload));
  out.workload = parse_workload(schema.domain(), s.workload, is_pairs(s.private_source));
  if (out.workload.conjunctions() != nullptr && !out.mechanism.conjunctions) {
    throw UsageError(fmt::format(
        TANDEM_SETTING("workload") " {} is of conjunctions, and {} works on marginals; choose "
                                   "a workload of marginals, or " TANDEM_SETTING(
                                       "mechanism") " dual-query.",
        in_quotes(s.workload), out.mechanism.name));
  }
  if (s.make == "answers") refuse_to_answer(out.mechanism, out.workload);
  release_what_certifies(out);
  out.schema = std::move(schema);
  out.schema_digest = sha256_hex(text);
  out.schema_text = std::move(text);
  return out;
}

Problem problem_of(const Prepared& p, PublicData public_data) {
  return {p.schema.domain(), p.workload, std::move(public_data),
          impossible_boxes(p.schema.row_rules())};
}

namespace {

// Bytes that the mechanism may need for this problem, or fitting rows to its model when it is done,
// beside the tables.
double bytes_of_mechanism(const SynthSettings& s, const PreparedRun& run) {
  const Prepared& p = run.parts;
  const Domain& domain = p.schema.domain();
  const bool never = bytes_of_fitting(domain, p.workload, 0.0) > kMostBytesOfFitting;
  if (never) return run.effort.bytes;
  const double most = most_rows(run.table, p.schema);
  const auto part = static_cast<double>(run.table.most_made);
  const double rows = s.rows > 0   ? static_cast<double>(s.rows)
                      : part > 0.0 ? std::min(most, part)
                                   : most;
  const double fitting = bytes_of_fitting(domain, p.workload, rows);
  const double certifying = s.certify_share > 0.0 ? bytes_to_certify(p.workload) : 0.0;
  return std::max({run.effort.bytes, std::min(fitting, kMostBytesOfFitting), certifying});
}

// Before a mechanism reads them: what is wrong with one is said with its values.
std::vector<PinnedFile> parameter_files(const SynthSettings& s, const Prepared& p) {
  std::vector<PinnedFile> out;
  if (!p.mechanism.names_files) return out;
  for (const auto& option : p.mechanism.names_files(p.parameters, p.schema.domain())) {
    const auto at = std::ranges::find(p.parameters, option, &Parameters::value_type::first);
    if (!s.private_as_public) {
      refuse_private_as_public(s.private_source, std::span(&at->second, 1),
                               setting("param." + option));
    }
    out.push_back({option, at->second, file_digests(std::span(&at->second, 1)).front()});
  }
  return out;
}

}  // namespace

KnownTable known_table(const Door& door, const SynthSettings& s, const PrivacyUnit& unit) {
  return {.facts = door.facts(unit),
          .keeps_rows = unit.keeps_rows(),
          .pairs = is_pairs(s.private_source),
          .holds = door.holds(),
          .most_made = door.most_made()};
}

void require_rows_enough(const PreparedRun& run, std::optional<double> most) {
  const Prepared& p = run.parts;
  if (!most || *most < 1.0 || *most >= run.effort.least_rows) return;
  const Effort effort =
      p.mechanism.effort(planning_curator(p, run.problem.domain), run.problem, p.parameters, *most);
  if (effort.refusal.empty()) return;
  throw UsageError(fmt::format("{} The private table has no more, and it takes about {}.",
                               effort.refusal,
                               with_commas(static_cast<std::uint64_t>(effort.least_rows))));
}

PreparedRun prepare_run(const SynthSettings& s, const Door& door, const HowToPrepare& how) {
  PreparedRun run{prepare(s, how.find, how.threads, how.note), {}, {}, {}, {}, {}, 0.0, 0.0};
  const Prepared& p = run.parts;
  run.table = known_table(door, s, p.unit);
  check_memory(run.table, s, p.schema);
  auto named_files = parameter_files(s, p);
  PublicData public_data =
      load_public(s, p.schema, how.threads, how.note, how.reading,
                  p.mechanism.public_may_lack ? p.mechanism.public_may_lack(p.parameters)
                                              : std::vector<std::string>{});
  run.expected_rows = expected_rows(run.table, s, p.schema, public_data);
  run.problem = problem_of(p, std::move(public_data));
  run.effort = p.mechanism.effort(planning_curator(p, run.problem.domain), run.problem,
                                  p.parameters, run.expected_rows);
  require_rows_enough(run, rows_at_most(run.table, p.schema));
  const double of_mechanism = bytes_of_mechanism(s, run);
  check_memory(run.table, s, p.schema, of_mechanism);
  run.predicted_bytes = predicted_memory(run.table, s, p.schema, of_mechanism);
  run.inputs = {.schema = p.schema_digest,
                .workload = p.workload.digest(),
                .public_files = file_digests(s.public_sources),
                .parameter_files = std::move(named_files),
                .private_files = door.pins()};
  run.writing = learn_inside(p.schema, s.public_sources, {}, how.note);
  rehearse(p, run.problem, how.threads);
  return run;
}

}  // namespace tandem
