// SPDX-License-Identifier: Apache-2.0
#include "tandem/model/pgm/estimate_pgm.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "tandem/base/check.h"
#include "tandem/base/text.h"
#include "tandem/model/pgm/pgm_dual.h"
#include "tandem/optimize/lbfgs.h"

namespace tandem {
namespace {

// A proximal step moves no logarithm by more than this when it starts out: not so far that the
// curvature where it starts says nothing about where it ends. Later steps are longer: what they no
// longer gain is not to be had.
constexpr double kFirstStep = 5.0;
constexpr double kLongestStep = 40.0;
constexpr double kStepGrowth = 1.3;
// Steps that gain less than this share of the loss are alike, and one starts where the last one
// would have gone. While the model still changes much that start is worse than none.
constexpr double kAlike = 0.02;
constexpr UInt128 kMostModelBytes = UInt128{1} << 36;

std::vector<Clique> measured_cliques(std::span<const Measurement> measurements) {
  std::vector<Clique> out;
  for (const auto& measurement : measurements) out.push_back(measurement.query.clique);
  return out;
}

// Cliques of the start that no measured one holds: they make the tree larger.
std::vector<Clique> further_cliques(std::span<const Factor> start,
                                    std::span<const Clique> measured) {
  std::vector<Clique> out;
  for (const auto& factor : start) {
    if (!factor.clique.empty() && !covered_by(factor.clique, measured))
      out.push_back(factor.clique);
  }
  return out;
}

void check_size(const Domain& domain, std::span<const Clique> measured,
                std::span<const Clique> further) {
  std::vector<Clique> all(measured.begin(), measured.end());
  all.insert(all.end(), further.begin(), further.end());
  const UInt128 bytes = model_bytes(domain, all);
  if (bytes <= kMostModelBytes) return;
  const auto tree = make_junction_tree(domain, all);
  const auto weight = [&](const Clique& clique) { return domain.about_cells(clique); };
  const auto largest = std::ranges::max_element(tree.cliques, {}, weight);
  throw UsageError("A graphical model of these measurements would take " +
                   human_bytes(static_cast<double>(bytes)) + ", most of it for " +
                   domain.describe(*largest) + " together; measure fewer or smaller cliques.");
}

}  // namespace

PgmFit estimate_pgm(const Domain& domain, std::span<const Measurement> measurements, double total,
                    std::span<const Factor> start, const PgmOptions& options) {
  check(total > 0.0 && std::isfinite(total), "a model has a positive total");
  const auto measured = measured_cliques(measurements);
  const auto further = further_cliques(start, measured);
  check_size(domain, measured, further);

  Team team(options.threads);
  PgmDual dual(domain, measurements, total, further, &team);
  dual.set_base(start);
  const auto scale = [&] { return std::max({1.0, dual.noise_loss(), dual.loss()}); };
  const auto tolerance = [&] { return options.tolerance * scale(); };
  int left = options.max_propagations;
  bool converged = dual.dimension() == 0;

  Lbfgs search(dual.dimension());
  double step = kFirstStep;
  int idle = 0;
  double gained = std::numeric_limits<double>::infinity();  // by the last step
  std::vector<double> x(dual.dimension(), 0.0);
  while (!converged && left > 0) {
    const double before = dual.loss();
    // Small steps while the gradient is steep, longer ones as it levels out.
    double nu = options.prior_rows;
    if (nu == 0.0) {
      dual.set_strength(1.0);
      dual.stationary(x);
      double steepest = 0.0;
      for (const double value : x) steepest = std::max(steepest, std::abs(value));
      nu = std::max(steepest / step, 1e-9);
      step = std::min(kLongestStep, step * kStepGrowth);
    }
    dual.set_strength(nu);
    if (gained > kAlike * scale()) {
      std::ranges::fill(x, 0.0);
    } else {
      dual.stationary(x);
    }
    const auto exact_enough = [&] {
      const double so_far = options.prior_rows > 0.0 ? 0.0 : before - dual.loss();
      return dual.gap() <= 0.1 * std::max(tolerance(), so_far);
    };
    const auto end = search.minimize(
        [&](auto at, auto gradient) {
          options.threads.check();
          return dual.evaluate(at, gradient);
        },
        [&](auto gradient, auto inverse) { dual.inverse_curvature(gradient, inverse); }, x,
        [&](auto, auto) { return exact_enough(); }, left);
    // A search that lost its way can end above where it began: then the step is not taken.
    if (options.prior_rows == 0.0 && end != Lbfgs::End::Stopped && dual.loss() > before) {
      std::ranges::fill(x, 0.0);
      step = kFirstStep;
    }
    dual.move_base(x);
    if (options.prior_rows > 0.0) {  // the one problem there is
      converged = end == Lbfgs::End::Stopped;
      break;
    }
    gained = before - dual.loss();
    idle = gained <= tolerance() ? idle + 1 : 0;
    converged = idle == options.idle_steps;
  }
  PgmFit fit{.model = GraphicalModel(dual.propagation(), dual.potentials(), total, options.threads),
             .loss = dual.loss(),
             .gap = dual.gap(),
             .propagations = options.max_propagations - std::max(left, 0),
             .converged = converged};
  if (options.prior_rows == 0.0) fit.gap = dual.frank_wolfe_gap();
  return fit;
}

}  // namespace tandem
