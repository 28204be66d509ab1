// SPDX-License-Identifier: Apache-2.0
#include "tandem/mechanism/weights/adaptive_rounds.h"

#include <algorithm>
#include <cmath>

#include "tandem/mechanism/weights/prior_fit.h"
#include "tandem/query/counting.h"

namespace tandem {

namespace {

// An error is seen when it is this many times the selection's noise: then the worst of some ten
// thousand cells is drawn about as often as all that are right together.
constexpr double kSeen = 5.0;
// If public data is as good as its size allows, rounds of this share of the price could see what is
// wrong with it; they start at an eighth, in case it is worse.
constexpr double kCheaper = 8.0;
constexpr double kLeastShare = 1.0 / 64.0;
constexpr double kMostShare = 1.0 / 8.0;

}  // namespace

double selection_noise(const Curator& curator, std::span<const CellScores> errors, Cost cost,
                       Selection how) {
  // What a draw at exp(1 * score) costs tells at which rate this cost draws.
  const double share = cost.lower_bound() / curator.cost_for_rate(errors, 1.0).upper_bound();
  if (curator.currency() == Currency::Pure) return 1.0 / share;
  return (how == Selection::Exponential ? 1.0 : 2.0) / std::sqrt(share);
}

double sampling_error(const PublicData& data, const Workload& workload, double n, Threads threads) {
  std::vector<Clique> cliques;
  for (const auto& [clique, weight] : workload.cliques()) cliques.push_back(clique);
  Rng halves(1);
  double rows = 0.0;
  std::vector<Factor> differences;
  for (const auto& source : data.tables) {
    std::vector<double> sides(source.table.rows());
    for (double& side : sides) side = halves.below(2) == 0 ? 1.0 : -1.0;
    auto counted = count_marginals(source.table, sides, cliques, threads);
    rows += static_cast<double>(sides.size());
    if (differences.empty()) {
      differences = std::move(counted);
      continue;
    }
    for (std::size_t m = 0; m < cliques.size(); ++m) {
      for (std::size_t c = 0; c < counted[m].values.size(); ++c) {
        differences[m].values[c] += counted[m].values[c];
      }
    }
  }
  double largest = 0.0;
  for (const auto& marginal : differences) {
    for (const double difference : marginal.values) {
      largest = std::max(largest, std::abs(difference));
    }
  }
  // Halves of m/2 rows differ in proportion by twice what m rows differ from the population.
  return largest / rows * n;
}

RoundPlan plan_rounds(const Curator& curator, std::span<const CellScores> errors,
                      double expected_error, double n, double select_share, Selection how) {
  const Cost all = curator.remaining();
  if (all.is_zero()) return {};
  const double noise = selection_noise(curator, errors, all * select_share, how);
  if (kSeen * noise > n) return {};  // not even that all rows are elsewhere could be seen
  const double needed = kSeen * noise / std::max(expected_error, 1.0);  // noise is 1 at share 1
  const double price = curator.currency() == Currency::Pure ? needed : needed * needed;
  RoundPlan plan;
  plan.first_share = std::clamp(price / kCheaper, kLeastShare, kMostShare);
  plan.seen_error =
      kSeen * selection_noise(curator, errors, all * plan.first_share * select_share, how);
  return plan;
}

std::vector<Measurement> adaptive_rounds(Curator& curator, MultiplicativeWeights& A,
                                         const RoundPlan& plan, const RoundOptions& options) {
  std::vector<Measurement> measurements;
  if (plan.first_share == 0.0) return measurements;
  PriorFit fit(A, options.prior_rows);
  Cost round = curator.remaining() * plan.first_share;
  bool dearer = true;
  while (!curator.remaining().is_zero()) {
    if (curator.remaining() < round + round) round = curator.remaining();  // the last one
    const auto [to_select, to_measure] = round.split(options.select_share);
    if (to_select.is_zero()) break;  // a last grain or two
    const double noise = selection_noise(curator, A.errors(), to_select, options.selection);
    if (dearer && options.smallest > 0.0) A.choose_among_larger(options.smallest * noise);
    const CellChoice q = curator.select_cell(A.errors(), to_select, options.selection);
    const Measurement& a = measurements.emplace_back(curator.measure(A.query(q), to_measure));
    const double error = std::abs(a.values.front() - A.answer(q));
    A.remember(q, a);
    fit.update();
    A.end_round();
    dearer = error < kSeen * noise;
    if (dearer) round = round + round;
  }
  return measurements;
}

}  // namespace tandem
