// SPDX-License-Identifier: Apache-2.0
#include "tandem/mechanism/row_share.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace tandem {
namespace {

// k of rows that count alike, without private data. Measured: docs/decisions/0009-tandem.md.
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

TiltedRows tilt_rows(const PublicData& data, const PublicPrior& prior,
                     std::span<const Factor> multipliers, double total) {
  std::vector<double> shares(data.tables.size(), 0.0);
  double inverse_rows = 0.0;  // rows of source s weigh share_s / n_s each before the tilt
  for (const auto& source : prior.sources()) {
    shares[source.table] = source.nu() / prior.nu();
    inverse_rows += shares[source.table] * shares[source.table] / source.model.rows();
  }
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
  const double rows = 1.0 / inverse_rows;
  return {.model = SupportHistogram(std::move(support), total),
          .rows = rows,
          .effective = rows * first * first / (second * mass)};
}

double private_worth(const CombinedModel& p) {
  const auto is_joint = [](const Measurement& y) { return y.query.clique.size() > 1; };
  const bool joint = std::ranges::any_of(p.measurements(), is_joint);
  double noise = 0.0;  // E |.|_1 of the measurements, and of a single row
  double of_one_row = 0.0;
  for (const auto& y : p.measurements()) {
    if (joint && !is_joint(y)) continue;
    for (const double m : p.model().project(y.query.clique).values) {
      noise += y.sigma.value();
      of_one_row += std::sqrt(p.model().total() * m);
    }
  }
  return (of_one_row / noise) * (of_one_row / noise);
}

double best_row_share(const TiltedRows& tilted, const PublicPrior& prior, double private_worth) {
  double most = 0.0;
  for (const auto& source : prior.sources()) most += source.trust.most();
  // Of their variance, 1 / effective is sampling noise, and the trust says what bias adds.
  const double bias = std::max(0.0, 1.0 / prior.nu() - 1.0 / most);
  const double worth = 1.0 / (1.0 / tilted.effective + bias);
  const double k = kMissed * worth / tilted.rows * worth / (worth + private_worth);
  return k / (1.0 + k);
}

}  // namespace tandem
