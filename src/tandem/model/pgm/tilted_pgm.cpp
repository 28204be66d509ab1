// SPDX-License-Identifier: Apache-2.0
#include "tandem/model/pgm/tilted_pgm.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "tandem/base/check.h"
#include "tandem/base/team.h"
#include "tandem/model/pgm/pgm_dual.h"
#include "tandem/optimize/lbfgs.h"

namespace tandem {
namespace {

// As in estimate_pgm: a step moves no logarithm by more than this when it starts out.
constexpr double kFirstStep = 5.0;
constexpr double kLongestStep = 40.0;
constexpr double kStepGrowth = 1.3;

// Those that lie in no other, in order and each once: where multipliers live.
std::vector<Clique> largest_cliques(std::span<const Measurement> measurements) {
  std::vector<Clique> cliques;
  for (const auto& measurement : measurements) {
    check(measurement.query.map.is_identity(), "a tilt is by marginals");
    if (!measurement.query.clique.empty()) cliques.push_back(measurement.query.clique);
  }
  return maximal(std::move(cliques));
}

std::vector<Clique> outside(std::span<const Factor> factors, std::span<const Clique> cliques) {
  std::vector<Clique> out;
  for (const auto& factor : factors) {
    if (!covered_by(factor.clique, cliques)) out.push_back(factor.clique);
  }
  return out;
}

// The multipliers as the dual's x: a table on each largest measured clique, one after the other,
// cells in the order of its propagation.
class Layout {
 public:
  Layout(const AxisOrder& order, std::vector<Clique> cliques)
      : order_(order), cliques_(std::move(cliques)), start_{0} {
    for (const auto& clique : cliques_) {
      start_.push_back(start_.back() + order_.domain().cells(clique));
    }
  }

  std::size_t size() const { return start_.back(); }

  std::vector<double> load(std::span<const Factor> multipliers) const {
    std::vector<double> x(size(), 0.0);
    for (const auto& factor : multipliers) {
      const auto at = std::ranges::find_if(
          cliques_, [&](const Clique& clique) { return clique.contains(factor.clique); });
      if (at == cliques_.end()) continue;
      std::vector<double> arranged(factor.values.size());
      order_.arrange(factor.clique, factor.values, arranged);
      const auto home = static_cast<std::size_t>(at - cliques_.begin());
      order_.plan(*at, factor.clique).add(x.data() + start_[home], arranged.data());
    }
    return x;
  }

  std::vector<Factor> store(std::span<const double> x) const {
    std::vector<Factor> out;
    for (std::size_t i = 0; i < cliques_.size(); ++i) {
      const auto mine = x.subspan(start_[i], start_[i + 1] - start_[i]);
      Factor factor{cliques_[i], std::vector<double>(mine.size())};
      order_.restore(cliques_[i], mine, factor.values);
      out.push_back(std::move(factor));
    }
    return out;
  }

 private:
  const AxisOrder& order_;
  std::vector<Clique> cliques_;
  std::vector<std::size_t> start_;
};

std::vector<double> scaled(std::span<const double> values, double factor) {
  std::vector<double> out(values.begin(), values.end());
  for (double& value : out) value *= factor;
  return out;
}

std::vector<Factor> joined(std::span<const Factor> a, std::vector<Factor> b) {
  b.insert(b.end(), a.begin(), a.end());
  return b;
}

double largest(std::span<const double> values) {
  double out = 0.0;
  for (const double value : values) out = std::max(out, std::abs(value));
  return out;
}

}  // namespace

TiltedPgm tilt_pgm(const Domain& domain, std::span<const Measurement> measurements, double total,
                   std::span<const Factor> prior, double nu, std::span<const Factor> start,
                   const TiltOptions& options) {
  check(nu > 0.0 && std::isfinite(nu), "a prior counts as some rows");
  const auto cliques = largest_cliques(measurements);
  Team team(options.threads);
  PgmDual dual(domain, measurements, total, outside(prior, cliques), &team);
  const Layout layout(dual.propagation().order(), cliques);
  check(layout.size() == dual.dimension(), "a dual has a table on each largest measured clique");

  Lbfgs search(dual.dimension());
  auto mu = layout.load(start);
  std::vector<double> x(mu.size());
  std::vector<double> gradient(mu.size());
  const auto tolerance = [&] { return options.tolerance * std::max(1.0, dual.loss()); };
  dual.set_base(prior);
  dual.set_strength(nu);
  if (!mu.empty() && !std::isfinite(dual.evaluate(mu, gradient))) {
    std::ranges::fill(mu, 0.0);
    dual.evaluate(mu, gradient);
  }
  int left = options.max_propagations;
  bool converged = mu.empty();
  bool at_prior = true;  // the base is p0
  double step = kFirstStep;
  for (int idle = 0; !converged && left > 0;) {
    // With p_k = p0 exp(mu), a step minimises f(p) + nu KL(p || p0) + eta KL(p || p_k): the same
    // problem, held by nu + eta to p0 exp(mu eta / (nu + eta)). No eta where nu is enough by itself
    // to keep the step short.
    const double before = dual.loss();
    dual.set_strength(1.0);
    dual.stationary(x);
    const double eta = std::max(0.0, largest(x) / step - nu);
    const double kept = eta / (nu + eta);
    step = std::min(kLongestStep, step * kStepGrowth);
    if (eta > 0.0 || !at_prior) dual.set_base(joined(prior, layout.store(scaled(mu, kept))));
    at_prior = false;
    x = scaled(mu, 1.0 - kept);
    dual.set_strength(nu + eta);
    const auto exact_enough = [&] {
      const double gained = eta > 0.0 ? before - dual.loss() : 0.0;
      return dual.gap() <= 0.1 * std::max(tolerance(), gained);
    };
    const auto end = search.minimize(
        [&](auto at, auto slope) {
          options.threads.check();
          return dual.evaluate(at, slope);
        },
        [&](auto slope, auto inverse) { dual.inverse_curvature(slope, inverse); }, x,
        [&](auto, auto) { return exact_enough(); }, left);
    for (std::size_t i = 0; i < mu.size(); ++i) mu[i] = kept * mu[i] + x[i];
    dual.move_base(x);
    idle = std::abs(before - dual.loss()) <= tolerance() ? idle + 1 : 0;
    converged = eta > 0.0 ? idle == 2 : end == Lbfgs::End::Stopped;
    if (eta == 0.0) break;
  }
  return {.model = GraphicalModel(dual.propagation(), dual.potentials(), total, options.threads),
          .multipliers = layout.store(mu),
          .loss = dual.loss(),
          .propagations = options.max_propagations - std::max(left, 0),
          .converged = converged};
}

}  // namespace tandem
