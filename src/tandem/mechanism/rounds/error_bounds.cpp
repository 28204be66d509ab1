// SPDX-License-Identifier: Apache-2.0
#include "tandem/mechanism/rounds/error_bounds.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <unordered_map>

#include "tandem/mechanism/rounds/candidates.h"
#include "tandem/query/factor.h"

namespace tandem {

// Let V be the sum of 1/s_i^2 over the measurements so far, s_i^2 the variance of a cell of y_i
// once it is added up to r, and S_c the sum of cell c's noise / s_i^2. Discrete Gaussian noise is
// sub-Gaussian, so for every sign vector u and every theta
//   exp(theta sum_c u_c S_c - theta^2 n V / 2)
// is a supermartingale from 1 on, however the next measurement is chosen. So is its mean over
// theta ~ N(0, 1/eta) for an eta that is known when the first measurement is drawn:
//   sqrt(eta / (n V + eta)) exp((sum_c u_c S_c)^2 / (2 (n V + eta))).
// Ville's inequality at 2^-n of the risk, once for each u, bounds |S|_1 = V |x_r - y|_1.
double supported_bound(const Domain& domain, std::span<const Measurement> measurements,
                       const Factor& answer, double confidence) {
  constexpr double kEta = 0.05;  // of n V after the first measurement
  const auto n = static_cast<double>(answer.values.size());
  double first = 0.0;
  double V = 0.0;
  std::vector<double> weighted(answer.values.size(), 0.0);
  for (const auto& measurement : measurements) {
    const Clique& clique = measurement.query.clique;
    if (!measurement.query.map.is_identity() || measurement.noise != NoiseKind::Gaussian ||
        !clique.contains(answer.clique)) {
      continue;
    }
    const auto y = marginalize({clique, measurement.values}, domain, answer.clique);
    const double cells = static_cast<double>(measurement.values.size()) / n;  // added up for one
    const double precision = 1.0 / (cells * measurement.sigma.value() * measurement.sigma.value());
    for (std::size_t c = 0; c < y.values.size(); ++c) weighted[c] += precision * y.values[c];
    V += precision;
    if (first == 0.0) first = V;
  }
  if (V == 0.0) return std::numeric_limits<double>::infinity();
  double apart = 0.0;  // |q_r(p) - y|_1
  for (std::size_t c = 0; c < weighted.size(); ++c) {
    apart += std::abs(answer.values[c] - weighted[c] / V);
  }
  const double eta = kEta * n * first;
  const double log_risk =
      n * std::numbers::ln2 - std::log(1.0 - confidence) + 0.5 * std::log1p(n * V / eta);
  return apart + std::sqrt(2.0 * (n * V + eta) * log_risk) / V;
}

// The exponential mechanism draws a score of less than the best minus (2 D / epsilon)(ln |C| + t)
// with probability at most exp(-t) (McSherry and Talwar 2007). So with half the risk every
// contender c has w_c (e_c - noise_c) <= w_r (e_r - noise_r) + slack for the chosen r, whose error
// e_r its own measurement bounds with the other half; and the model may have moved since.
std::vector<ErrorBound> error_bounds(const Workload& workload, const GraphicalModel& model,
                                     std::span<const Measurement> measurements,
                                     const LastRound& last, double confidence, double most) {
  const Domain& domain = model.domain();
  const double half_risk = (1.0 - confidence) / 2.0;
  const auto& chosen = last.contenders[last.chosen];
  const double slack =
      2.0 * last.sensitivity / last.epsilon *
      (std::log(static_cast<double>(last.contenders.size())) - std::log(half_risk));
  const double chosen_error =
      supported_bound(domain, measurements, last.model.project(chosen.clique), 1.0 - half_risk);
  const double score = chosen.weight * (chosen_error - chosen.noise) + slack;  // score of any

  std::unordered_map<Clique, const LastRound::Contender*> contenders;
  for (const auto& contender : last.contenders) contenders[contender.clique] = &contender;
  // Of most marginals of a wide workload nothing is known, and their answers aren't needed.
  std::vector<Clique> known;
  for (const auto& weighted : workload.cliques()) {
    const Clique& r = weighted.clique;
    const auto holds = [&](const Measurement& y) { return y.query.clique.contains(r); };
    if (contenders.contains(r) || std::ranges::any_of(measurements, holds)) known.push_back(r);
  }
  std::vector<ErrorBound> out;
  const auto now = model.project_all(known);
  const auto before = last.model.project_all(known);
  for (std::size_t i = 0; i < known.size(); ++i) {
    const double direct = supported_bound(domain, measurements, now[i], confidence);
    if (std::isfinite(direct)) {
      out.push_back({known[i], std::min(direct, most), confidence, true});
    } else if (const auto found = contenders.find(known[i]); found != contenders.end()) {
      const auto& passed = *found->second;
      const double moved = l1_distance(before[i], now[i]);
      const double bound = passed.noise + score / passed.weight + moved;
      out.push_back({known[i], std::min(bound, most), confidence, false});
    }
  }
  return out;
}

}  // namespace tandem
