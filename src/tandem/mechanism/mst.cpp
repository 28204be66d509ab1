// SPDX-License-Identifier: Apache-2.0
// MST: a tree of two-way marginals, chosen as a maximum spanning tree.
//   McKenna, Miklau, Sheldon. Winning the NIST Contest: A scalable and general approach to
//   differentially private synthetic data. 2021. Algorithms 1 to 3, with the tree chosen privately.
//   Symbols: y noisy marginals, sigma their noise, p model, rho budget. docs/mechanisms/mst.md
#include <fmt/core.h>

#include <algorithm>
#include <numeric>
#include <unordered_map>
#include <utility>

#include "tandem/mechanism/mechanism.h"
#include "tandem/mechanism/rounds/candidates.h"
#include "tandem/mechanism/rounds/common.h"
#include "tandem/mechanism/rounds/compression.h"
#include "tandem/mechanism/rounds/model_start.h"
#include "tandem/model/pgm/junction_tree.h"

namespace tandem::mechanism {
namespace {

constexpr double kFitInRounds = 10.0;  // one cold fit takes as long as so many warm ones

enum class MergedNoise { OfOne, OfAll };

struct Options {
  double merge_below = 3.0;  // times sigma
  MergedNoise merged_noise = MergedNoise::OfOne;
  double max_model_mb = 8.0;
};

std::vector<Clique> all_pairs_of(const Domain& domain) {
  std::vector<Clique> out;
  for (AttributeId a = 0; a < domain.size(); ++a) {
    for (AttributeId b = a + 1; b < domain.size(); ++b) {
      if (domain[a].size > 1 && domain[b].size > 1) out.push_back({a, b});
    }
  }
  return out;
}

// How wrong the model without any edge is about pairs, kept from one selection to the next.
class PairErrors {
 public:
  PairErrors(const GraphicalModel& independent, std::size_t most_cells)
      : independent_(independent), most_cells_(most_cells) {}

  std::vector<Candidate> of(std::span<const Clique> pairs) {
    std::vector<Clique> missing;
    for (const auto& pair : pairs) {
      if (!known_.contains(pair)) missing.push_back(pair);
    }
    for (const auto& pair : missing) cells_ += independent_.domain().cells(pair);
    if (cells_ > most_cells_ && !known_.empty()) {
      known_.clear();
      cells_ = 0;
      return of(pairs);
    }
    for (auto& answer : independent_.project_all(missing)) {
      const Clique pair = answer.clique;
      known_.emplace(pair, l1_error(std::move(answer)));
    }
    std::vector<Candidate> out;
    for (const auto& pair : pairs) out.push_back({pair, Origin::Private, known_.at(pair)});
    return out;
  }

