// SPDX-License-Identifier: Apache-2.0
#include "tandem/mechanism/row_share.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <utility>

#include "tandem/query/counting.h"

namespace tandem {
namespace {

// The cell of each row in a marginal.
std::vector<std::size_t> cells_of_rows(const Table& rows, const Clique& clique) {
  std::vector<std::size_t> cell(rows.rows(), 0);
  for (const auto id : clique) {
    const std::size_t size = rows.domain()[id].size;
    rows.column(id).visit([&](auto codes) {
      for (std::size_t r = 0; r < codes.size(); ++r) cell[r] = cell[r] * size + codes[r];
    });
  }
  return cell;
}

// E |X - m| of a Poisson count: exact below one, Gaussian above.
double mean_deviation(double m) {
  return m < 1.0 ? 2.0 * m * std::exp(-m) : std::sqrt(2.0 / std::numbers::pi * m);
}

constexpr std::size_t kCellsAtOnce = std::size_t{1} << 23;

// For one marginal, as shares of L1.
struct Distances {
  double weight = 0.0;
  double missed = 0.0;  // S: what the model misses
  double noise = 0.0;   // what the rows would add
};

}  // namespace

TiltedRows tilt_rows(const PublicData& data, std::span<const double> shares,
                     std::span<const Factor> multipliers, double total) {
  Support support = public_rows(data, shares);
  std::vector<double> tilt(support.rows.rows(), 0.0);
  for (const auto& factor : multipliers) {
    const auto cell = cells_of_rows(support.rows, factor.clique);
    for (std::size_t r = 0; r < tilt.size(); ++r) tilt[r] += factor.values[cell[r]];
  }
  const double most = *std::ranges::max_element(tilt);
  double mass = 0.0;
  double first = 0.0;
  double second = 0.0;
  for (std::size_t r = 0; r < tilt.size(); ++r) {
    const double factor = std::exp(tilt[r] - most);
    mass += support.weights[r];
    first += support.weights[r] * factor;
    second += support.weights[r] * factor * factor;
    support.weights[r] *= factor;
  }
  // Rows of source s weigh share_s / n_s each before the tilt.
  double sum = 0.0;
  for (const double share : shares) sum += share;
  double inverse_rows = 0.0;
  for (std::size_t s = 0; s < shares.size(); ++s) {
    const auto rows = static_cast<double>(data.tables[s].table.rows());
    if (rows > 0.0) inverse_rows += (shares[s] / sum) * (shares[s] / sum) / rows;
  }
  return {SupportHistogram(std::move(support), total), first * first / (second * mass * inverse_rows)};
}

double best_row_share(const GraphicalModel& model, const TiltedRows& tilted, double nu,
                      const Workload& workload, Threads threads) {
  const double n = model.total();
  const double biased = std::sqrt(std::max(1.0, tilted.effective / nu));
  std::vector<Distances> distances;
  std::vector<Clique> batch;
  std::vector<double> weights;
  std::size_t cells = 0;
  const auto weigh = [&] {
    const auto expected = model.project_all(batch);
    const auto found = count_marginals(tilted.rows.rows(), tilted.rows.weights(), batch, threads);
    for (std::size_t i = 0; i < batch.size(); ++i) {
      double distance = 0.0;
      double noise = 0.0;
      for (std::size_t t = 0; t < expected[i].values.size(); ++t) {
        const double q = expected[i].values[t] / n;
        distance += std::abs(found[i].values[t] * tilted.rows.unit() / n - q);
        noise += mean_deviation(q * tilted.effective);
      }
      noise /= tilted.effective;
      distances.push_back({weights[i],
                           std::sqrt(std::max(0.0, distance * distance - noise * noise)),
                           biased * std::min(noise, distance)});
    }
    batch.clear();
    weights.clear();
    cells = 0;
  };
  for (const auto& [clique, weight] : workload.cliques()) {
    batch.push_back(clique);
    weights.push_back(weight);
    cells += workload.domain().cells(clique);
    if (cells >= kCellsAtOnce) weigh();
  }
  weigh();
  double best = 0.0;
  double least = std::numeric_limits<double>::infinity();
  for (double share = 0.0; share < 0.505; share += 0.01) {
    double sum = 0.0;
    for (const auto& [weight, missed, noise] : distances) {
      sum += weight * std::hypot((1.0 - share) * missed, share * noise);
    }
    if (sum >= least) continue;
    least = sum;
    best = share;
  }
  return best;
}

}  // namespace tandem
