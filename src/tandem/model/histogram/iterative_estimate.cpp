// SPDX-License-Identifier: Apache-2.0
#include "tandem/model/histogram/iterative_estimate.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <numeric>
#include <utility>

#include "tandem/base/check.h"

namespace tandem {
namespace {

// No row falls below this share of its prior: a zero in one y would remove it for good.
constexpr double kFloor = 1e-12;
// What is remembered of a step that brings a cell to nothing: so little that its rows' factors make
// no more of them than the floor does.
constexpr double kGone = 1e-30;
// The j-th damped sweep takes steps of 1 / (1 + j / kDampedSlowly). From 1 / j on, supports of a
// few hundred rows had not settled after 4,000 sweeps.
constexpr double kDampedSlowly = 5.0;
// Sweeps in random orders may raise the misfit now and then although they converge, so a cycle is
// when this share of all sweeps in a row doesn't lower the least misfit so far. (With a single one,
// 8 of 12 consistent problems of 40 to 98 rows were damped too early and stopped at misfits of up
// to .013 instead of 1e-5.)
constexpr int kPatience = 20;  // one in so many
constexpr int kLeastPatience = 30;
constexpr double kLargestCorrection = 1e12;  // of a cell, as a factor

std::vector<double> normalized(std::span<const double> weights) {
  const double sum = std::accumulate(weights.begin(), weights.end(), 0.0);
  check(sum > 0.0 && std::isfinite(sum), "a prior has a positive sum");
  std::vector<double> out(weights.begin(), weights.end());
  for (double& weight : out) weight /= sum;
  return out;
}

class Estimate {
 public:
  Estimate(std::span<const double> p, std::span<const PartialWorkload> workloads,
           const IterativeOptions& options)
      : workloads_(workloads),
        options_(options),
        q_(normalized(p)),
        floor_(q_),
        held_(q_.size(), 0),
        b_(most_cells(workloads)),
        y_(b_.size()),
        factor_(b_.size()),
        c_(workloads.size(), 0.0) {
    for (double& least : floor_) least *= kFloor;
    for (const auto& workload : workloads) exponents_.emplace_back(workload.cells(), 0.0);
    if (options.corrections) {
      for (const auto& all : exponents_) taken_back_.emplace_back(all.size(), 1.0);
    }
  }

  const std::vector<double>& q() const { return q_; }
  const std::vector<std::vector<double>>& exponents() const { return exponents_; }

  std::vector<std::uint32_t> held() const {
    std::vector<std::uint32_t> out;
    for (std::size_t r = 0; r < held_.size(); ++r) {
      if (held_[r] != 0) out.push_back(static_cast<std::uint32_t>(r));
    }
    return out;
  }

  // q <- q^(1-g) f(q; W_s, y_s)^g, normalised: Definition 3.1 where g is 1. Gives |W_s q - y~_s|_1
  // as it was before.
  double step(std::size_t s, double g) {
    const PartialWorkload& W_s = workloads_[s];
    const std::size_t cells = W_s.cells();
    const std::size_t answered = W_s.answered();
    if (answered == 0) return 0.0;  // none of its cells has a row
    const std::span b(b_.data(), cells);
    const std::span y(y_.data(), cells);
    W_s.sum(q_, b);
    const double missed = W_s.misfit(b);
    if (options_.corrections) {
      for (std::size_t j = 0; j < cells; ++j) b[j] *= taken_back_[s][j];
    }
    project_l1(W_s.answers(), b.first(answered), W_s.covers(), options_.tie, y.first(answered),
               c_[s]);
    if (!W_s.covers()) {  // rows outside all cells share what is left, which is the last cell
      y[answered] = std::max(0.0, 1.0 - std::accumulate(y.begin(), y.end() - 1, 0.0));
    }
    bool out_of_nothing = false;
    double sum = 0.0;
    // Most cells are brought to the same multiple c of what they have.
    const double common = g < 1.0 ? std::pow(c_[s], g) : 1.0;
    for (std::size_t j = 0; j < cells; ++j) {
      if (b[j] > 0.0) {
        factor_[j] = y[j] / b[j];
        if (g < 1.0 && y[j] > 0.0) {
          factor_[j] = y[j] == c_[s] * b[j] ? common : std::pow(factor_[j], g);
        }
        if (g < 1.0 && options_.corrections) factor_[j] *= std::pow(taken_back_[s][j], g - 1.0);
      } else {
        factor_[j] = 0.0;
        out_of_nothing = out_of_nothing || y[j] > 0.0;
      }
      sum += b[j] * factor_[j];
    }
    if (!out_of_nothing && !(sum > 0.0)) return missed;
    if (g < 1.0) {
      for (std::size_t j = 0; j < cells; ++j) factor_[j] /= sum;
    }
    if (options_.corrections) correct(s, cells);
    remember(s, cells);
    scale(W_s);
    if (out_of_nothing && g == 1.0) spread(W_s, y);
    return missed;
  }

