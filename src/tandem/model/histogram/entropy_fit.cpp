// SPDX-License-Identifier: Apache-2.0
#include "tandem/model/histogram/entropy_fit.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>

#include "tandem/base/check.h"
#include "tandem/optimize/box_lbfgs.h"
#include "tandem/optimize/least_l1.h"

namespace tandem {
namespace {

constexpr double kFirstLambda = 1.0;
constexpr double kGrowth = 4.0;
constexpr double kLastLambda = 1e8;        // beyond, W'u loses the digits that the gap needs
constexpr int kFewestEvaluations = 100;    // with less left, another lambda is not begun
constexpr double kLeastCurvature = 1e-12;  // of a coordinate of the dual

// The dual as a function to be minimised, ln sum_i p_i exp(-(W'u)_i) + u'y~, with what belongs to
// the last u it was asked about.
class Dual {
 public:
  Dual(std::span<const double> p, std::span<const PartialWorkload> workloads)
      : workloads_(workloads),
        p_(p.begin(), p.end()),
        log_p_(p.size()),
        at_(p.size()),
        x_(p.size()) {
    const double sum = std::accumulate(p.begin(), p.end(), 0.0);
    for (std::size_t i = 0; i < p.size(); ++i) {
      check(p[i] > 0.0 && std::isfinite(sum), "every row has a positive prior");
      p_[i] /= sum;
      log_p_[i] = std::log(p_[i]);
    }
    for (const auto& workload : workloads) {
      check(workload.rows() == p.size(), "workloads and prior are of the same rows");
      start_.push_back(dimension_);
      dimension_ += workload.answered();
    }
    sums_.resize(most_cells(workloads));
  }

  std::size_t dimension() const { return dimension_; }
  const std::vector<double>& p() const { return p_; }
  const std::vector<double>& x() const { return x_; }

  double evaluate(std::span<const double> u, std::span<double> gradient,
                  std::span<double> inverse_curvature) {
    transpose(u);
    double most = -std::numeric_limits<double>::infinity();
    for (std::size_t i = 0; i < x_.size(); ++i) most = std::max(most, log_p_[i] - at_[i]);
    double sum = 0.0;
    for (std::size_t i = 0; i < x_.size(); ++i) {
      x_[i] = std::exp(log_p_[i] - at_[i] - most);
      sum += x_[i];
    }
    for (double& weight : x_) weight /= sum;
    double value = most + std::log(sum);
    for (std::size_t s = 0; s < workloads_.size(); ++s) {
      workloads_[s].sum(x_, sums_);
      const auto answers = workloads_[s].answers();
      for (std::size_t j = 0; j < answers.size(); ++j) {
        const std::size_t k = start_[s] + j;
        value += u[k] * answers[j];
        gradient[k] = answers[j] - sums_[j];
        inverse_curvature[k] = 1.0 / std::max(sums_[j] * (1.0 - sums_[j]), kLeastCurvature);
      }
    }
    return value;
  }

  // min_i (W'v)_i - v'y~: no misfit is smaller, for |v| <= 1.
  double bound(std::span<const double> v) {
    transpose(v);
    double least = std::numeric_limits<double>::infinity();
    for (const double at : at_) least = std::min(least, at);
    for (std::size_t s = 0; s < workloads_.size(); ++s) {
      const auto answers = workloads_[s].answers();
      for (std::size_t j = 0; j < answers.size(); ++j) least -= v[start_[s] + j] * answers[j];
    }
    return least;
  }

  std::optional<double> least_misfit(const Threads& threads) const {
    LeastL1Problem problem;
    problem.rows = x_.size();
    for (const auto& workload : workloads_) {
      problem.blocks.push_back({workload.cell(), workload.answers()});
    }
    return least_l1(problem, threads);
  }

 private:
  void transpose(std::span<const double> u) {  // at_ = W'u
    std::ranges::fill(at_, 0.0);
    for (std::size_t s = 0; s < workloads_.size(); ++s) {
      const PartialWorkload& workload = workloads_[s];
      std::copy_n(u.begin() + static_cast<std::ptrdiff_t>(start_[s]), workload.answered(),
                  sums_.begin());
      if (!workload.covers()) sums_[workload.answered()] = 0.0;
      const std::uint32_t* cell = workload.cell().data();
      for (std::size_t i = 0; i < at_.size(); ++i) at_[i] += sums_[cell[i]];
    }
  }

