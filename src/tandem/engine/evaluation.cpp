// SPDX-License-Identifier: Apache-2.0
#include "tandem/engine/evaluation.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <map>
#include <utility>

#include "tandem/base/check.h"
#include "tandem/base/error.h"
#include "tandem/base/text.h"
#include "tandem/data/value_line.h"
#include "tandem/query/counting.h"
#include "tandem/source/open.h"

namespace tandem {

namespace {

// A table one may look into, which changes between two looks.
struct Looked {
  const Table& table;
  Threads threads;
  const Domain& domain() const { return table.domain(); }
  Factor project(const Clique& clique) const {
    return std::move(count_marginals(table, {&clique, 1}, threads).front());
  }
  std::vector<Factor> project_all(std::span<const Clique> cliques) const {
    return count_marginals(table, cliques, threads);
  }
};

FitOptions fit_options(const EvaluationRequest& request, const std::string& source,
                       RowPolicy policy) {
  FitOptions options;
  options.reading = {.policy = policy,
                     .format = {},
                     .threads = request.threads,
                     .progress = progress_of(request.reading, source)};
  options.keep_codes = true;
  options.keep_points = true;
  return options;
}

void require_rows(const FileFit& fit) {
  if (fit.rows > 0) return;
  throw UsageError(fmt::format("{} has a header and no rows; give a table with rows.", fit.path));
}

FileFit load_real(const Schema& schema, const EvaluationRequest& request,
                  std::vector<std::string>& notes) {
  // No error quotes a row of it: what is odd about its rows is told in the output, which is
  // INTERNAL.
  auto fit = fit_file(request.real, schema, fit_options(request, request.real, RowPolicy::Repair));
  require_rows(fit);
  if (!fit.ignored_columns.empty()) {
    notes.push_back(fmt::format("INTERNAL: {}: ignored {}, not in the schema.", fit.path,
                                list_names(fit.ignored_columns, 8)));
  }
  return fit;
}

// Public rows must fit; the reader of public tables says what is wrong with which line.
FileFit load_synthetic(const Schema& schema, const EvaluationRequest& request,
                       std::vector<std::string>& notes) {
  const std::string& source = request.synthetic;
  const auto blame = [&] {
    CsvOptions options;
    options.threads = request.threads;
    read_table(source, schema, options);
  };
  std::optional<FileFit> fit;
  try {
    fit = fit_file(source, schema, fit_options(request, source, RowPolicy::MustFit));
  } catch (const UsageError&) {
    blame();
    throw;
  }
  const RecordFit& records = fit->records;
  const bool odd = records.short_rows + records.long_rows + records.malformed > 0;
  if (odd || std::ranges::any_of(fit->columns, [](const auto& c) { return c.misfits() > 0; })) {
    blame();
    throw InternalError("A row that does not fit was found only once.");
  }
  require_rows(*fit);
  if (!fit->ignored_columns.empty()) {
    notes.push_back(fmt::format("{}: ignored {}, not in the schema.", source,
                                list_names(fit->ignored_columns, 8)));
  }
  if (fit->format != schema.format() && !is_parquet(source)) {
    notes.push_back(fmt::format("{}: read as {}.", source, describe(fit->format)));
  }
  return *std::move(fit);
}

// ---- Values without a code ----

// Below, above, and unfit or missing: the order of their codes.
std::size_t place_of(ValueFit verdict) {
  return verdict == ValueFit::Below ? 0 : verdict == ValueFit::Above ? 1 : 2;
}
constexpr std::array<std::string_view, 3> kPlaceNames = {"(below the bounds)", "(above the bounds)",
                                                         "(does not fit)"};

// A domain in which values that the schema has no place for have codes, behind those it has.
struct RawDomain {
  Domain domain;
  std::vector<std::array<Code, 3>> codes;  // by attribute and place
};

RawDomain raw_domain(const Schema& schema, const FileFit& real, const FileFit& synthetic) {
  RawDomain out;
  std::vector<Attribute> attributes;
  for (AttributeId id = 0; id < schema.domain().size(); ++id) {
    Attribute attribute = schema.domain()[id];
    std::array<bool, 3> occurs{};
    for (const FileFit* fit : {&real, &synthetic}) {
      for (const auto verdict : fit->raw.outside[id]) {
        if (verdict != ValueFit::Exact) occurs[place_of(verdict)] = true;
      }
    }
    out.codes.emplace_back();
    for (std::size_t place = 0; place < occurs.size(); ++place) {
      out.codes[id][place] = attribute.size;
      if (!occurs[place]) continue;
      ++attribute.size;
      if (!attribute.labels.empty()) attribute.labels.emplace_back(kPlaceNames[place]);
    }
    attributes.push_back(std::move(attribute));
  }
  out.domain = Domain(std::move(attributes));
  return out;
}

// Moves the rows into the raw domain. What is replaced there comes back, by attribute.
using Replaced = std::map<AttributeId, Column>;
Table to_raw(RawRows rows, const RawDomain& raw, Replaced* replaced) {
  const std::size_t count = rows.repaired.rows();
  std::vector<Column> columns;
  for (AttributeId id = 0; id < raw.domain.size(); ++id) {
    const Code size = raw.domain[id].size;
    const auto& outside = rows.outside[id];
    const bool same_width = code_width(size) == code_width(rows.repaired.domain()[id].size);
    if (outside.empty() && same_width) {
      columns.push_back(std::move(rows.repaired.column(id)));
      continue;
    }
    Column repaired(size, count);
    Column own(size, count);
    for (std::size_t r = 0; r < count; ++r) {
      const Code code = rows.repaired.column(id)[r];
      const ValueFit verdict = outside.empty() ? ValueFit::Exact : outside[r];
      repaired.set(r, code);
      own.set(r, verdict == ValueFit::Exact ? code : raw.codes[id][place_of(verdict)]);
    }
    rows.repaired.column(id) = {};
    columns.push_back(std::move(own));
    if (replaced != nullptr && !outside.empty()) replaced->emplace(id, std::move(repaired));
  }
  return {raw.domain, std::move(columns)};
}

// ---- What is reported ----

std::string code_text(const Attribute& attribute, Code code) {
  return attribute.labels.empty() ? std::to_string(code) : attribute.labels[code];
}

std::vector<MarginalJudgement> judge_marginals(const Workload& workload,
                                               std::span<const double> errors,
                                               std::span<const double> tenth) {
  std::vector<MarginalJudgement> out;
  const auto cliques = workload.cliques();
  for (std::size_t i = 0; i < cliques.size(); ++i) {
    MarginalJudgement item;
    for (const auto id : cliques[i].clique) item.columns.push_back(workload.domain()[id].name);
    item.error = errors[i];
    if (!tenth.empty()) item.tenth = tenth[i];
    out.push_back(std::move(item));
  }
  std::ranges::stable_sort(out, std::ranges::greater{}, &MarginalJudgement::error);
  return out;
}

Quantiles::Side quantiles_of(const Extent& extent, const PointSample& points) {
  static const std::vector<double> kShares = {0.0, 0.05, 0.25, 0.5, 0.75, 0.95, 1.0};
  Quantiles::Side out;
  out.values = points.size();
  out.sampled = !points.whole();
  if (points.size() == 0) return out;
  out.points = points.quantiles(kShares);
  for (const double point : out.points) out.texts.push_back(point_text(extent, point));
  return out;
}

// The largest distance of two inner quantiles, in spans of the real values' inner 90%.
double apart(const Quantiles& quantiles) {
  const auto& real = quantiles.real.points;
  const auto& made = quantiles.synthetic.points;
  if (real.empty() || made.empty()) return std::numeric_limits<double>::infinity();
  double largest = 0.0;
  for (std::size_t i = 1; i + 1 < real.size(); ++i) {
    if (real[i] != made[i]) largest = std::max(largest, std::abs(real[i] - made[i]));
  }
  const double span = real[real.size() - 2] - real[1];
  return span > 0.0 && std::isfinite(span) ? largest / span : largest;
}

std::vector<Quantiles> compare_quantiles(const Schema& schema, const FileFit& real,
                                         const FileFit& synthetic) {
  std::vector<Quantiles> out;
  for (AttributeId id = 0; id < schema.domain().size(); ++id) {
    const auto extent = schema.columns()[id].codec->extent();
    if (!extent) continue;
    out.push_back({.column = schema.domain()[id].name,
                   .numeric = extent->line->numeric(),
                   .real = quantiles_of(*extent, real.columns[id].points),
                   .synthetic = quantiles_of(*extent, synthetic.columns[id].points)});
  }
  std::ranges::stable_sort(out, std::ranges::greater{}, apart);
  return out;
}

Workload workload_of(const EvaluationRequest& request, const Domain& domain) {
  if (!request.workload.empty()) return Workload::parse(domain, request.workload);
  return Workload::all_k_way(domain, std::min<std::size_t>(3, domain.size()));
}

// The same conditions, with the answers that are stated, where columns may have more codes.
ConjunctionFile over(const Domain& domain, const ConjunctionSet& set,
                     std::span<const double> stated) {
  ConjunctionBuilder out(domain);
  std::vector<Literal> literals;
  std::vector<std::size_t> origin;  // of each that is added
  for (std::size_t i = 0; i < set.size(); ++i) {
    literals.clear();
    for (const auto literal : set.literals(i)) {
      const auto& [attribute, code] = set.indicators()[literal / 2];
      literals.push_back({attribute, code, literal % 2 == 0});
    }
    for (std::uint32_t k = 0; k < set.multiplicity(i); ++k) {
      out.add(literals);
      origin.push_back(i);
    }
  }
  std::vector<std::uint32_t> which;
  ConjunctionFile file{std::move(out).finish(&which), {}};
  if (stated.empty()) return file;
  file.answers.resize(file.conjunctions.size());
  for (std::size_t k = 0; k < which.size(); ++k) file.answers[which[k]] = stated[origin[k]];
  return file;
}

// The same queries over the domain of raw values.
Workload over(const Domain& domain, const Workload& workload) {
  if (const auto* conjunctions = workload.conjunctions()) {
    return Workload::of_conjunctions(domain, workload.name(),
                                     over(domain, *conjunctions, workload.stated_answers()));
  }
  const auto cliques = workload.cliques();
  return {domain, workload.name(), std::vector<WeightedClique>(cliques.begin(), cliques.end())};
}

void note_stated(const Workload& workload, std::vector<std::string>& notes) {
  if (workload.stated_answers().empty()) return;
  notes.push_back(fmt::format(
      "The errors on {} are against the answers that it states, not those of the real rows.",
      workload.name()));
}

Evaluation judge(const Workload& workload, const Looked& real, const Looked& synthetic) {
  const auto* conjunctions = workload.conjunctions();
  if (conjunctions == nullptr) return evaluate_workload(workload, real, synthetic);
  return evaluate_conjunctions(*conjunctions, reference_shares(workload, real.table, real.threads),
                               conjunction_shares(*conjunctions, synthetic.table, real.threads));
}

Workload countable_columns(const Domain& domain) {
  std::vector<WeightedClique> cliques;
  for (AttributeId id = 0; id < domain.size(); ++id) {
    if (domain[id].size <= kMostCellsOfMarginal) cliques.push_back({{id}});
  }
  return {domain, "all-1way", std::move(cliques)};
}

constexpr double kContestPenalty = 250.0;   // rows
constexpr std::uint64_t kPairsSeed = 2020;  // of the pairs that are drawn

ContestScore contest_score(const EvaluationRequest& request, const Domain& domain,
                           std::span<const AttributeId> by, const Table& real,
                           const Table& synthetic) {
  const Clique key(std::vector<AttributeId>(by.begin(), by.end()));
  const auto asked = request.pairs.value_or(0);
  const auto most =
      asked > 0 ? static_cast<std::size_t>(asked) : std::numeric_limits<std::size_t>::max();
  const auto pairs = pairs_outside(domain, key, most, kPairsSeed);
  if (pairs.empty()) {
    throw UsageError(TANDEM_SETTING(
        "group-by") " leaves no pair of other columns to compare; name fewer columns.");
  }
  ContestScore out;
  out.pairs = pairs.size();
  out.count_penalty = request.count_penalty.value_or(kContestPenalty);
  out.score = score_groups(real, synthetic, key, pairs, out.count_penalty);
  for (const auto& group : out.score.groups) {
    std::vector<std::string> values;
    for (const auto id : by) {  // in the order that was asked for
      const auto place = static_cast<std::size_t>(std::ranges::find(key, id) - key.begin());
      values.push_back(code_text(domain[id], group.key[place]));
    }
    out.keys.push_back(std::move(values));
  }
  return out;
}

}  // namespace

namespace {

// Lists of pairs: conjunctions alone, and nothing of single columns, of which there are too many.
EvaluationResult evaluate_pairs(const EvaluationRequest& request, const Schema& schema) {
  if (!is_pairs(request.real) || !is_pairs(request.synthetic)) {
    throw UsageError(
        "One of the two is a list of pairs and the other a table; give pairs:FILE twice.");
  }
  if (!request.group_by.empty()) {
    throw UsageError(
        TANDEM_SETTING("group-by") " is of tables, and these are lists of pairs; leave it out.");
  }
  require_pairs(schema);
  const Workload workload = Workload::parse(
      schema.domain(), request.workload.empty() ? "conjunctions:3:20000:1" : request.workload);
  const auto* conjunctions = workload.conjunctions();
  if (conjunctions == nullptr) {
    throw UsageError("A list of pairs is asked conjunctions; give " TANDEM_SETTING(
        "workload") " conjunctions:3:20000:1, or the one of the release.");
  }
  const auto read = [&](const std::string& source, RowPolicy policy) {
    return load_pairs(source, schema,
                      {.policy = policy,
                       .progress = progress_of(request.reading, source),
                       .cancel = request.threads.cancel});
  };
  EvaluationResult result;
  const BitTable real = read(request.real, RowPolicy::Repair);
  const BitTable synthetic = read(request.synthetic, RowPolicy::MustFit);
  result.real_rows = real.rows();
  result.synthetic_rows = synthetic.rows();
  result.evaluation =
      evaluate_conjunctions(*conjunctions, reference_shares(workload, real, request.threads),
                            conjunction_shares(*conjunctions, synthetic, request.threads));
  result.evaluation.workload = workload.name();
  note_stated(workload, result.notes);
  result.repaired = result.evaluation;
  return result;
}

}  // namespace

EvaluationResult evaluate_files(const EvaluationRequest& request) {
  const Schema read = Schema::read(request.schema);
  const Schema schema = read.with_format(stated_format(request.text, read.format()));
  if (is_pairs(request.real) || is_pairs(request.synthetic)) {
    return evaluate_pairs(request, schema);
  }
  const Workload asked = workload_of(request, schema.domain());
  std::vector<AttributeId> by;
  for (const auto& name : request.group_by) {
    by.push_back(schema.domain().at(name, TANDEM_SETTING("group-by")));
  }

  if ((request.pairs || request.count_penalty) && by.empty()) {
    throw UsageError(
        fmt::format("{} is of groups; name their columns with " TANDEM_SETTING("group-by") ".",
                    request.pairs ? TANDEM_SETTING("pairs") : TANDEM_SETTING("count-penalty")));
  }
  if (request.pairs.value_or(0) < 0 || !(request.count_penalty.value_or(0.0) >= 0.0)) {
    throw UsageError(TANDEM_SETTING("pairs") " and " TANDEM_SETTING(
        "count-penalty") " are numbers from 0; give such.");
  }

  EvaluationResult result;
  FileFit real_fit = load_real(schema, request, result.notes);
  FileFit synthetic_fit = load_synthetic(schema, request, result.notes);
  result.real_rows = real_fit.rows;
  result.synthetic_rows = synthetic_fit.rows;
  result.findings = findings_of(real_fit, schema, RowPolicy::Repair);
  for (std::size_t i = 0; i < schema.rules().size(); ++i) {
    result.rules.push_back(
        {schema.rules()[i].text, real_fit.broken_rules[i], synthetic_fit.broken_rules[i]});
  }
  for (std::size_t i = 0; i < real_fit.relations.size(); ++i) {
    result.relations.push_back({real_fit.relations[i].text, real_fit.relations[i].broken,
                                synthetic_fit.relations[i].broken});
  }
  for (AttributeId id = 0; id < schema.domain().size(); ++id) {
    result.fits.push_back(
        {schema.domain()[id].name, real_fit.columns[id].counts, synthetic_fit.columns[id].counts});
  }

  const RawDomain raw = raw_domain(schema, real_fit, synthetic_fit);
  Replaced repaired;
  Table real = to_raw(std::move(real_fit.raw), raw, &repaired);
  const Table synthetic = to_raw(std::move(synthetic_fit.raw), raw, nullptr);
  const Workload workload = over(raw.domain, asked);
  const Looked reference{real, request.threads};
  const Looked estimate{synthetic, request.threads};

  note_stated(workload, result.notes);
  result.evaluation = judge(workload, reference, estimate);
  result.evaluation.workload = workload.name();
  if (workload.conjunctions() == nullptr) {
    result.yardstick = yardstick(real, workload, {}, request.threads);
  }
  const Workload singles = countable_columns(raw.domain);
  std::vector<double> errors;
  if (singles.size() > 0) {
    evaluate_workload(singles, reference, estimate, &errors);
    result.columns =
        judge_marginals(singles, errors, yardstick(real, singles, {}, request.threads).tenth());
  }
  const auto pairs = all_pairs(raw.domain);
  if (pairs) {
    errors.clear();
    const auto of_pairs = evaluate_workload(*pairs, reference, estimate, &errors);
    result.evaluation.k_marginal_score = k_marginal_score(of_pairs.avg_workload_error);
    result.pair_yardstick = yardstick(real, *pairs, {}, request.threads);
    result.pairs = judge_marginals(*pairs, errors, result.pair_yardstick.tenth());
  }
  result.quantiles = compare_quantiles(schema, real_fit, synthetic_fit);
  result.group_by = request.group_by;
  if (!by.empty()) {
    for (auto& group : group_errors(real, synthetic, by, request.threads)) {
      GroupJudgement item;
      for (std::size_t i = 0; i < by.size(); ++i) {
        item.values.push_back(code_text(raw.domain[by[i]], group.codes[i]));
      }
      item.group = std::move(group);
      result.groups.push_back(std::move(item));
    }
  }

  if (request.pairs || request.count_penalty) {
    result.contest = contest_score(request, raw.domain, by, real, synthetic);
  }

  // Now as a release reads the real table.
  result.any_repair = !repaired.empty() || real_fit.rows_breaking > 0;
  result.repaired = result.evaluation;
  if (result.any_repair) {
    for (auto& [id, column] : repaired) real.column(id) = std::move(column);
    mend_rows(schema.row_rules(), real);
    result.repaired = judge(workload, reference, estimate);
    if (pairs) {
      result.repaired.k_marginal_score =
          k_marginal_score(evaluate_workload(*pairs, reference, estimate).avg_workload_error);
    }
  }
  return result;
}

}  // namespace tandem