 private:
  const GraphicalModel& independent_;
  std::size_t most_cells_;
  std::unordered_map<Clique, Score> known_;
  std::size_t cells_ = 0;
};

// Kruskal's algorithm, with the exponential mechanism in place of the maximum: at each step an edge
// between two parts of the forest, by how wrong the model without any edge is about it. Pairs that
// no model within the limit can hold are never asked for, and of very many a random choice is.
std::vector<Clique> spanning_tree(Curator& curator, const GraphicalModel& independent,
                                  const ModelStart& start, Cost step, double limit_mb, Rng& rng) {
  const Domain& domain = independent.domain();
  const RoundLimit limit;
  PairErrors errors(independent, limit.cells);
  const auto pairs = all_pairs_of(domain);
  std::vector<std::size_t> part(domain.size());  // of the forest
  std::iota(part.begin(), part.end(), std::size_t{0});
  std::vector<Clique> tree;
  std::vector<Clique> held = start.cliques;
  for (;;) {
    std::vector<Clique> joining;
    for (const auto& pair : pairs) {
      if (part[pair[0]] != part[pair[1]]) joining.push_back(pair);
    }
    const ModelSizer sizer(domain, held);
    const auto has_room = [&](std::span<const Clique> candidates) {
      return sizer.within(candidates, limit_mb * 1e6, curator.threads());
    };
    const auto C = offered(joining, domain, has_room, rng, limit);
    if (C.empty()) return tree;
    const Clique best = C[curator.select(errors.of(C), step)];
    tree.push_back(best);
    held.push_back(best);
    const std::size_t joined = part[best[1]];
    const std::size_t into = part[best[0]];
    std::ranges::replace(part, joined, into);
  }
}

Release run(Curator& curator, const Problem& problem, const Options& options, Rng& rng) {
  const Domain& domain = problem.domain;
  const auto start = start_model(problem, options.max_model_mb);
  const auto n = public_total(curator);
  const auto one_ways = informative_columns(domain);
  const auto edges = static_cast<double>(one_ways.size() - 1);
  const Cost third = curator.remaining() / 3.0;
  const PgmOptions fit_options{.tolerance = 1e-4, .threads = curator.threads()};

  auto y = curator.measure_all(one_ways, third);
  const double total = n ? *n : estimate_total(y);
  const auto independent = estimate_pgm(domain, y, total, start.zeros, fit_options).model;
  const Compression groups(domain, y, options.merge_below);

  std::vector<Clique> tree;
  if (edges > 0.0) {
    tree = spanning_tree(curator, independent, start, third / edges, options.max_model_mb, rng);
  }

  std::vector<LinearQuery> queries;
  for (const auto& pair : tree) queries.push_back(groups.query(pair));
  if (queries.empty()) queries = one_ways;  // no pair fits: the same again, with less noise
  for (auto& measured : measure_to_the_end(curator, queries)) y.push_back(std::move(measured));

  std::vector<Measurement> y_groups;
  const bool of_all = options.merged_noise == MergedNoise::OfAll;
  for (const auto& measured : y) {
    for (auto& part : groups.compress(measured, of_all)) y_groups.push_back(std::move(part));
  }
  auto fit =
      estimate_pgm(groups.domain(), y_groups, total, groups.compress(start.zeros), fit_options);
  fit.model = groups.spread(fit.model, start.zeros);
  return graphical_release(std::move(fit), std::move(y), total, start);
}

Effort effort_of(const Curator& /*curator*/, const Problem& problem, const Options& options,
                 double /*rows_expected*/) {
  const auto pairs = all_pairs_of(problem.domain);
  std::vector<double> bytes;
  for (const auto& pair : pairs) {
    bytes.push_back(8.0 * problem.domain[pair[0]].size * problem.domain[pair[1]].size);
  }
  std::ranges::sort(bytes, std::ranges::greater{});
  // The tables of a tree are its edges, one fewer than there are columns.
  bytes.resize(std::min(bytes.size(), problem.domain.size() - 1));
  const double tree_mb = std::accumulate(bytes.begin(), bytes.end(), 0.0) / 1e6 +
                         start_model(problem, options.max_model_mb).mb;
  return effort(problem.domain, pairs, std::min(options.max_model_mb, tree_mb),
                {.rounds = kFitInRounds, .far_answers = false});
}

Plan plan(const Curator& curator, const Problem& problem, const Options& options) {
  start_model(problem, options.max_model_mb);  // says what there is no room for
  const auto one_ways = informative_columns(problem.domain);
  const auto pairs = all_pairs_of(problem.domain);
  const auto d = static_cast<double>(one_ways.size());
  const Cost third = curator.remaining() / 3.0;
  Plan out = {plan_to_measure(one_ways.size(), "one-way marginals",
                              curator.noise_scale(one_ways.front(), third / d).value())};
  out.front().numbers.set("merge_below", options.merge_below);
  out.front().sentence.pop_back();
  out.front().sentence +=
      fmt::format("; values below {:g} times that are merged.", options.merge_below);
  if (!pairs.empty()) {
    const Sigma sigma = curator.noise_scale({pairs.front()}, third / (d - 1.0));
    out.push_back(
        {"select",
         Document::object({{"candidates", static_cast<std::uint64_t>(pairs.size())},
                           {"rounds", static_cast<std::uint64_t>(one_ways.size() - 1)},
                           {"sigma", sigma.value()}}),
         fmt::format("Selects a tree of {} of the {} pairs of columns and measures it, each count "
                     "with noise of standard deviation {:.4g}.",
                     one_ways.size() - 1, pairs.size(), sigma.value())});
  }
  return out;
}

}  // namespace

Mechanism mst() {
  return make_mechanism<Options>(
      {.name = "mst",
       .summary = "Graphical model, a tree of the pairs of columns that depend most",
       .reference = "McKenna, Miklau, Sheldon. Winning the NIST Contest: A scalable and general "
                    "approach to differentially private synthetic data. 2021.",
       .pure = true},
      run, plan,
      {field(
           "merge-below", &Options::merge_below,
           "values of a column counted below so many standard deviations of noise are measured as "
           "one value where columns are paired",
           at_least(0.0)),
       choice(
           "merged-noise", &Options::merged_noise,
           {{"one", MergedNoise::OfOne}, {"all", MergedNoise::OfAll}},
           "noise that a column's merged values, added up, count as having: that of one of them, "
           "or of all"),
       field("max-model-mb", &Options::max_model_mb, "largest model, in megabytes",
             at_least(0.001))},
      effort_of, {{"paper", {{"merged-noise", "all"}, {"max-model-mb", "80"}}}});
}

}  // namespace tandem::mechanism
