// SPDX-License-Identifier: Apache-2.0
#include "tandem/eval/yardstick.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>

#include "tandem/base/check.h"
#include "tandem/base/rng.h"
#include "tandem/query/counting.h"

namespace tandem {

namespace {

constexpr std::array kFractions = {1e-4, 3e-4, 1e-3, 3e-3, 0.01, 0.03, 0.1,
                                   0.2,  0.35, 0.5,  0.7,  0.85, 0.95, 0.99};
constexpr std::array<Yardstick::Metric, 4> kMetrics = {&Evaluation::avg_workload_error,
                                                       &Evaluation::max_error,
                                                       &Evaluation::mean_error, &Evaluation::rmse};

constexpr std::size_t kMostDraws = 10;
constexpr std::size_t kMostRowsDrawn = 2'000'000;                // in all draws together
constexpr std::size_t kMostBytesDrawn = std::size_t{256} << 20;  // held while they are counted
constexpr std::size_t kMostCellVisits = 500'000'000;  // a cell is visited for each sample

// Where samples lie so that their errors are on a line: the logarithm of (1 - f) / f.
double place(double fraction) { return std::log((1.0 - fraction) / fraction); }
double height(double error) {
  return std::log(std::max(error, std::numeric_limits<double>::min()));
}

// The nearest values that never rise (pool adjacent violators).
void make_falling(std::vector<double>& values) {
  std::vector<std::pair<double, std::size_t>> pools;  // mean, members
  for (const double value : values) {
    pools.emplace_back(value, 1);
    while (pools.size() > 1 && pools[pools.size() - 2].first < pools.back().first) {
      const auto [mean, members] = pools.back();
      pools.pop_back();
      auto& [sum, count] = pools.back();
      sum = (sum * static_cast<double>(count) + mean * static_cast<double>(members)) /
            static_cast<double>(count + members);
      count += members;
    }
  }
  values.clear();
  for (const auto& [mean, members] : pools) values.insert(values.end(), members, mean);
}

void make_falling(std::vector<Yardstick::Point>& points) {
  for (const auto metric : kMetrics) {
    std::vector<double> values;
    for (const auto& point : points) values.push_back(point.errors.*metric);
    make_falling(values);
    for (std::size_t i = 0; i < points.size(); ++i) points[i].errors.*metric = values[i];
  }
}

// Points for larger samples than were drawn, on the line through the last two.
void extrapolate(std::vector<Yardstick::Point>& points) {
  if (points.size() < 2) return;
  const auto a = points[points.size() - 2];
  const auto b = points.back();
  for (const double fraction : kFractions) {
    if (fraction <= b.fraction * 1.01) continue;
    Yardstick::Point point{fraction, b.errors};
    for (const auto metric : kMetrics) {
      const double slope = (height(b.errors.*metric) - height(a.errors.*metric)) /
                           (place(b.fraction) - place(a.fraction));
      point.errors.*metric =
          std::exp(height(b.errors.*metric) + slope * (place(fraction) - place(b.fraction)));
    }
    points.push_back(point);
  }
}

// Sizes of nested samples of `rows` rows, growing.
std::vector<std::size_t> sizes_of(std::size_t rows, std::size_t largest) {
  std::vector<std::size_t> out;
  for (const double fraction : kFractions) {
    const auto size = static_cast<std::size_t>(std::llround(fraction * static_cast<double>(rows)));
    if (size == 0 || size >= rows || size > largest) continue;
    if (out.empty() || size > out.back()) out.push_back(size);
  }
  // Where the grid stops short of the largest sample, that one is worth its place.
  if (rows > largest && !out.empty() && 2 * out.back() < largest) out.push_back(largest);
  if (out.empty() && rows > 1) out.push_back(1);
  return out;
}

struct Plan {
  std::vector<std::size_t> sizes;
  std::size_t draws = 0;
  bool cut = false;  // larger samples would be too dear
};

Plan plan_of(const Table& table, const Workload& workload, const YardstickOptions& options) {
  const std::size_t rows = table.rows();
  const std::size_t row_bytes =
      std::max<std::size_t>(table.bytes() / std::max<std::size_t>(rows, 1), 1);
  const std::size_t affordable =
      std::max<std::size_t>(std::min(kMostRowsDrawn, kMostBytesDrawn / row_bytes), 1000);
  Plan out;
  const std::size_t largest = std::min(options.largest_sample, affordable);
  out.sizes = sizes_of(rows, largest);
  out.cut = kFractions.back() * static_cast<double>(rows) > static_cast<double>(largest);
  if (out.sizes.empty()) return out;
  const std::size_t by_rows = affordable / out.sizes.back();
  const std::size_t by_cells =
      kMostCellVisits / std::max<std::size_t>(workload.queries() * out.sizes.size(), 1);
  out.draws = options.draws > 0
                  ? options.draws
                  : std::clamp<std::size_t>(std::min(by_rows, by_cells), 1, kMostDraws);
  return out;
}

// The rows that each sample of one draw has beyond the one before.
std::vector<Table> draw_samples(const Table& table, std::span<const std::size_t> sizes, Rng rng) {
  std::vector<std::uint32_t> order(table.rows());
  std::iota(order.begin(), order.end(), 0U);
  std::vector<Table> out;
  std::size_t drawn = 0;
  for (const std::size_t size : sizes) {
    std::vector<std::size_t> rows;
    for (; drawn < size; ++drawn) {
      std::swap(order[drawn], order[drawn + rng.below(order.size() - drawn)]);
      rows.push_back(order[drawn]);
    }
    std::ranges::sort(rows);  // neighbours in memory are read together
    out.push_back(table.select(rows));
  }
  return out;
}

}  // namespace

Yardstick::Yardstick(std::size_t rows, std::size_t draws, std::size_t largest_sample,
                     std::vector<Point> points, std::vector<double> tenth)
    : rows_(rows),
      draws_(draws),
      largest_sample_(largest_sample),
      points_(std::move(points)),
      tenth_(std::move(tenth)) {}

bool Yardstick::extrapolated() const {
  return !points_.empty() && points_.back().fraction * static_cast<double>(rows_) >
                                 static_cast<double>(largest_sample_) + 0.5;
}

std::optional<double> Yardstick::error(Metric metric, double fraction) const {
  if (points_.empty() || fraction * static_cast<double>(rows_) < 0.5) return std::nullopt;
  const auto above =
      std::ranges::lower_bound(points_, fraction, {}, [](const Point& p) { return p.fraction; });
  if (above == points_.end()) return points_.back().errors.*metric;
  if (above == points_.begin() || above->fraction == fraction) return above->errors.*metric;
  const Point& low = *(above - 1);
  const double share =
      (place(fraction) - place(low.fraction)) / (place(above->fraction) - place(low.fraction));
  return std::exp(height(low.errors.*metric) +
                  share * (height(above->errors.*metric) - height(low.errors.*metric)));
}

std::optional<EquivalentSample> Yardstick::equivalent(Metric metric, double error) const {
  using enum EquivalentSample::Side;
  if (points_.empty()) return std::nullopt;
  if (error <= points_.back().errors.*metric) {
    return EquivalentSample{Above, points_.back().fraction};
  }
  if (error > points_.front().errors.*metric) {
    return EquivalentSample{Below, points_.front().fraction};
  }
  // The first point with a smaller error; the one before has a larger one, or the same.
  const auto above = std::ranges::find_if(
      points_, [&](const Point& point) { return point.errors.*metric < error; });
  check(above != points_.begin() && above != points_.end(), "an error lies within the curve");
  const Point& low = *(above - 1);
  const double fall = height(above->errors.*metric) - height(low.errors.*metric);
  const double share = (height(error) - height(low.errors.*metric)) / fall;
  const double at = place(low.fraction) + share * (place(above->fraction) - place(low.fraction));
  return EquivalentSample{Within, 1.0 / (1.0 + std::exp(at))};
}

Yardstick yardstick(const Table& table, const Workload& workload, const YardstickOptions& options,
                    const Threads& threads) {
  const Plan plan = plan_of(table, workload, options);
  const auto& sizes = plan.sizes;
  const std::size_t draws = plan.draws;
  if (sizes.empty()) return {table.rows(), 0, 0, {}, {}};
  std::vector<std::vector<Table>> samples(draws);
  parallel_for(draws, threads, [&](std::size_t draw) {
    samples[draw] = draw_samples(table, sizes, Rng(options.seed * 1000 + draw));
  });
  const auto share = [&](std::size_t size) {
    return static_cast<double>(size) / static_cast<double>(table.rows());
  };
  const auto tenth_size = std::ranges::find_if(
      sizes, [&](std::size_t size) { return std::abs(share(size) - 0.1) <= 0.02; });

  std::vector<std::vector<EvaluationSum>> sums(draws, std::vector<EvaluationSum>(sizes.size()));
  std::vector<double> tenth;
  for (const auto batch : batches(workload, kCellsAtOnce)) {
    std::vector<Clique> cliques;
    for (const auto& [clique, weight] : batch) cliques.push_back(clique);
    const auto references = count_marginals(table, cliques, threads);
    std::vector<double> at_tenth(cliques.size(), 0.0);
    for (std::size_t draw = 0; draw < draws; ++draw) {
      std::vector<Factor> counts;  // of the sample as it grows
      for (std::size_t i = 0; i < sizes.size(); ++i) {
        auto more = count_marginals(samples[draw][i], cliques, threads);
        std::vector<MarginalDistance> apart(cliques.size());
        if (counts.empty()) counts = std::move(more);
        parallel_for(cliques.size(), threads, [&](std::size_t c) {
          if (i > 0) {
            for (std::size_t cell = 0; cell < counts[c].values.size(); ++cell) {
              counts[c].values[cell] += more[c].values[cell];
            }
          }
          apart[c] = distance(references[c], counts[c]);
        });
        for (std::size_t c = 0; c < cliques.size(); ++c) {
          sums[draw][i].add(apart[c], batch[c].weight);
          if (tenth_size - sizes.begin() == static_cast<std::ptrdiff_t>(i)) {
            at_tenth[c] += apart[c].l1 / static_cast<double>(draws);
          }
        }
      }
    }
    tenth.insert(tenth.end(), at_tenth.begin(), at_tenth.end());
  }
  if (tenth_size == sizes.end()) tenth.clear();

  std::vector<Yardstick::Point> points;
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    Yardstick::Point point{share(sizes[i]), {}};
    for (const auto& sum : sums) {
      const Evaluation one = sum[i].result();
      for (const auto metric : kMetrics) {
        point.errors.*metric += one.*metric / static_cast<double>(draws);
      }
    }
    points.push_back(point);
  }
  make_falling(points);
  if (plan.cut) extrapolate(points);
  return {table.rows(), draws, sizes.back(), std::move(points), std::move(tenth)};
}

}  // namespace tandem
