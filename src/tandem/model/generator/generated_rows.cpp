// SPDX-License-Identifier: Apache-2.0
#include "tandem/model/generator/generated_rows.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <numeric>
#include <utility>

#include "tandem/base/check.h"
#include "tandem/model/generator/product_mixture.h"

namespace tandem {
namespace {

constexpr double kFirstDecay = 0.9;  // of Adam's moments, as in float_math
constexpr double kSecondDecay = 0.999;
constexpr std::size_t kParametersOfTask = std::size_t{1} << 15;
constexpr std::size_t kRowsOfTask = 128;
constexpr float kImpossible = -1e30F;                       // a logit whose exponential is zero
constexpr std::size_t kCellsAtOnce = std::size_t{1} << 20;  // of answers in single precision

std::vector<Clique> cliques_of(std::span<const MarginalTarget> targets) {
  std::vector<Clique> out;
  for (const auto& target : targets) out.push_back(target.clique);
  return out;
}

// Half the derivative of each cell's squared error.
struct Errors {
  Floats of_cells;
  std::vector<char> wanted;  // marginals with a cell that counts
  bool any = false;
};

void errors_of(std::span<const MarginalTarget> targets, const MarginalAnswers& marginals,
               std::span<const float> answers, double threshold, Errors& out) {
  out.of_cells.resize(answers.size());
  out.wanted.assign(targets.size(), 0);
  out.any = false;
  for (std::size_t m = 0; m < targets.size(); ++m) {
    const auto& target = targets[m];
    const std::size_t start = marginals.start(m);
    for (std::size_t c = 0; c < target.values.size(); ++c) {
      const float error = answers[start + c] - target.values[c];
      const float above = std::abs(error) - target.tolerance;
      // Comparisons with what is unknown are false.
      const bool counts = above > 0.0F && std::abs(error) >= static_cast<float>(threshold);
      out.of_cells[start + c] = counts ? target.weight * std::copysign(above, error) : 0.0F;
      if (counts) out.wanted[m] = 1;
    }
    out.any = out.any || out.wanted[m] != 0;
  }
}

double cosine(double rate, int step, int steps) {
  return rate * 0.5 * (1.0 + std::cos(std::numbers::pi * step / steps));
}

}  // namespace

GeneratedRows::GeneratedRows(Domain domain, std::unique_ptr<Generator> generator, std::size_t rows,
                             const std::vector<char>& impossible, Threads threads)
    : domain_(std::move(domain)),
      layout_(domain_),
      generator_(std::move(generator)),
      impossible_(impossible),
      threads_(threads),
      team_(std::move(threads)),
      probabilities_(rows * layout_.codes),
      of_probabilities_(rows * layout_.codes),
      P_{probabilities_.data(), layout_.codes, rows, rows},
      of_P_{of_probabilities_.data(), layout_.codes, rows, rows},
      gradient_(generator_->parameters().size()),
      first_moment_(gradient_.size()),
      second_moment_(gradient_.size()) {
  check(impossible_.empty() || impossible_.size() == layout_.codes, "each code is possible or not");
  if (std::ranges::find(impossible_, 1) == impossible_.end()) impossible_.clear();
}

GeneratedRows::~GeneratedRows() = default;

void GeneratedRows::forward() {
  generator_->forward(P_, team_);
  team_.run((P_.columns + kRowsOfTask - 1) / kRowsOfTask, [&](std::size_t task) {
    const std::size_t from = task * kRowsOfTask;
    const Matrix some = P_.some_columns(from, std::min(kRowsOfTask, P_.columns - from));
    for (std::size_t c = 0; c < impossible_.size(); ++c) {
      if (impossible_[c] != 0) std::fill_n(some.data + c * some.stride, some.columns, kImpossible);
    }
    for (AttributeId id = 0; id < domain_.size(); ++id) {
      float_math().softmax(some.some_rows(layout_.first[id], layout_.size[id]));
    }
  });
}

void GeneratedRows::forget() {
  std::ranges::fill(first_moment_, 0.0F);
  std::ranges::fill(second_moment_, 0.0F);
  first_power_ = second_power_ = 1.0;
}

void GeneratedRows::step(const MarginalAnswers& marginals, std::span<const float> of_cells,
                         const std::vector<char>& wanted, double rate) {
  marginals.back(P_, of_cells, wanted, of_P_, team_);
  team_.run((P_.columns + kRowsOfTask - 1) / kRowsOfTask, [&](std::size_t task) {
    const std::size_t from = task * kRowsOfTask;
    const std::size_t count = std::min(kRowsOfTask, P_.columns - from);
    for (AttributeId id = 0; id < domain_.size(); ++id) {
      const auto column = [&](Matrix m) {
        return m.some_rows(layout_.first[id], layout_.size[id]).some_columns(from, count);
      };
      float_math().softmax_back(column(P_), column(of_P_));
    }
  });
  generator_->back(of_P_, gradient_, team_);
  first_power_ *= kFirstDecay;
  second_power_ *= kSecondDecay;
  const double corrected = rate * std::sqrt(1.0 - second_power_) / (1.0 - first_power_);
  const auto parameters = generator_->parameters();
  const std::size_t all = parameters.size();
  team_.run((all + kParametersOfTask - 1) / kParametersOfTask, [&](std::size_t task) {
    const std::size_t from = task * kParametersOfTask;
    float_math().adam(std::min(kParametersOfTask, all - from), static_cast<float>(corrected),
                      gradient_.data() + from, first_moment_.data() + from,
                      second_moment_.data() + from, parameters.data() + from);
  });
}

int GeneratedRows::fit(std::span<const MarginalTarget> targets, const TrainingSteps& steps) {
  if (targets.empty()) return 0;
  if (steps.afresh) forget();
  const MarginalAnswers marginals(layout_, cliques_of(targets));
  Floats answers(marginals.cells());
  Errors errors;
  for (int s = 0; s < steps.most; ++s) {
    threads_.check();
    forward();
    marginals.answer(P_, answers, team_);
    errors_of(targets, marginals, answers, steps.threshold, errors);
    if (!errors.any) return s;
    step(marginals, errors.of_cells, errors.wanted, cosine(steps.rate, s, steps.most));
  }
  return steps.most;
}

void GeneratedRows::fit_in_turns(std::span<const MarginalTarget> targets, std::size_t cells,
                                 int turns, const TrainingSteps& each, Rng& rng) {
  const MarginalAnswers all(layout_, cliques_of(targets));
  Floats answers(all.cells());
  std::vector<double> error(targets.size());
  Floats best;
  double least = HUGE_VAL;
  for (int turn = 0; turn <= turns; ++turn) {
    threads_.check();
    forward();
    all.answer(P_, answers, team_);
    for (std::size_t m = 0; m < targets.size(); ++m) {
      error[m] = 0.0;
      for (std::size_t c = 0; c < targets[m].values.size(); ++c) {
        error[m] += std::abs(answers[all.start(m) + c] - targets[m].values[c]);
      }
    }
    const double sum = std::accumulate(error.begin(), error.end(), 0.0);
    const auto parameters = generator_->parameters();
    if (sum < least) {
      least = sum;
      best.assign(parameters.begin(), parameters.end());
    }
    if (turn == turns || !(sum > 0.0)) break;
    // Each marginal's turn comes after a time that is shorter the larger its error.
    std::vector<std::pair<double, std::size_t>> order;
    for (std::size_t m = 0; m < targets.size(); ++m) {
      order.emplace_back(-std::log1p(-rng.uniform()) / std::max(error[m], 1e-12), m);
    }
    std::ranges::sort(order);
    std::vector<MarginalTarget> some;
    for (std::size_t used = 0; const auto& [time, m] : order) {
      if (used > 0 && used + targets[m].values.size() > cells) continue;
      some.push_back(targets[m]);
      used += targets[m].values.size();
      if (used >= cells) break;
    }
    TrainingSteps now = each;
    now.rate = cosine(each.rate, turn, turns);
    const MarginalAnswers marginals(layout_, cliques_of(some));
    Floats of_some(marginals.cells());
    Errors errors;
    for (int s = 0; s < now.most; ++s) {
      if (s > 0) forward();
      marginals.answer(P_, of_some, team_);
      errors_of(some, marginals, of_some, now.threshold, errors);
      if (!errors.any) break;
      step(marginals, errors.of_cells, errors.wanted, now.rate);
    }
  }
  std::ranges::copy(best, generator_->parameters().begin());
}

std::vector<Factor> GeneratedRows::project_all(std::span<const Clique> cliques, double total) {
  forward();
  std::vector<Factor> out;
  out.reserve(cliques.size());
  for (std::size_t from = 0; from < cliques.size();) {
    threads_.check();
    std::vector<Clique> some;
    for (std::size_t cells = 0; from < cliques.size() && cells < kCellsAtOnce; ++from) {
      some.push_back(cliques[from]);
      cells += domain_.cells(cliques[from]);
    }
    const MarginalAnswers marginals(layout_, some);
    Floats answers(marginals.cells());
    marginals.answer(P_, answers, team_);
    for (std::size_t m = 0; m < some.size(); ++m) {
      Factor factor{some[m], std::vector<double>(marginals.cells(m))};
      for (std::size_t c = 0; c < factor.values.size(); ++c) {
        factor.values[c] = total * static_cast<double>(answers[marginals.start(m) + c]);
      }
      out.push_back(std::move(factor));
    }
  }
  return out;
}

void GeneratedRows::average_in(double share) {
  const auto parameters = generator_->parameters();
  if (average_.empty()) {
    average_.assign(parameters.begin(), parameters.end());
    return;
  }
  const auto mine = static_cast<float>(share);
  for (std::size_t i = 0; i < average_.size(); ++i) {
    average_[i] += mine * (parameters[i] - average_[i]);
  }
}

void GeneratedRows::take_average() {
  if (!average_.empty()) std::ranges::copy(average_, generator_->parameters().begin());
}

std::unique_ptr<Model> GeneratedRows::model(double total) {
  forward();
  const std::size_t K = P_.columns;
  std::vector<std::vector<double>> probabilities;
  for (AttributeId id = 0; id < domain_.size(); ++id) {
    const std::size_t size = layout_.size[id];
    probabilities.emplace_back(K * size, 0.0);
    for (std::size_t c = 0; c < size; ++c) {
      const std::size_t code = layout_.first[id] + c;
      if (!impossible_.empty() && impossible_[code] != 0) continue;  // exactly zero
      for (std::size_t k = 0; k < K; ++k) {
        probabilities.back()[k * size + c] = static_cast<double>(P_.data[code * P_.stride + k]);
      }
    }
  }
  return std::make_unique<ProductMixture>(domain_, std::vector<double>(K, 1.0),
                                          std::move(probabilities), total, threads_);
}

double generated_rows_bytes(double parameters, double rows, double codes) {
  return sizeof(float) * (4.0 * parameters + 2.0 * rows * codes);
}

}  // namespace tandem
