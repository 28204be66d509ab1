// SPDX-License-Identifier: Apache-2.0
#include "tandem/optimize/strategy/non_negative.h"

#include <algorithm>
#include <cmath>

#include "tandem/base/check.h"
#include "tandem/base/math.h"

namespace tandem {

NonNegativeFit fit_non_negative(const PlanningProblem& problem, const Strategy& strategy,
                                const Reconstruction& reconstruction,
                                std::span<const Clique> cliques, double tolerance, int steps,
                                const Threads& threads) {
  check(strategy.shape != Strategy::Shape::Products, "products have no residuals");
  // min sum_R |z_R - r_R|^2 in the metric of the covariances' inverses where M_B z >= 0 for all B:
  // with multipliers l_B >= 0, z_R = r_R + (kappa_R kron K_i) sum_B (M_B' l_B)_R, and the dual's
  // gradient is -M_B z. Where all splits are even, residual spaces are orthogonal in M_B z, and the
  // steepest curvature is the largest kappa_R |kron K_i| sum_{B >= R} prod_{B\R} |pi_i|^2;
  // otherwise at most 2^|B| times that.
  const ResidualKnowledge known = residual_knowledge(problem, strategy);
  const auto profiles = reconstruction.profiles();
  std::vector<double> largest(problem.sizes.size(), 1.0);  // eigenvalue of K_i without its scale
  std::vector<double> spread(problem.sizes.size(), 0.0);   // |pi_i|^2
  bool even = true;
  for (std::size_t i = 0; i < problem.sizes.size(); ++i) {
    for (const double share : profiles[i]) spread[i] += share * share;
    if (known.splits[i].within.rows == 0) continue;
    even = false;
    const auto parts = eigen(known.splits[i].within);
    largest[i] = *std::ranges::max_element(parts.values);
  }
  std::unordered_map<Clique, double> slope;
  for (const auto& clique : cliques) {
    for (std::size_t bits = 0; bits < std::size_t{1} << clique.size(); ++bits) {
      const Clique part = subset_of(clique, bits);
      const auto scale = known.scale(part);
      if (!scale) continue;  // known exactly, or of columns with one value
      double factor = *scale;
      for (const auto id : clique) factor *= part.contains(id) ? largest[id] : spread[id];
      if (!even) factor *= std::ldexp(1.0, static_cast<int>(clique.size()));
      slope[part] += factor;
    }
  }
  double steepest = 0.0;
  for (const auto& [part, sum] : slope) steepest = std::max(steepest, sum);
  NonNegativeFit out;
  out.residuals = reconstruction.residuals();
  if (steepest == 0.0) return out;

  std::vector<std::vector<double>> multiplier(cliques.size());
  std::vector<std::vector<double>> ahead(cliques.size());  // where the momentum leads
  for (std::size_t b = 0; b < cliques.size(); ++b) {
    multiplier[b].assign(cells_of(problem.sizes, cliques[b]), 0.0);
    ahead[b] = multiplier[b];
  }
  double momentum = 1.0;
  for (;; ++out.steps) {
    threads.check();
    // z at the multipliers ahead.
    out.residuals = reconstruction.residuals();
    for (std::size_t b = 0; b < cliques.size(); ++b) {
      const auto step = [&](std::size_t i, bool inside, std::span<const double> table,
                            std::size_t outer) -> std::vector<double> {
        const auto id = cliques[b][i];
        const std::size_t n = problem.sizes[id];
        const std::size_t inner = table.size() / (outer * n);
        if (!inside) {
          DenseMatrix profile(1, n);
          std::ranges::copy(profiles[id], profile.values.begin());
          return apply_along(profile, table, outer, inner);
        }
        if (n == 1) return {};
        if (known.splits[id].within.rows > 0) {
          return apply_along(known.splits[id].within, table, outer, inner);
        }
        std::vector<double> centred_table(table.begin(), table.end());
        centre_along(centred_table, outer, n, inner);
        return centred_table;
      };
      for_all_parts(problem.sizes, cliques[b], ahead[b], step,
                    [&](const Clique& part, std::vector<double> table) {
                      const auto scale = known.scale(part);
                      if (!scale) return;
                      auto& residual = out.residuals[part];
                      for (std::size_t t = 0; t < table.size(); ++t) {
                        residual[t] += *scale * table[t];
                      }
                    });
    }
    // Nesterov's steps, begun anew where they would go uphill (O'Donoghue and Candes 2015).
    std::vector<std::vector<double>> next(cliques.size());
    std::vector<double> uphill(cliques.size(), 0.0);
    std::vector<double> least(cliques.size(), 0.0);
    parallel_for(cliques.size(), threads, [&](std::size_t b) {
      const auto counts = table_from_residuals(profiles, out.residuals, cliques[b]);
      next[b].resize(counts.size());
      for (std::size_t t = 0; t < counts.size(); ++t) {
        least[b] = std::min(least[b], counts[t]);
        next[b][t] = std::max(0.0, ahead[b][t] - counts[t] / steepest);
        uphill[b] += (ahead[b][t] - next[b][t]) * (next[b][t] - multiplier[b][t]);
      }
    });
    out.most_negative = -*std::ranges::min_element(least);
    if (out.most_negative <= tolerance || out.steps >= steps) return out;
    double slope_of_step = 0.0;
    for (const double part : uphill) slope_of_step += part;
    const double later =
        slope_of_step > 0.0 ? 1.0 : 0.5 * (1.0 + std::sqrt(1.0 + 4.0 * momentum * momentum));
    const double beta = slope_of_step > 0.0 ? 0.0 : (momentum - 1.0) / later;
    momentum = later;
    for (std::size_t b = 0; b < cliques.size(); ++b) {
      for (std::size_t t = 0; t < next[b].size(); ++t) {
        ahead[b][t] = next[b][t] + beta * (next[b][t] - multiplier[b][t]);
      }
      multiplier[b] = std::move(next[b]);
    }
  }
}

std::vector<double> whole_counts(const Reconstruction& reconstruction, const NonNegativeFit& fit,
                                 const Clique& clique, std::size_t total, Rng& rng) {
  const auto counts = table_from_residuals(reconstruction.profiles(), fit.residuals, clique);
  if (total == 0) return std::vector<double>(counts.size(), 0.0);
  const auto near = project_to_simplex(counts, static_cast<double>(total));
  const auto whole = round_to_total(near, total, rng);
  return {whole.begin(), whole.end()};
}

}  // namespace tandem
