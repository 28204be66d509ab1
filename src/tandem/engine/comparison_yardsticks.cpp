// SPDX-License-Identifier: Apache-2.0
#include "tandem/engine/comparison_yardsticks.h"

#include <fmt/core.h>

#include <array>
#include <cmath>
#include <limits>
#include <numeric>

#include "tandem/base/rng.h"

namespace tandem {

namespace {

constexpr std::array kShares = {0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2,
                                0.3,   0.4,   0.5,   0.6,  0.7,  0.8,  0.9};
constexpr std::size_t kFewestRows = 5;  // a smaller sample says nothing about a share
constexpr std::uint64_t kDraws = 3;  // errors of samples of 1% differ by 1% between draws (ADULT)

void add(WorkloadErrors& sum, const WorkloadErrors& more, double weight) {
  sum.avg += weight * more.avg;
  sum.max += weight * more.max;
  sum.mean += weight * more.mean;
}

// Stands in for eval's own yardstick: this function alone is to ask that one instead.
std::vector<ErrorPoint> samples_of(const Table& real, const JudgeTable& judge) {
  std::vector<ErrorPoint> out;
  for (const double share : kShares) {
    const auto rows =
        static_cast<std::size_t>(std::llround(share * static_cast<double>(real.rows())));
    if (rows >= kFewestRows && rows < real.rows()) {
      out.push_back({.name = {}, .share = share, .rows = rows, .errors = {}});
    }
  }
  std::vector<std::size_t> order(real.rows());
  for (std::uint64_t draw = 1; draw <= kDraws; ++draw) {
    std::iota(order.begin(), order.end(), std::size_t{0});
    Rng rng(draw);
    rng.shuffle(std::span(order));
    for (auto& sample : out) {
      add(sample.errors, judge(real.select(std::span(order).first(sample.rows))), 1.0 / kDraws);
    }
  }
  return out;
}

// The error of a sample without replacement falls like the root of this, up to where cells are few.
double rows_missing(double share) { return std::log((1.0 - share) / share); }

}  // namespace

ComparisonYardsticks measure_yardsticks(const Table& real, const PublicData& public_data,
                                        const JudgeTable& judge) {
  ComparisonYardsticks out;
  for (const auto& source : public_data.tables) {
    if (source.table.rows() == 0) continue;
    out.public_rows.push_back({.name = source.name,
                               .share = 0.0,
                               .rows = source.table.rows(),
                               .errors = judge(source.table)});
  }
  out.samples = samples_of(real, judge);
  return out;
}

std::optional<double> equivalent_share(std::span<const ErrorPoint> samples,
                                       double WorkloadErrors::*metric, double error) {
  double worse = std::numeric_limits<double>::infinity();
  for (std::size_t i = 0; i < samples.size(); ++i) {
    // The largest of few errors may rise by chance where a sample grows.
    const double better = std::min(worse, samples[i].errors.*metric);
    if (error >= better) {
      if (i == 0) return error > better ? std::nullopt : std::optional(samples[i].share);
      if (!(better > 0.0) || better == worse) return samples[i].share;
      const double way = (std::log(worse) - std::log(error)) / (std::log(worse) - std::log(better));
      const double from = rows_missing(samples[i - 1].share);
      const double to = rows_missing(samples[i].share);
      return 1.0 / (1.0 + std::exp(from + way * (to - from)));
    }
    worse = better;
  }
  return std::nullopt;
}

std::string percent(double share) {
  const double hundredths = 100.0 * share;
  return hundredths >= 9.95 ? fmt::format("{:.0f}%", hundredths)
                            : fmt::format("{:.2g}%", hundredths);
}

std::string share_in_words(std::span<const ErrorPoint> samples, double WorkloadErrors::*metric,
                           double error) {
  if (samples.empty()) return "-";
  if (const auto share = equivalent_share(samples, metric, error)) return percent(*share);
  if (error > samples.front().errors.*metric) return "below " + percent(samples.front().share);
  return "above " + percent(samples.back().share);
}

}  // namespace tandem