  std::span<const PartialWorkload> workloads_;
  std::vector<double> p_;
  std::vector<double> log_p_;
  std::vector<double> at_;
  std::vector<double> x_;
  std::vector<double> sums_;  // of one workload's cells
  std::vector<std::size_t> start_;
  std::size_t dimension_ = 0;
};

double l1_of(std::span<const double> values) {
  double out = 0.0;
  for (const double value : values) out += std::abs(value);
  return out;
}

// lambda |r|_1 - u'r, where the gradient is -r.
double gap_of(std::span<const double> u, std::span<const double> gradient, double lambda) {
  double out = 0.0;
  for (std::size_t k = 0; k < u.size(); ++k) {
    out += lambda * std::abs(gradient[k]) + u[k] * gradient[k];
  }
  return std::max(0.0, out);
}

// An evaluation looks at each entry of W twice; the search, at each coordinate of some twenty pairs
// of vectors, twice.
int most_evaluations(double work, std::size_t entries, std::size_t dimension) {
  const double each = 1.0 + static_cast<double>(entries) + 80.0 * static_cast<double>(dimension);
  return static_cast<int>(std::clamp(work / each, 2.0 * kFewestEvaluations, 200'000.0));
}

// Of two solutions the one whose gap is small enough, and of two such the one that fits better: a
// larger lambda asks for more digits.
void keep_better(EntropyFit& kept, EntropyFit found, double tolerance) {
  const bool was_exact = kept.gap <= tolerance;
  const bool is_exact = found.gap <= tolerance;
  const bool better = was_exact && is_exact   ? found.misfit < kept.misfit
                      : was_exact != is_exact ? is_exact
                                              : found.gap < kept.gap;
  if (!kept.q.empty() && !better) return;
  kept.q = std::move(found.q);
  kept.misfit = found.misfit;
  kept.gap = found.gap;
  kept.lambda = found.lambda;
}

}  // namespace

EntropyFit fit_relative_entropy(std::span<const double> p,
                                std::span<const PartialWorkload> workloads,
                                const EntropyFitOptions& options) {
  Dual dual(p, workloads);
  EntropyFit out;
  if (options.linear_solver) {
    if (const auto least = dual.least_misfit(options.threads)) {
      out.least_misfit = *least;
      out.exact = true;
    }
  }
  BoxLbfgs search(dual.dimension());
  std::vector<double> u(dual.dimension(), 0.0);
  std::vector<double> before;  // the solution for the lambda before
  std::vector<double> gradient(u.size());
  std::vector<double> inverse(u.size());
  const int most = most_evaluations(options.work, p.size() * workloads.size(), u.size());
  int left = most;
  for (double lambda = kFirstLambda;; lambda *= kGrowth) {
    int allowed = (left + 1) / 2;  // what comes after needs some, too
    left -= allowed;
    search.minimize(
        [&](auto at, auto slope, auto curvature) {
          options.threads.check();
          return dual.evaluate(at, slope, curvature);
        },
        lambda, u,
        [&](auto at, auto slope) { return gap_of(at, slope, lambda) <= 0.5 * options.tolerance; },
        allowed);
    left += std::max(allowed, 0);
    dual.evaluate(u, gradient, inverse);
    keep_better(out,
                {.q = dual.x(),
                 .misfit = l1_of(gradient),
                 .gap = gap_of(u, gradient, lambda),
                 .lambda = lambda},
                options.tolerance);
    // The solution moves along a line once lambda is large, and its direction is the best v.
    std::vector<double> v(u.size());
    std::vector<double> ahead(u.size());
    const double farther = lambda * (kGrowth - 1.0);
    const double since = lambda * (1.0 - 1.0 / kGrowth);
    for (std::size_t k = 0; k < u.size(); ++k) {
      v[k] = before.empty() ? u[k] / lambda : std::clamp((u[k] - before[k]) / since, -1.0, 1.0);
      ahead[k] = std::clamp(u[k] + farther * v[k], -kGrowth * lambda, kGrowth * lambda);
    }
    if (!out.exact) out.least_misfit = std::max(out.least_misfit, dual.bound(v));
    out.settled =
        out.gap <= options.tolerance && out.misfit - out.least_misfit <= options.tolerance;
    if (out.settled || left < kFewestEvaluations || lambda * kGrowth > kLastLambda) break;
    before = std::move(u);
    u = std::move(ahead);
  }
  const double always = out_of_reach(workloads);
  out.misfit += always;
  out.least_misfit += always;
  out.kl = relative_entropy(out.q, dual.p());
  out.evaluations = most - left;
  return out;
}

}  // namespace tandem
