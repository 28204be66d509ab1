// SPDX-License-Identifier: Apache-2.0
#include "tandem/mechanism/weights/multiplicative_weights.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "tandem/base/check.h"
#include "tandem/base/error.h"
#include "tandem/base/text.h"

namespace tandem {

namespace {

constexpr std::size_t kMostRowsKept = std::size_t{1} << 26;  // of measured cells: 256 MB
// A cell's answer, true count and score, and its place among those to choose from. Measured with
// mw-pub on 10 to 60 columns: docs/mechanisms/aim.md.
constexpr double kBytesPerCell = 3.0 * sizeof(double) + sizeof(std::uint32_t);

}  // namespace

MultiplicativeWeights::MultiplicativeWeights(const Domain& domain, const Workload& workload,
                                             std::vector<Part> parts, double n, Threads threads)
    : domain_(domain), n_(n), group_of_(workload.size()), place_of_(workload.size()) {
  for (auto& [group, support] : parts) {
    std::vector<Clique> marginals;
    for (std::size_t m = 0; m < workload.size(); ++m) {
      const Clique& clique = workload.cliques()[m].clique;
      if (!group.contains(clique)) continue;
      group_of_[m] = groups_.size();
      place_of_[m] = marginals.size();
      marginals.push_back(within_group(clique, group));
    }
    SupportHistogram histogram(std::move(support), n);
    WorkloadAnswers answers(histogram, std::move(marginals), threads);
    groups_.push_back({group, std::move(histogram), std::move(answers)});
  }
  for (const auto& [clique, weight] : workload.cliques()) {
    errors_.push_back({.query = {clique}, .reference = {}});
  }
  refresh_errors();
}

void MultiplicativeWeights::refresh_errors() {
  for (std::size_t m = 0; m < errors_.size(); ++m) {
    const Group& group = groups_[group_of_[m]];
    errors_[m].reference = group.answers.of(place_of_[m]);
    errors_[m].unit = group.histogram.unit();
  }
}

void MultiplicativeWeights::choose_among_larger(double count) {
  among_.resize(errors_.size());
  for (std::size_t m = 0; m < errors_.size(); ++m) {
    const auto A = errors_[m].reference;
    const double least = std::min(count / errors_[m].unit, std::ranges::max(A));
    among_[m].clear();
    for (std::uint32_t cell = 0; cell < A.size(); ++cell) {
      if (A[cell] > 0.0 && A[cell] >= least) among_[m].push_back(cell);
    }
    errors_[m].among = among_[m];
  }
  if (repeats_ != Repeats::Never) return;
  for (const auto& known : measured_) leave_out(known.cell);
}

void MultiplicativeWeights::leave_out(const CellChoice& cell) {
  among_.resize(errors_.size());
  auto& among = among_[cell.scores];
  if (among.empty()) {
    among.resize(errors_[cell.scores].reference.size());
    std::iota(among.begin(), among.end(), 0U);
  }
  // The last one of a marginal stays: nothing to choose from would mean all of them.
  if (among.size() > 1) std::erase(among, static_cast<std::uint32_t>(cell.output));
  errors_[cell.scores].among = among;
}

LinearQuery MultiplicativeWeights::query(const CellChoice& cell) const {
  const Clique& clique = errors_[cell.scores].query.clique;
  return {clique, LinearMap::rows({{{cell.output, 1}}}, domain_.cells(clique))};
}

double MultiplicativeWeights::answer(const CellChoice& cell) const {
  const CellScores& marginal = errors_[cell.scores];
  return marginal.reference[cell.output] * marginal.unit;
}

std::size_t MultiplicativeWeights::remember(const CellChoice& cell,
                                            const Measurement& measurement) {
  const double a = measurement.values.front();
  const double variance = measurement.sigma.value() * measurement.sigma.value();
  const auto found = std::ranges::find(measured_, cell, &MeasuredCell::cell);
  if (found != measured_.end()) {
    if (repeats_ == Repeats::Replace) {
      found->answer = a;
      found->variance = variance;
      return static_cast<std::size_t>(found - measured_.begin());
    }
    const double share = found->variance > 0.0 ? variance / (found->variance + variance) : 1.0;
    found->answer = share * found->answer + (1.0 - share) * a;
    found->variance *= share;
    return static_cast<std::size_t>(found - measured_.begin());
  }
  if (repeats_ == Repeats::Never) leave_out(cell);
  measured_.push_back({cell, a, variance});
  Rows rows;
  rows.group = group_of_[cell.scores];
  const Group& group = groups_[rows.group];
  rows.cell = {within_group(errors_[cell.scores].query.clique, group.attributes), cell.output};
  rows.rows = group.histogram.rows_in(rows.cell);
  rows.kept = rows_kept_ + rows.rows.size() <= kMostRowsKept;
  if (rows.kept) {
    rows_kept_ += rows.rows.size();
  } else {
    rows.rows = {};
  }
  rows_.push_back(std::move(rows));
  return measured_.size() - 1;
}

const std::vector<std::uint32_t>& MultiplicativeWeights::rows_of(
    std::size_t i, std::vector<std::uint32_t>& room) const {
  if (rows_[i].kept) return rows_[i].rows;
  return room = groups_[rows_[i].group].histogram.rows_in(rows_[i].cell);
}

double MultiplicativeWeights::clipped(std::size_t i) const {
  return clip_ ? std::clamp(measured_[i].answer, 0.0, n_) : measured_[i].answer;
}

double MultiplicativeWeights::count(std::size_t i) const {
  std::vector<std::uint32_t> room;
  return groups_[rows_[i].group].histogram.count(rows_of(i, room));
}

void MultiplicativeWeights::reweight(std::size_t i, double exponent) {
  std::vector<std::uint32_t> room;
  groups_[rows_[i].group].histogram.reweight(rows_of(i, room), exponent);
}

void MultiplicativeWeights::end_round(bool in_average) {
  for (auto& group : groups_) {
    group.answers.follow(group.histogram);
    if (in_average) group.histogram.add_to_average();
  }
  averaged_ = averaged_ || in_average;
  refresh_errors();
}

std::unique_ptr<Model> MultiplicativeWeights::model(bool average) const {
  if (groups_.size() == 1) {
    const auto& histogram = groups_.front().histogram;
    return std::make_unique<SupportHistogram>(average ? histogram.average() : histogram);
  }
  std::vector<FactoredHistogram::Part> parts;
  for (const auto& group : groups_) {
    parts.push_back({group.attributes, average ? group.histogram.average() : group.histogram});
  }
  return std::make_unique<FactoredHistogram>(domain_, std::move(parts));
}

std::unique_ptr<Model> MultiplicativeWeights::last() const { return model(false); }
std::unique_ptr<Model> MultiplicativeWeights::average() const { return model(averaged_); }

void update_and_replay(MultiplicativeWeights& A, std::size_t newest, double step, Replay replay,
                       Rng& rng) {
  const std::size_t count = A.measured().size();
  std::vector<double> errors(count);
  const auto look = [&] {
    for (std::size_t i = 0; i < count; ++i) errors[i] = A.error(i);
  };
  const bool stale = replay == Replay::Stale || replay == Replay::Largest;
  std::size_t first = newest;
  if (stale) look();
  if (replay == Replay::Largest) {
    const auto worst = std::ranges::max_element(errors, {}, [](double e) { return std::abs(e); });
    first = static_cast<std::size_t>(worst - errors.begin());
  }
  A.update(first, step);
  if (replay == Replay::None) return;
  if (!stale) look();
  std::vector<std::size_t> again;
  for (std::size_t i = 0; i < count; ++i) {
    if (std::abs(errors[i]) >= std::abs(errors[first]) / 2.0) again.push_back(i);
  }
  rng.shuffle(std::span(again));
  for (const std::size_t i : again) {
    if (stale) {
      A.reweight(i, step * errors[i] / A.n());
    } else {
      A.update(i, step);
    }
  }
}

double multiplicative_weights_bytes(const Domain& domain, const Workload& workload, double rows) {
  double row = 3 * sizeof(double) + sizeof(double) + sizeof(std::uint32_t) + 1;
  for (const auto& attribute : domain.attributes()) {
    row += static_cast<double>(code_width(attribute.size));
  }
  const double kept = 4.0 * static_cast<double>(kMostRowsKept);
  const double stored = 4.0 * std::min(static_cast<double>(WorkloadAnswers::kMostKept),
                                       rows * static_cast<double>(workload.size()));
  const auto cells = static_cast<double>(workload.queries());
  return 2.0 * row * rows + stored + std::min(kept, 400.0 * rows) + kBytesPerCell * cells;
}

void check_model_memory(const std::string& mechanism, const Domain& domain,
                        const Workload& workload, double rows, int max_model_mb,
                        const std::string& instead) {
  const double bytes = multiplicative_weights_bytes(domain, workload, rows);
  if (bytes <= 1e6 * max_model_mb) return;
  throw UsageError(fmt::format(
      "{} would keep {:.6g} rows and {} answers in {}, and max-model-mb allows {} MB; {}.",
      mechanism, rows, with_commas(workload.queries()), human_bytes(bytes),
      with_commas(static_cast<std::size_t>(max_model_mb)), instead));
}

Effort weighing_effort(const Problem& problem, double rows) {
  const double bytes = multiplicative_weights_bytes(problem.domain, problem.workload, rows);
  return {.model_bytes = bytes, .bytes = bytes};
}

std::vector<Warning> misfit_warnings(const MultiplicativeWeights& A) {
  std::size_t missed = 0;
  double worst = 0.0;
  for (std::size_t i = 0; i < A.measured().size(); ++i) {
    const double error = std::abs(A.error(i));
    if (error < 5.0 * std::sqrt(A.measured()[i].variance) || error < 0.02 * A.n()) continue;
    ++missed;
    worst = std::max(worst, error);
  }
  if (missed == 0) return {};
  return {
      {"model.misfit",
       fmt::format("{} of {} measured counts are far from what the model says, by up to {:.2g} of "
                   "all rows: its rows can't be weighted to fit the private table, so look for "
                   "other public data.",
                   missed, A.measured().size(), worst / A.n())}};
}

}  // namespace tandem
