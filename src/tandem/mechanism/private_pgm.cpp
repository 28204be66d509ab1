// SPDX-License-Identifier: Apache-2.0
// Private-PGM: given marginals with noise, and the graphical model that explains them best.
//   McKenna, Sheldon, Miklau. Graphical-model based estimation and inference for differential
//   privacy. 2019. Algorithm 1.
//   Symbols: y noisy marginals, p model. docs/mechanisms/private_pgm.md
#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <queue>
#include <tuple>
#include <utility>

#include "tandem/base/error.h"
#include "tandem/base/text.h"
#include "tandem/mechanism/mechanism.h"
#include "tandem/mechanism/rounds/common.h"
#include "tandem/mechanism/rounds/model_start.h"
#include "tandem/model/pgm/junction_tree.h"

namespace tandem::mechanism {
namespace {

enum class Split { Even, Weight };

constexpr double kFitInRounds = 10.0;  // one cold fit takes as long as so many warm ones

struct Options {
  std::string marginals = "workload";
  Split split = Split::Even;
  double max_model_mb = 8.0;
};

// What is measured, and what there was no room for.
struct Chosen {
  std::vector<WeightedClique> marginals;
  std::size_t left_out = 0;
};

// Does the model that is held have room for one more?
bool fits(const ModelSizer& held, const Clique& clique, double limit_mb) {
  return static_cast<double>(held.bytes_with(clique)) <= limit_mb * 1e6;
}

// "age+sex,region" as two marginals.
Chosen parse_marginals(const Domain& domain, const Options& options, const ModelStart& start) {
  std::vector<WeightedClique> given;
  auto cliques = start.cliques;
  for (const auto marginal : tandem::split(options.marginals, ',')) {
    std::vector<AttributeId> ids;
    for (const auto name : tandem::split(marginal, '+')) {
      ids.push_back(domain.at(trim(name), "The parameter marginals"));
    }
    given.push_back({Clique(std::move(ids)), 1.0});
    const Clique& clique = given.back().clique;
    if (!fits(ModelSizer(domain, cliques), clique, options.max_model_mb)) {
      throw UsageError(fmt::format(
          "The parameter marginals has no room for {} in a model of {:g} MB; raise max-model-mb, "
          "or measure fewer or smaller marginals.",
          domain.describe(clique), options.max_model_mb));
    }
    cliques.push_back(clique);
  }
  const Workload unique(domain, "marginals", given);
  return {.marginals = {unique.cliques().begin(), unique.cliques().end()}};
}

// The heaviest marginals of the workload first, and among equals those whose columns were taken
// least so far, as long as the model has room; then columns that came off with nothing, alone.
Chosen choose_marginals(const Problem& problem, const Options& options, const ModelStart& start) {
  const auto workload = problem.workload.cliques();
  std::vector<int> taken(problem.domain.size(), 0);
  const auto rank = [&](std::size_t i) {
    int times = 0;
    for (const auto id : workload[i].clique) times += taken[id];
    return std::tuple(-workload[i].weight, times, i);  // the least comes first
  };
  using Rank = std::tuple<double, int, std::size_t>;
  std::priority_queue<Rank, std::vector<Rank>, std::greater<>> queue;
  for (std::size_t i = 0; i < workload.size(); ++i) queue.push(rank(i));

  Chosen out;
  auto cliques = start.cliques;
  ModelSizer sizer(problem.domain, cliques);
  while (!queue.empty()) {
    const Rank top = queue.top();
    queue.pop();
    const std::size_t i = std::get<2>(top);
    if (rank(i) != top) {  // its columns were taken since: back in line
      queue.push(rank(i));
      continue;
    }
    const Clique& clique = workload[i].clique;
    if (!fits(sizer, clique, options.max_model_mb)) {
      ++out.left_out;
      continue;
    }
    for (const auto id : clique) ++taken[id];
    out.marginals.push_back(workload[i]);
    cliques.push_back(clique);
    sizer = ModelSizer(problem.domain, cliques);
  }
  for (const auto& [clique, weight] : workload) {
    for (const auto id : clique) {
      if (taken[id]++ == 0) out.marginals.push_back({Clique{id}, weight});
    }
  }
  return out;
}

Chosen marginals_of(const Problem& problem, const Options& options, const ModelStart& start) {
  Chosen out = options.marginals == "workload" ? choose_marginals(problem, options, start)
                                               : parse_marginals(problem.domain, options, start);
  std::erase_if(out.marginals, [&](const auto& marginal) {
    return problem.domain.cells(marginal.clique) == 1;  // nothing to measure
  });
  if (out.marginals.empty()) {
    throw UsageError(
        "private-pgm has nothing to measure: its marginals are of columns with a single value; "
        "name others.");
  }
  return out;
}

std::vector<LinearQuery> queries_of(const Chosen& chosen) {
  std::vector<LinearQuery> out;
  for (const auto& [clique, weight] : chosen.marginals) out.push_back({clique});
  return out;
}

// Shares that add up to the budget exactly: the last takes what rounding leaves.
std::vector<Cost> costs_of(const Chosen& chosen, Cost budget, Split split) {
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

std::vector<Warning> remarks(const Problem& problem, const Chosen& chosen) {
  std::vector<Warning> out;
  if (chosen.left_out > 0) {
    out.push_back(
        {"model.too_small",
         fmt::format("The model has room for {} of the workload's {} marginals; a larger "
                     "max-model-mb would hold more, and aim would choose which.",
                     problem.workload.size() - chosen.left_out, problem.workload.size())});
  }
  std::vector<std::string> unseen;
  for (AttributeId id = 0; id < problem.domain.size(); ++id) {
    const bool measured = problem.domain[id].size == 1 ||
                          std::ranges::any_of(chosen.marginals, [&](const auto& marginal) {
                            return marginal.clique.contains(id);
                          });
    if (!measured) unseen.push_back(problem.domain[id].name);
  }
  if (!unseen.empty()) {
    out.push_back(
        {"columns.unmeasured", fmt::format("Nothing is measured of {}: all values are alike there.",
                                           list_names(unseen, 8))});
  }
  return out;
}

Effort effort_of(const Curator& /*curator*/, const Problem& problem, const Options& options,
                 double /*rows_expected*/) {
  const auto start = start_model(problem, options.max_model_mb);
  const Chosen chosen = marginals_of(problem, options, start);
  std::vector<Clique> cliques;
  for (const auto& [clique, weight] : chosen.marginals) cliques.push_back(clique);
  return effort(problem.domain, cliques, options.max_model_mb,
                {.rounds = kFitInRounds, .far_answers = false});
}

Release run(Curator& curator, const Problem& problem, const Options& options, Rng& /*rng*/) {
  auto start = start_model(problem, options.max_model_mb);
  const Chosen chosen = marginals_of(problem, options, start);
  for (auto& remark : remarks(problem, chosen)) start.warnings.push_back(std::move(remark));
  const auto n = public_total(curator);
  auto y =
      curator.measure_all(queries_of(chosen), costs_of(chosen, curator.remaining(), options.split));
  const double total = n ? *n : estimate_total(y);
  auto fit = estimate_pgm(problem.domain, y, total, start.zeros,
                          {.tolerance = 1e-4, .threads = curator.threads()});
  return graphical_release(std::move(fit), std::move(y), total, start);
}

Plan plan(const Curator& curator, const Problem& problem, const Options& options) {
  const auto start = start_model(problem, options.max_model_mb);
  const Chosen chosen = marginals_of(problem, options, start);
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
  for (auto& remark : remarks(problem, chosen)) {
    out.push_back({"remark", Document::object(), std::move(remark.text)});
  }
  return out;
}

}  // namespace

Mechanism private_pgm() {
  Field<Options> marginals{
      .info = {"marginals", "text", "workload",
               "those to measure, such as age+sex,region; or the workload's own, as far as the "
               "model has room"},
      .set = [](Options& options, const std::string& text) { options.marginals = text; },
      .get = [](const Options& options) { return options.marginals; }};
  return make_mechanism<Options>(
      {.name = "private-pgm",
       .summary = "Graphical model of given marginals",
       .reference = "McKenna, Sheldon, Miklau. Graphical-model based estimation and inference for "
                    "differential privacy. 2019.",
       .pure = true},
      run, plan,
      {marginals,
       choice("split", &Options::split, {{"even", Split::Even}, {"weight", Split::Weight}},
              "how marginals share the budget: evenly, or by their weights in the workload"),
       field("max-model-mb", &Options::max_model_mb, "largest model, in megabytes",
             at_least(0.001))},
      effort_of);
}

}  // namespace tandem::mechanism
