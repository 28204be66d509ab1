// SPDX-License-Identifier: Apache-2.0
#include "tandem/mechanism/row_share.h"

#include <algorithm>
#include <cmath>
#include <utility>


namespace tandem {
namespace {

// k: the square of what a model of a few megabytes misses, over that of the sampling noise of as
// many public rows as it was made from. Measured: docs/decisions/0010-tandem.md.
constexpr double kMissed = 0.25;

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
  const double rows = 1.0 / inverse_rows;
  return {.model = SupportHistogram(std::move(support), total),
          .rows = rows,
          .effective = rows * first * first / (second * mass)};
}

double best_row_share(const TiltedRows& tilted, const PublicPrior& prior) {
  double most = 0.0;
  for (const auto& source : prior.sources()) most += source.trust.most();
  // Of their variance, 1 / effective is sampling noise, and the trust says what bias adds.
  const double bias = std::max(0.0, 1.0 / prior.nu() - 1.0 / most);
  const double worth = 1.0 / (1.0 / tilted.effective + bias) / tilted.rows;
  return kMissed * worth / (1.0 + kMissed * worth);
}

}  // namespace tandem
