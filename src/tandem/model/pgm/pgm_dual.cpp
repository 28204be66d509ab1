// SPDX-License-Identifier: Apache-2.0
#include "tandem/model/pgm/pgm_dual.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>

#include "tandem/base/check.h"

namespace tandem {
namespace {

// A structural zero: potentials there change nothing, and are left out.
constexpr double kImpossible = 1e-250;
// Noise asks for less than nothing in some cells, and their potentials fall with every step. Before
// they are out of reach of a number they are lifted back to where they are merely empty; and when a
// search begins, to a share that a new measurement can call back: of a table's cells together a
// millionth.
struct Lift {
  double below, to;  // share of a cell times the table's cells
};
constexpr Lift kAtStart{1e-7, 1e-6};
constexpr Lift kAtStep{1e-60, 1e-30};

// Potentials beyond this in one step may cancel between neighbouring cliques, along a direction
// that is flat for the search, and not within reach of a number on their way. Ordinary steps end
// below a hundred.
constexpr double kFarOut = 250.0;

double square(double x) { return x * x; }

bool is_marginal(const Measurement& measurement) {
  return measurement.query.map.is_identity() && !measurement.query.clique.empty();
}

std::vector<Clique> distinct(std::vector<Clique> cliques) {
  std::ranges::sort(cliques);
  cliques.erase(std::unique(cliques.begin(), cliques.end()), cliques.end());
  return cliques;
}

// The measured marginals' cliques that lie in no other.
std::vector<Clique> largest_measured(std::span<const Measurement> measurements) {
  std::vector<Clique> cliques;
  for (const auto& measurement : measurements) {
    if (is_marginal(measurement)) cliques.push_back(measurement.query.clique);
  }
  return maximal(std::move(cliques));
}

BeliefPropagation make_propagation(const Domain& domain, std::span<const Measurement> measurements,
                                   std::span<const Clique> others, Team* team) {
  auto factors = largest_measured(measurements);
  factors.insert(factors.end(), others.begin(), others.end());
  for (const auto& measurement : measurements) {
    if (!measurement.query.map.is_identity()) factors.push_back(measurement.query.clique);
  }
  factors = distinct(std::move(factors));
  return {domain, make_junction_tree(domain, factors), factors, team};
}

}  // namespace

PgmDual::PgmDual(const Domain& domain, std::span<const Measurement> measurements, double total,
                 std::span<const Clique> others, Team* team)
    : total_(total),
      propagation_(make_propagation(domain, measurements, others, team)),
      lattice_(propagation_.order(), largest_measured(measurements)) {
  dimension_ = lattice_.top_cells();
  for (const auto& measurement : measurements) {
    const auto& query = measurement.query;
    const std::size_t cells = domain.cells(query.clique);
    check(measurement.values.size() == query.map.outputs(cells),
          "a measurement has all its values");
    if (query.clique.empty()) continue;  // the total: given
    noise_loss_ += 0.5 * static_cast<double>(measurement.values.size());
    check(measurement.sigma > Sigma(0.0), "a measurement of a marginal has noise");
    if (is_marginal(measurement)) {
      std::vector<double> answer(cells);
      propagation_.order().arrange(query.clique, measurement.values, answer);
      for (double& value : answer) value /= total_;
      lattice_.observe(query.clique, answer, square(measurement.sigma.value() / total_));
    } else {
      add_map(measurement);
    }
  }
  for (std::size_t t = 0; t < lattice_.tops().size(); ++t) {
    factor_of_top_.push_back(factor_of(lattice_.tops()[t]));
    const auto parts = lattice_.parts_of(t);
    double ridge = 0.0;
    for (std::size_t i = 0; i < parts.size(); ++i) {
      ridge += lattice_.weight(t, i) / lattice_.precision(parts[i]);
    }
    ridge_of_top_.push_back(ridge);
  }
  w_.resize(lattice_.interaction_cells());
  residual_.resize(lattice_.interaction_cells());
  pull_.resize(lattice_.interaction_cells());
  marginals_.resize(lattice_.top_cells());
  share_.resize(dimension_);
  for (std::size_t f = 0; f < propagation_.factors().size(); ++f) {
    found_.emplace_back(propagation_.potential(f).size(), 0.0);
  }
}

void PgmDual::add_map(const Measurement& measurement) {
  const auto& query = measurement.query;
  const std::size_t cells = propagation_.order().domain().cells(query.clique);
  Map map;
  map.factor = factor_of(query.clique);
  map.start = dimension_;
  map.variance = square(measurement.sigma.value() / total_);
  for (const double value : measurement.values) map.answers.push_back(value / total_);
  map.residual.resize(map.answers.size());
  // Where each cell of the marginal is in the propagation's order.
  std::vector<double> cell(cells);
  std::iota(cell.begin(), cell.end(), 0.0);
  std::vector<double> arranged(cells);
  propagation_.order().arrange(query.clique, cell, arranged);
  std::vector<std::size_t> place(cells);
  for (std::size_t i = 0; i < cells; ++i) place[static_cast<std::size_t>(arranged[i])] = i;
  map.offsets.push_back(0);
  for (std::size_t row = 0; row < map.answers.size(); ++row) {
    for (const auto& entry : query.map.row(row)) {
      map.columns.push_back(place[entry.column]);
      map.coefficients.push_back(static_cast<double>(entry.coefficient) * query.map.unit());
    }
    map.offsets.push_back(map.columns.size());
  }
  dimension_ += map.answers.size();
  maps_.push_back(std::move(map));
}

std::size_t PgmDual::factor_of(const Clique& clique) const {
  const auto factors = propagation_.factors();
  return static_cast<std::size_t>(std::ranges::find(factors, clique) - factors.begin());
}

void PgmDual::load(std::span<const double> x) {
  for (std::size_t f = 0; f < propagation_.factors().size(); ++f) {
    std::ranges::fill(propagation_.potential(f), 0.0);
  }
  for (std::size_t t = 0; t < factor_of_top_.size(); ++t) {
    const auto potential = propagation_.potential(factor_of_top_[t]);
    const std::size_t start = lattice_.top_start(t);
    for (std::size_t i = 0; i < potential.size(); ++i) {
      potential[i] = share_[start + i] < kImpossible ? 0.0 : x[start + i];
    }
  }
  for (const auto& map : maps_) {
    const auto potential = propagation_.potential(map.factor);
    for (std::size_t row = 0; row < map.answers.size(); ++row) {
      for (std::size_t e = map.offsets[row]; e < map.offsets[row + 1]; ++e) {
        potential[map.columns[e]] += map.coefficients[e] * x[map.start + row];
      }
    }
  }
}

void PgmDual::take_residuals() {
  for (std::size_t t = 0; t < factor_of_top_.size(); ++t) {
    std::ranges::copy(propagation_.marginal(factor_of_top_[t]),
                      marginals_.begin() + static_cast<std::ptrdiff_t>(lattice_.top_start(t)));
  }
  lattice_.interactions_of_marginals(marginals_, residual_);
  const auto z = lattice_.estimate();
  loss_ = 0.5 * lattice_.disagreement();
  for (std::size_t a = 0; a < lattice_.interactions(); ++a) {
    const auto mine = lattice_.part(a, std::span(residual_));
    const auto wanted = lattice_.part(a, z);
    double squared = 0.0;
    for (std::size_t i = 0; i < mine.size(); ++i) squared += square(mine[i] -= wanted[i]);
    loss_ += 0.5 * lattice_.precision(a) * squared;
  }
  for (auto& map : maps_) {
    const auto p = propagation_.marginal(map.factor);
    double squared = 0.0;
    for (std::size_t row = 0; row < map.answers.size(); ++row) {
      double found = 0.0;
      for (std::size_t e = map.offsets[row]; e < map.offsets[row + 1]; ++e) {
        found += map.coefficients[e] * p[map.columns[e]];
      }
      map.residual[row] = found - map.answers[row];
      squared += square(map.residual[row]);
    }
    loss_ += squared / (2.0 * map.variance);
  }
}

void PgmDual::set_base(std::span<const Factor> potentials) {
  const auto& order = propagation_.order();
  const auto factors = propagation_.factors();
  for (auto& found : found_) std::ranges::fill(found, 0.0);
  for (const auto& potential : potentials) {
    if (potential.clique.empty()) continue;  // a constant
    std::vector<double> arranged(potential.values.size());
    order.arrange(potential.clique, potential.values, arranged);
    std::size_t f = factor_of(potential.clique);
    if (f == factors.size()) {
      const auto holds = [&](const Clique& factor) { return factor.contains(potential.clique); };
      f = static_cast<std::size_t>(std::ranges::find_if(factors, holds) - factors.begin());
    }
    check(f < factors.size(), "a base's potentials lie inside cliques of the problem");
    order.plan(factors[f], potential.clique).add(found_[f].data(), arranged.data());
  }
  if (!base_from_logarithms()) {
    throw UsageError(
        "The model allows no row at all: its structural zeros exclude each other; allow more.");
  }
  lift_cells(kAtStart.below, kAtStart.to);
  take_residuals();
  take_shares();
}

bool PgmDual::base_from_logarithms() {
  for (std::size_t f = 0; f < found_.size(); ++f) {
    std::ranges::copy(found_[f], propagation_.potential(f).begin());
  }
  return std::isfinite(propagation_.set_base());
}

double PgmDual::evaluate(std::span<const double> x, std::span<double> gradient) {
  load(x);
  double value = propagation_.propagate();
  if (!std::isfinite(value)) return value;
  take_residuals();
  gap_ = 0.0;
  lattice_.interactions_of_functions(x.first(lattice_.top_cells()), w_);
  const auto z = lattice_.estimate();
  for (std::size_t a = 0; a < lattice_.interactions(); ++a) {
    const auto w = lattice_.part(a, std::span<const double>(w_));
    const auto residual = lattice_.part(a, std::span<const double>(residual_));
    const auto wanted = lattice_.part(a, z);
    const auto pull = lattice_.part(a, std::span(pull_));
    const double ridge = nu_ / lattice_.precision(a);
    double sum = 0.0;
    double squared = 0.0;
    for (std::size_t i = 0; i < w.size(); ++i) {
      const double held = ridge * w[i];
      pull[i] = held - wanted[i];
      sum += w[i] * (0.5 * held - wanted[i]);
      squared += square(residual[i] + held);
    }
    value += sum;
    gap_ += 0.5 * lattice_.precision(a) * squared;
  }
  // A marginal has an even part too, 1 over its cells, which the interactions leave out.
  for (std::size_t t = 0; t < lattice_.tops().size(); ++t) {
    const std::size_t cells = propagation_.potential(factor_of_top_[t]).size();
    const auto mine = gradient.subspan(lattice_.top_start(t), cells);
    const auto p = std::span(marginals_).subspan(lattice_.top_start(t), cells);
    double sum = 0.0;
    for (const double part : p) sum += part;
    const double even = sum / static_cast<double>(cells);
    for (std::size_t i = 0; i < cells; ++i) mine[i] = p[i] - even;
    double mean = 0.0;  // x may have one: it cancels in p
    for (const double part : x.subspan(lattice_.top_start(t), cells)) mean += part;
    value -= mean / static_cast<double>(cells) * sum;
  }
  lattice_.add_marginals(pull_, gradient.first(lattice_.top_cells()));
  for (const auto& map : maps_) {
    const double ridge = nu_ * map.variance;
    for (std::size_t row = 0; row < map.answers.size(); ++row) {
      const double mine = x[map.start + row];
      const double g = map.residual[row] + ridge * mine;
      gradient[map.start + row] = g;
      value += mine * (0.5 * ridge * mine - map.answers[row]);
      gap_ += square(g) / (2.0 * map.variance);
    }
  }
  return value;
}

double PgmDual::share_of(const Map& map, std::span<const double> p, std::size_t output) {
  double share = 0.0;
  for (std::size_t e = map.offsets[output]; e < map.offsets[output + 1]; ++e) {
    share += square(map.coefficients[e]) * p[map.columns[e]];
  }
  return share;
}

void PgmDual::inverse_curvature(std::span<const double> gradient, std::span<double> out) const {
  const auto slope = [](double share, double g) {
    const double aim = std::clamp(share - g, 0.02 * share, 400.0 * share);
    return (share + aim + 4.0 * std::sqrt(share * aim)) / 6.0;
  };
  for (std::size_t t = 0; t < lattice_.tops().size(); ++t) {
    const double ridge = nu_ * ridge_of_top_[t];
    const auto p = propagation_.marginal(factor_of_top_[t]);
    const std::size_t start = lattice_.top_start(t);
    for (std::size_t i = 0; i < p.size(); ++i) {
      out[start + i] = 1.0 / (ridge + slope(p[i], gradient[start + i]));
    }
  }
  for (const auto& map : maps_) {
    const auto p = propagation_.marginal(map.factor);
    for (std::size_t row = 0; row < map.answers.size(); ++row) {
      const std::size_t at = map.start + row;
      out[at] = 1.0 / (nu_ * map.variance + slope(share_of(map, p, row), gradient[at]));
    }
  }
}

void PgmDual::stationary(std::span<double> x) {
  for (std::size_t a = 0; a < lattice_.interactions(); ++a) {
    const auto residual = lattice_.part(a, std::span<const double>(residual_));
    const auto pull = lattice_.part(a, std::span(pull_));
    const double scale = -lattice_.precision(a) / nu_;
    for (std::size_t i = 0; i < pull.size(); ++i) pull[i] = scale * residual[i];
  }
  std::ranges::fill(x, 0.0);
  lattice_.add_functions(pull_, x.first(lattice_.top_cells()));
  for (const auto& map : maps_) {
    for (std::size_t row = 0; row < map.answers.size(); ++row) {
      x[map.start + row] = -map.residual[row] / (nu_ * map.variance);
    }
  }
}

double PgmDual::frank_wolfe_gap() {
  // <grad f(p), p> - min over rows x of <grad f(p), x>.
  double here = 0.0;
  const auto z = lattice_.estimate();
  for (std::size_t a = 0; a < lattice_.interactions(); ++a) {
    const auto residual = lattice_.part(a, std::span<const double>(residual_));
    const auto wanted = lattice_.part(a, z);
    double sum = 0.0;
    for (std::size_t i = 0; i < residual.size(); ++i) {
      sum += residual[i] * (residual[i] + wanted[i]);
    }
    here += lattice_.precision(a) * sum;
  }
  for (const auto& map : maps_) {
    for (std::size_t row = 0; row < map.answers.size(); ++row) {
      here += map.residual[row] * (map.residual[row] + map.answers[row]) / map.variance;
    }
  }
  std::vector<double> downhill(dimension_);
  const double nu = std::exchange(nu_, 1.0);
  stationary(downhill);
  nu_ = nu;
  load(downhill);
  return here + propagation_.largest_row();
}

void PgmDual::lift_cells(double below, double to) {
  for (std::size_t factor = 0; factor < found_.size(); ++factor) {
    const auto p = propagation_.marginal(factor);
    const auto cells = static_cast<double>(p.size());
    const auto lost = [&](double share) { return share > kImpossible && share < below / cells; };
    if (std::ranges::none_of(p, lost)) continue;
    const auto potential = propagation_.potential(factor);
    for (std::size_t i = 0; i < p.size(); ++i) {
      potential[i] = lost(p[i]) ? std::log(to / cells / p[i]) : 0.0;
    }
    const std::vector<double> lifted(potential.begin(), potential.end());
    if (!std::isfinite(propagation_.rebase())) {  // out of reach: they stay where they are
      std::ranges::fill(potential, 0.0);
      continue;
    }
    for (std::size_t i = 0; i < lifted.size(); ++i) found_[factor][i] += lifted[i];
  }
}

// How much probability each coordinate of x sees at the base.
void PgmDual::take_shares() {
  std::ranges::copy(marginals_, share_.begin());
  for (const auto& map : maps_) {
    const auto p = propagation_.marginal(map.factor);
    for (std::size_t row = 0; row < map.answers.size(); ++row) {
      share_[map.start + row] = share_of(map, p, row);
    }
  }
}

void PgmDual::move_base(std::span<const double> x) {
  load(x);
  double furthest = 0.0;
  for (std::size_t f = 0; f < found_.size(); ++f) {
    const auto added = propagation_.potential(f);
    for (std::size_t i = 0; i < added.size(); ++i) {
      found_[f][i] += added[i];
      furthest = std::max(furthest, std::abs(added[i]));
    }
  }
  check(std::isfinite(propagation_.rebase()), "the base moves to where the search has been");
  // What cancels is then taken together, as whoever reads the potentials from a file will do.
  if (propagation_.lost_messages() && furthest > kFarOut) {
    check(base_from_logarithms(), "a base that could move is one");
  }
  lift_cells(kAtStep.below, kAtStep.to);
  take_residuals();
  take_shares();
}

std::vector<Factor> PgmDual::potentials() const {
  std::vector<Factor> out;
  for (std::size_t f = 0; f < found_.size(); ++f) {
    const Clique& clique = propagation_.factors()[f];
    Factor factor{clique, std::vector<double>(found_[f].size())};
    propagation_.order().restore(clique, found_[f], factor.values);
    out.push_back(std::move(factor));
  }
  return out;
}

}  // namespace tandem
