// SPDX-License-Identifier: Apache-2.0
// The tables and the document of an evaluation.

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "tandem/base/check.h"
#include "tandem/base/text.h"
#include "tandem/engine/evaluation.h"
#include "tandem/engine/fit/hints.h"
#include "tandem/engine/text_table.h"

namespace tandem {

namespace {

constexpr int kFormat = 1;
// Lines of each table on a screen; the document has all.
constexpr std::size_t kShownFindings = 6;
constexpr std::size_t kShownMarginals = 8;
constexpr std::size_t kShownQuantiles = 6;
constexpr std::size_t kShownGroups = 10;
constexpr std::size_t kShownRules = 5;

constexpr std::array kSampleFractions = {0.01, 0.1, 0.5};

// A figure of an evaluation, and where its yardstick is.
struct Figure {
  std::string_view name;
  double Evaluation::*metric;
  bool score = false;  // the k-marginal score: of all pairs, by their average error
};
constexpr std::array<Figure, 5> kFigures = {
    {{"avg_workload_error", &Evaluation::avg_workload_error},
     {"max_error", &Evaluation::max_error},
     {"mean_error", &Evaluation::mean_error},
     {"rmse", &Evaluation::rmse},
     {"k_marginal_score", &Evaluation::avg_workload_error, true}}};

std::optional<double> value_of(const Figure& figure, const Evaluation& evaluation) {
  if (figure.score) return evaluation.k_marginal_score;
  return evaluation.*figure.metric;
}

std::optional<double> of_sample(const Figure& figure, const EvaluationResult& result,
                                double fraction) {
  if (!figure.score) return result.yardstick.error(figure.metric, fraction);
  const auto error = result.pair_yardstick.error(figure.metric, fraction);
  return error ? std::optional(k_marginal_score(*error)) : std::nullopt;
}

std::optional<EquivalentSample> equivalent(const Figure& figure, const EvaluationResult& result) {
  const auto value = value_of(figure, result.evaluation);
  if (!value) return std::nullopt;
  if (!figure.score) return result.yardstick.equivalent(figure.metric, *value);
  return result.pair_yardstick.equivalent(figure.metric, 2.0 - *value / 500.0);
}

// ---- JSON ----

Document number(std::optional<double> value) { return value ? Document(*value) : Document(); }
Document count(std::size_t value) { return {static_cast<std::uint64_t>(value)}; }

Document yardstick_document(const EvaluationResult& result) {
  Document samples = Document::array();
  for (const double fraction : kSampleFractions) {
    Document sample = Document::object({{"fraction", fraction}});
    for (const auto& figure : kFigures) {
      sample.set(std::string(figure.name), number(of_sample(figure, result, fraction)));
    }
    samples.push(std::move(sample));
  }
  Document equivalents = Document::object();
  for (const auto& figure : kFigures) {
    const auto same = equivalent(figure, result);
    Document item;
    if (same) {
      using enum EquivalentSample::Side;
      item = Document::object({{"fraction", same->fraction},
                               {"side", same->side == Below   ? "below"
                                        : same->side == Above ? "above"
                                                              : "within"}});
    }
    equivalents.set(std::string(figure.name), std::move(item));
  }
  return Document::object({{"draws", count(result.yardstick.draws())},
                           {"largest_sample", count(result.yardstick.largest_sample())},
                           {"samples", std::move(samples)},
                           {"equivalent", std::move(equivalents)}});
}

Document fit_document(const std::array<std::size_t, kValueFits>& counts) {
  Document out = Document::object();
  for (std::size_t i = 0; i < kValueFits; ++i) out.set(kValueFitNames[i], count(counts[i]));
  return out;
}

Document columns_document(const EvaluationResult& result) {
  Document out = Document::array();
  const auto add = [&](const ColumnFitCounts& fit, const MarginalJudgement* judged) {
    out.push(Document::object(
        {{"column", fit.column},
         {"error", number(judged != nullptr ? judged->error : std::nullopt)},
         {"tenth_sample_error", number(judged != nullptr ? judged->tenth : std::nullopt)},
         {"real", fit_document(fit.real)},
         {"synthetic", fit_document(fit.synthetic)}}));
  };
  std::vector<bool> there(result.fits.size(), false);
  for (const auto& judged : result.columns) {
    const auto fit =
        std::ranges::find(result.fits, judged.columns.front(), &ColumnFitCounts::column);
    there[static_cast<std::size_t>(fit - result.fits.begin())] = true;
    add(*fit, &judged);
  }
  for (std::size_t i = 0; i < there.size(); ++i) {
    if (!there[i]) add(result.fits[i], nullptr);
  }
  return out;
}

Document pairs_document(const EvaluationResult& result) {
  Document out = Document::array();
  for (const auto& pair : result.pairs) {
    Document names = Document::array();
    for (const auto& name : pair.columns) names.push(name);
    out.push(Document::object({{"columns", std::move(names)},
                               {"error", number(pair.error)},
                               {"tenth_sample_error", number(pair.tenth)}}));
  }
  return out;
}

Document side_document(const Quantiles& quantiles, const Quantiles::Side& side) {
  Document points = Document::array();
  for (std::size_t i = 0; i < side.points.size(); ++i) {
    const bool plain = quantiles.numeric && std::isfinite(side.points[i]);
    points.push(plain ? Document(side.points[i]) : Document(side.texts[i]));
  }
  return Document::object(
      {{"values", count(side.values)}, {"sampled", side.sampled}, {"points", std::move(points)}});
}

Document contest_document(const ContestScore& contest) {
  Document groups = Document::array();
  for (std::size_t i = 0; i < contest.keys.size(); ++i) {
    const ScoredGroup& group = contest.score.groups[i];
    Document key = Document::array();
    for (const auto& value : contest.keys[i]) key.push(value);
    groups.push(Document::object({{"values", std::move(key)},
                                  {"real_rows", group.reference_rows},
                                  {"synthetic_rows", group.estimate_rows},
                                  {"l1", group.l1},
                                  {"error", group.error}}));
  }
  return Document::object({{"error", contest.score.error},
                           {"penalised", static_cast<std::uint64_t>(contest.score.penalised)},
                           {"pairs", static_cast<std::uint64_t>(contest.pairs)},
                           {"count_penalty", contest.count_penalty},
                           {"groups", std::move(groups)}});
}

Document groups_document(const EvaluationResult& result) {
  Document out = Document::array();
  for (const auto& [values, group] : result.groups) {
    Document texts = Document::array();
    for (const auto& value : values) texts.push(value);
    out.push(Document::object({{"values", std::move(texts)},
                               {"real_rows", count(group.reference_rows)},
                               {"synthetic_rows", count(group.estimate_rows)},
                               {"error", number(group.error)},
                               {"small", group.small()}}));
  }
  return out;
}

}  // namespace

Document to_document(const EvaluationResult& result) {
  const Evaluation& e = result.evaluation;
  Document out = Document::object({
      {"format", kFormat},
      {"internal", true},
      {"workload", e.workload},
      {"queries", count(e.queries)},
      {"marginals", count(e.marginals)},
      {"avg_workload_error", e.avg_workload_error},
      {"max_error", e.max_error},
      {"mean_error", e.mean_error},
      {"rmse", e.rmse},
      {"k_marginal_score", number(e.k_marginal_score)},
  });
  out.set("rows", Document::object({{"real", count(result.real_rows)},
                                    {"synthetic", count(result.synthetic_rows)}}));
  out.set("repaired",
          Document::object({{"avg_workload_error", result.repaired.avg_workload_error},
                            {"max_error", result.repaired.max_error},
                            {"k_marginal_score", number(result.repaired.k_marginal_score)}}));
  out.set("yardstick", yardstick_document(result));
  out.set("columns", columns_document(result));
  out.set("pairs", pairs_document(result));
  Document quantiles = Document::array();
  for (const auto& item : result.quantiles) {
    quantiles.push(Document::object({{"column", item.column},
                                     {"real", side_document(item, item.real)},
                                     {"synthetic", side_document(item, item.synthetic)}}));
  }
  out.set("quantiles", std::move(quantiles));
  Document by = Document::array();
  for (const auto& name : result.group_by) by.push(name);
  out.set("group_by", std::move(by));
  out.set("groups", groups_document(result));
  if (result.contest) out.set("contest", contest_document(*result.contest));
  Document rules = Document::array();
  for (const auto& rule : result.rules) {
    rules.push(Document::object(
        {{"rule", rule.text}, {"real", count(rule.real)}, {"synthetic", count(rule.synthetic)}}));
  }
  out.set("rules", std::move(rules));
  Document relations = Document::array();
  for (const auto& relation : result.relations) {
    relations.push(Document::object({{"relation", relation.text},
                                     {"real", count(relation.real)},
                                     {"synthetic", count(relation.synthetic)}}));
  }
  out.set("relations", std::move(relations));
  out.set("findings", to_document(result.findings));
  return out;
}

// ---- Text ----

namespace {

std::string percent(double fraction) { return fmt::format("{:.2g}%", 100.0 * fraction); }

// "a 23% sample", "an 8% sample".
std::string sample_of(double fraction) {
  const std::string size = percent(fraction);
  const bool vowel = size.starts_with('8') || size == "11%" || size == "18%";
  return fmt::format("{} {} sample", vowel ? "an" : "a", size);
}

std::string in_words(const std::optional<EquivalentSample>& sample) {
  if (!sample) return "";
  using enum EquivalentSample::Side;
  const std::string words = sample_of(sample->fraction);
  return sample->side == Below   ? "less than " + words
         : sample->side == Above ? "more than " + words
                                 : words;
}

std::string figure_text(const Figure& figure, std::optional<double> value) {
  if (!value) return "-";
  if (figure.score) return fmt::format("{:.1f}", *value);
  return fmt::format("{:.3g}", *value);
}

std::string error_text(std::optional<double> error) {
  return error ? fmt::format("{:.4f}", *error) : "-";
}

std::string findings_text(const EvaluationResult& result) {
  std::string out;
  std::size_t wrong = 0;
  for (const auto& finding : result.findings) {
    if (!finding.wrong) break;
    if (++wrong <= kShownFindings) out += "  " + finding.text + "\n";
  }
  if (wrong == 0) return "";
  if (wrong > kShownFindings) out += fmt::format("  and {} more.\n", wrong - kShownFindings);
  return "WRONG with the real file, or with the schema ('tandem check' says more):\n" + out + "\n";
}

std::string figures_text(const EvaluationResult& result) {
  const Evaluation& e = result.evaluation;
  const std::string marginals =
      e.marginals > 0 ? fmt::format("{} marginals, ", with_commas(e.marginals)) : "";
  std::string out = fmt::format("  {}: {}{} queries; {} real rows, {} synthetic\n\n", e.workload,
                                marginals, with_commas(e.queries), with_commas(result.real_rows),
                                with_commas(result.synthetic_rows));
  TextTable table;
  table.add({"", "", "1% sample", "10%", "50%", "as good as"});
  for (const auto& figure : kFigures) {
    std::vector<std::string> row = {std::string(figure.name),
                                    figure_text(figure, value_of(figure, e))};
    for (const double fraction : kSampleFractions) {
      row.push_back(figure_text(figure, of_sample(figure, result, fraction)));
    }
    row.push_back(in_words(equivalent(figure, result)));
    table.add(std::move(row));
  }
  out += table.text();
  if (result.any_repair) {
    out += fmt::format(
        "\n  With the real table as a release reads it, values repaired and rows mended:\n"
        "  avg_workload_error {:.3g}, max_error {:.3g}, k_marginal_score {}\n",
        result.repaired.avg_workload_error, result.repaired.max_error,
        figure_text(kFigures.back(), result.repaired.k_marginal_score));
  }
  if (result.yardstick.extrapolated()) {
    out += fmt::format(
        "\n  Samples of more than {} rows were not drawn; their errors follow from "
        "smaller ones.\n",
        with_commas(result.yardstick.largest_sample()));
  }
  return out;
}

std::string columns_text(const EvaluationResult& result) {
  if (result.columns.empty()) return "";
  TextTable table;
  const std::size_t shown = std::min(result.columns.size(), kShownMarginals);
  std::vector<std::vector<std::string>> rows = {
      {"column", "error", "10% sample", "adapted", "no place"}};
  bool any = false;
  for (std::size_t i = 0; i < shown; ++i) {
    const auto& judged = result.columns[i];
    const auto& fit =
        *std::ranges::find(result.fits, judged.columns.front(), &ColumnFitCounts::column);
    const auto of = [&](ValueFit verdict) { return fit.real[static_cast<std::size_t>(verdict)]; };
    const std::size_t adapted = of(ValueFit::Between) + of(ValueFit::Other);
    const std::size_t outside =
        of(ValueFit::Below) + of(ValueFit::Above) + of(ValueFit::Unfit) + of(ValueFit::Missing);
    any = any || adapted + outside > 0;
    rows.push_back({readable(judged.columns.front()), error_text(judged.error),
                    error_text(judged.tenth), adapted > 0 ? with_commas(adapted) : "",
                    outside > 0 ? with_commas(outside) : ""});
  }
  for (auto& row : rows) {
    if (!any) row.resize(3);  // all real values have a place
    table.add(std::move(row));
  }
  std::string out = "\n" + table.text();
  if (result.columns.size() > shown) {
    out += fmt::format("  {} more are nearer\n", result.columns.size() - shown);
  }
  return out;
}

std::string pairs_text(const EvaluationResult& result) {
  if (result.pairs.empty() || result.pairs.front().columns.size() < 2) return "";
  TextTable table;
  table.add({"pair", "error", "10% sample"});
  const std::size_t shown = std::min(result.pairs.size(), kShownMarginals);
  for (std::size_t i = 0; i < shown; ++i) {
    const auto& judged = result.pairs[i];
    table.add({readable(judged.columns[0]) + ", " + readable(judged.columns[1]),
               error_text(judged.error), error_text(judged.tenth)});
  }
  std::string out = "\n" + table.text();
  if (result.pairs.size() > shown) {
    out += fmt::format("  {} more are nearer\n", with_commas(result.pairs.size() - shown));
  }
  return out;
}

std::string quantiles_text(const EvaluationResult& result) {
  if (result.quantiles.empty()) return "";
  TextTable table;
  table.add({"values", "", "least", "5%", "25%", "50%", "75%", "95%", "most"});
  const std::size_t shown = std::min(result.quantiles.size(), kShownQuantiles);
  for (std::size_t i = 0; i < shown; ++i) {
    const auto& item = result.quantiles[i];
    const auto add = [&](std::string name, std::string side, const Quantiles::Side& of) {
      std::vector<std::string> row = {std::move(name), std::move(side)};
      for (const auto& text : of.texts) row.push_back(text);
      if (of.texts.empty()) row.emplace_back("none");
      table.add(std::move(row));
    };
    add(readable(item.column), "real", item.real);
    add("", "synthetic", item.synthetic);
  }
  std::string out = "\n" + table.text();
  if (result.quantiles.size() > shown) {
    out += fmt::format("  {} more are in the JSON\n", result.quantiles.size() - shown);
  }
  return out;
}

std::string contest_text(const EvaluationResult& result) {
  if (!result.contest) return "";
  const auto& [score, keys, pairs, penalty] = *result.contest;
  return fmt::format(
      "\nThe contest's score of {} groups on {} pairs of columns: {:.3f} (0 to 2), {} of them off "
      "by more than {:g} rows\n",
      with_commas(keys.size()), pairs, score.error, with_commas(score.penalised), penalty);
}

std::string groups_text(const EvaluationResult& result) {
  if (result.groups.empty()) return "";
  TextTable table;
  std::string by;
  for (const auto& name : result.group_by) by += (by.empty() ? "" : ", ") + readable(name);
  table.add({by, "error", "real rows", "synthetic", ""});
  const std::size_t shown = std::min(result.groups.size(), kShownGroups);
  for (std::size_t i = 0; i < shown; ++i) {
    const auto& [values, group] = result.groups[i];
    std::string name;
    for (const auto& value : values) name += (name.empty() ? "" : ", ") + readable(value);
    table.add({name, error_text(group.error), with_commas(group.reference_rows),
               with_commas(group.estimate_rows), group.small() ? "small" : ""});
  }
  std::string out = "\n" + table.text();
  if (result.groups.size() > shown) {
    out +=
        fmt::format("  {} more are nearer, or small\n", with_commas(result.groups.size() - shown));
  }
  return out;
}

std::string broken_text(const std::vector<BrokenStatement>& statements, const std::string& title) {
  std::vector<BrokenStatement> broken;
  for (const auto& rule : statements) {
    if (rule.real + rule.synthetic > 0) broken.push_back(rule);
  }
  if (broken.empty()) return "";
  std::ranges::stable_sort(broken, std::ranges::greater{},
                           [](const auto& rule) { return rule.real + rule.synthetic; });
  TextTable table;
  table.add({title, "real", "synthetic"});
  const std::size_t shown = std::min(broken.size(), kShownRules);
  for (std::size_t i = 0; i < shown; ++i) {
    table.add({broken[i].text, with_commas(broken[i].real), with_commas(broken[i].synthetic)});
  }
  std::string out = "\n" + table.text();
  if (broken.size() > shown) {
    out += fmt::format("  {} more are in the JSON\n", broken.size() - shown);
  }
  return out;
}

}  // namespace

std::string to_text(const EvaluationResult& result) {
  return "INTERNAL: computed from the real table; not for publication\n\n" + findings_text(result) +
         figures_text(result) + columns_text(result) + pairs_text(result) + groups_text(result) +
         contest_text(result) + quantiles_text(result) +
         broken_text(result.rules, "rows that break a rule") +
         broken_text(result.relations, "rows that break a relation");
}

}  // namespace tandem