  void normalize() {
    const double sum = std::accumulate(q_.begin(), q_.end(), 0.0);
    for (double& weight : q_) weight /= sum;
  }

 private:
  void remember(std::size_t s, std::size_t cells) {
    auto& all = exponents_[s];
    for (std::size_t j = 0; j < cells; ++j) {
      all[j] += std::log(std::max(factor_[j], kGone));
    }
  }

  // Rows also get back what this workload's last move took from them, and the new move is kept.
  void correct(std::size_t s, std::size_t cells) {
    auto& taken_back = taken_back_[s];
    for (std::size_t j = 0; j < cells; ++j) {
      const double before = taken_back[j];
      const double move = std::max(factor_[j], 1.0 / kLargestCorrection);
      factor_[j] *= before;
      taken_back[j] = std::clamp(1.0 / move, 1.0 / kLargestCorrection, kLargestCorrection);
    }
  }

  void scale(const PartialWorkload& W_s) {
    const std::uint32_t* cell = W_s.cell().data();
    const double* factor = factor_.data();
    const double* least = floor_.data();
    std::uint8_t* held = held_.data();
    double* q = q_.data();
    const std::size_t rows = q_.size();
    for (std::size_t r = 0; r < rows; ++r) {
      const double moved = q[r] * factor[cell[r]];
      held[r] |= static_cast<std::uint8_t>(moved < least[r]);
      q[r] = moved > least[r] ? moved : least[r];
    }
  }

  // Cells that had nothing and are to have y: evenly over their rows.
  void spread(const PartialWorkload& W_s, std::span<const double> y) {
    for (std::size_t r = 0; r < q_.size(); ++r) {
      const std::uint32_t j = W_s.cell()[r];
      if (b_[j] > 0.0 || !(y[j] > 0.0)) continue;
      q_[r] = y[j] / W_s.rows_in()[j];
      held_[r] = 1;
    }
  }

  std::span<const PartialWorkload> workloads_;
  const IterativeOptions& options_;
  std::vector<double> q_;
  std::vector<double> floor_;
  std::vector<std::uint8_t> held_;              // rows that a step did not only multiply
  std::vector<std::vector<double>> exponents_;  // of each workload and cell, all steps together
  std::vector<double> b_, y_, factor_;          // of one workload
  std::vector<double> c_;                       // of each workload's last projection
  std::vector<std::vector<double>>
      taken_back_;  // of each workload and cell: one over its last move
};

double l1_between(std::span<const double> a, std::span<const double> b) {
  double out = 0.0;
  for (std::size_t i = 0; i < a.size(); ++i) out += std::abs(a[i] - b[i]);
  return out;
}

}  // namespace

IterativeEstimate estimate_distribution(std::span<const double> prior,
                                        std::span<const PartialWorkload> workloads,
                                        const IterativeOptions& options, Rng& rng) {
  const auto p = normalized(prior);
  for (const auto& workload : workloads) {
    check(workload.rows() == p.size(), "workloads and prior are of the same rows");
  }
  check(!options.corrections || options.tie == Tie::Prior,
        "corrections are of projections in relative entropy");
  Estimate estimate(p, workloads, options);
  IterativeEstimate out;
  const double always = out_of_reach(workloads);
  const auto report = [&](int sweep) {
    out.trace.push_back(
        {sweep, misfit_of(workloads, estimate.q()) + always, relative_entropy(estimate.q(), p)});
  };
  if (options.trace) report(0);
  std::vector<std::size_t> order(workloads.size());
  double least = std::numeric_limits<double>::infinity();
  const int patience = std::max(kLeastPatience, options.sweeps / kPatience);
  int idle = 0;    // sweeps since the least misfit
  int damped = 0;  // sweeps since damping began; 0: it has not
  int reported = 1;
  out.settled = workloads.empty();
  for (int sweep = 1; sweep <= options.sweeps && !out.settled; ++sweep) {
    options.threads.check();
    const std::vector<double> before = estimate.q();
    std::iota(order.begin(), order.end(), std::size_t{0});
    if (options.order == SweepOrder::Sweep) {
      rng.shuffle(std::span(order));
    } else {
      for (auto& s : order) s = rng.below(workloads.size());
    }
    const double g = 1.0 / (1.0 + damped / kDampedSlowly);
    double missed = 0.0;  // on the way: by each marginal when its turn came
    for (const std::size_t s : order) missed += estimate.step(s, g);
    estimate.normalize();
    idle = missed < least ? 0 : idle + 1;
    least = std::min(least, missed);
    if (damped > 0 || (options.damping && idle == patience)) ++damped;
    out.settled = l1_between(before, estimate.q()) < options.tolerance;
    const bool last = sweep == options.sweeps || out.settled;
    if (options.trace && (sweep == reported || last)) {
      report(sweep);
      while (reported <= sweep) reported *= 2;
    }
  }
  out.q = estimate.q();
  out.exponents = estimate.exponents();
  out.held = estimate.held();
  return out;
}

}  // namespace tandem
