// SPDX-License-Identifier: Apache-2.0
// Private-PGM: given marginals with noise, and the graphical model that explains them best.
//   McKenna, Sheldon, Miklau. Graphical-model based estimation and inference for differential
//   privacy. 2019. Algorithm 1.
//   Symbols: y noisy marginals, p model. docs/mechanisms/private_pgm.md
#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <utility>

#include "tandem/mechanism/mechanism.h"
#include "tandem/mechanism/rounds/chosen_marginals.h"
#include "tandem/mechanism/rounds/common.h"
#include "tandem/mechanism/rounds/model_start.h"

namespace tandem::mechanism {
namespace {

enum class Split { Even, Weight };

constexpr double kFitInRounds = 10.0;  // one cold fit takes as long as so many warm ones

struct Options {
  std::string marginals = "workload";
  Split split = Split::Even;
  double max_model_mb = 8.0;
};

// Shares that add up to the budget exactly: the last takes what rounding leaves.
std::vector<Cost> costs_of(const ChosenMarginals& chosen, Cost budget, Split split) {
  std::vector<double> left = {0.0};  // weight of this marginal and those after it, backwards
  for (std::size_t i = chosen.marginals.size(); i-- > 0;) {
    left.push_back(left.back() + (split == Split::Weight ? chosen.marginals[i].weight : 1.0));
  }
  std::vector<Cost> out;
  for (std::size_t i = left.size() - 1; i > 0; --i) {
    const auto [mine, rest] = budget.split(1.0 - left[i - 1] / left[i]);
    out.push_back(mine);
    budget = rest;
  }
  return out;
}

constexpr const char* kUnmeasured = "all values are alike there";

Effort effort_of(const Curator& curator, const Problem& problem, const Options& options,
                 double rows_expected) {
  const auto start = start_model(problem, options.max_model_mb);
  const auto room = room_in_model(problem.domain, start.cliques, options.max_model_mb);
  MarginalChoice choice("private-pgm", options.marginals, problem, *room, options.max_model_mb);
  const auto chosen =
      choice.about(curator, rows_expected > 0.0 ? rows_expected : problem.public_data.rows());
  std::vector<Clique> cliques;
  for (const auto& [clique, weight] : chosen.marginals) cliques.push_back(clique);
  Effort out = effort(problem.domain, cliques, options.max_model_mb,
                      {.rounds = kFitInRounds, .far_answers = false});
  out.seconds += choice.seconds();
  return out;
}

Release run(Curator& curator, const Problem& problem, const Options& options, Rng& /*rng*/) {
  auto start = start_model(problem, options.max_model_mb);
  const auto room = room_in_model(problem.domain, start.cliques, options.max_model_mb);
  MarginalChoice choice("private-pgm", options.marginals, problem, *room, options.max_model_mb);
  const auto n = public_total(curator);
  Release counted;  // with the number of rows, where public cliques are chosen by it
  if (!n && choice.needs_rows()) measure_total(curator, counted);
  const auto chosen = choice.take(curator, n.value_or(counted.total));
  for (auto& remark : remarks(problem, chosen, kUnmeasured)) {
    start.warnings.push_back(std::move(remark));
  }
  auto y = std::move(counted.measurements);
  std::ranges::move(
      curator.measure_all(queries_of(chosen), costs_of(chosen, curator.remaining(), options.split)),
      std::back_inserter(y));
  const double total = n ? *n : estimate_total(y);
  auto fit = estimate_pgm(problem.domain, y, total, start.zeros,
                          {.tolerance = 1e-4, .threads = curator.threads()});
  return graphical_release(std::move(fit), std::move(y), total, start);
}

Plan plan(const Curator& curator, const Problem& problem, const Options& options) {
  const auto start = start_model(problem, options.max_model_mb);
  const auto room = room_in_model(problem.domain, start.cliques, options.max_model_mb);
  MarginalChoice choice("private-pgm", options.marginals, problem, *room, options.max_model_mb);
  // Nobody has counted private rows here: as many as public ones.
  const auto chosen = choice.take(curator, problem.public_data.rows());
  const auto costs = costs_of(chosen, curator.remaining(), options.split);
  double least = HUGE_VAL;
  double most = 0.0;
  for (std::size_t i = 0; i < costs.size(); ++i) {
    const double sigma = curator.noise_scale({chosen.marginals[i].clique}, costs[i]).value();
    least = std::min(least, sigma);
    most = std::max(most, sigma);
  }
  Plan out = {plan_to_measure(chosen.marginals.size(), "marginals", least)};
  if (most > 1.001 * least) {
    out.front().numbers.set("sigma_at_most", most);
    out.front().sentence.pop_back();
    out.front().sentence += fmt::format(" to {:.4g}.", most);
  }
  for (auto& remark : remarks(problem, chosen, kUnmeasured)) {
    out.push_back({"remark", Document::object(), std::move(remark.text)});
  }
  return out;
}

}  // namespace

Mechanism private_pgm() {
  return make_mechanism<Options>(
      {.name = "private-pgm",
       .summary = "Graphical model of given marginals",
       .reference = "McKenna, Sheldon, Miklau. Graphical-model based estimation and inference for "
                    "differential privacy. 2019.",
       .helped_by_public_data = true,
       .pure = true},
      run, plan,
      {marginals_field<Options>(
           "those to measure, such as age+sex,region; or the workload's own, as far as the model "
           "has room; or public-cliques: those that public data recommends"),
       choice("split", &Options::split, {{"even", Split::Even}, {"weight", Split::Weight}},
              "how marginals share the budget: evenly, or by their weights in the workload"),
       field("max-model-mb", &Options::max_model_mb, "largest model, in megabytes",
             at_least(0.001))},
      effort_of);
}

}  // namespace tandem::mechanism
