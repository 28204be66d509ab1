// SPDX-License-Identifier: Apache-2.0
#include "tandem/engine/certificate.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <vector>

#include "tandem/query/counting.h"

namespace tandem {
namespace {

constexpr double kLittleNoise = 0.01;    // of the error itself: always worth saying
constexpr double kMostNoise = 0.2;       // of the expected error: more would say little
constexpr double kFailure = 0.025;       // of the whole statement
constexpr double kFailureOfRows = 0.01;  // of that, for the number of rows where it is noisy

// The point that noise of standard deviation 1 exceeds with this probability, below a half.
double upper_point(NoiseKind noise, double probability) {
  if (noise == NoiseKind::Laplace) return -std::log(2.0 * probability) / std::numbers::sqrt2;
  double low = 0.0;
  double high = 40.0;
  for (int i = 0; i < 80; ++i) {
    const double middle = 0.5 * (low + high);
    (0.5 * std::erfc(middle / std::numbers::sqrt2) > probability ? low : high) = middle;
  }
  return high;
}

// All marginals of the workload, or as many of them in random order as there is room for.
std::vector<Clique> cliques_to_certify(const Workload& workload, Rng& rng) {
  std::vector<Clique> out;
  double cells = 0.0;
  for (const auto& [clique, weight] : workload.cliques()) {
    out.push_back(clique);
    cells += workload.domain().about_cells(clique);
  }
  if (cells <= kMostCertifiedCells) return out;
  for (std::size_t i = out.size(); i > 1; --i) std::swap(out[i - 1], out[rng.below(i)]);
  std::size_t kept = 0;
  cells = 0.0;
  while (kept < out.size()) {
    cells += workload.domain().about_cells(out[kept]);
    if (kept > 0 && cells > kMostCertifiedCells) break;
    ++kept;
  }
  out.resize(kept);
  std::ranges::sort(out);
  return out;
}

// How far the number of rows may be from the release's, with a probability of failure: by the
// measurement whose sum tells it best. Zero where the number is public.
double rows_off_by(const Release& release) {
  double least = std::numeric_limits<double>::infinity();
  for (const auto& y : release.measurements) {
    if (y.origin != Origin::Private || !y.query.map.is_identity()) continue;
    double sum = 0.0;
    for (const double value : y.values) sum += value;
    const auto cells = static_cast<double>(y.values.size());
    // A sum of Laplace noise has lighter tails than one Laplace variable of the same deviation.
    const double off = std::abs(sum - release.total) + upper_point(y.noise, kFailureOfRows / 2.0) *
                                                           y.sigma.value() * std::sqrt(cells);
    least = std::min(least, y.noise == NoiseKind::None ? 0.0 : off);
  }
  return least;
}

// Standard deviation of the error of a cell, as far as the release tells: of a marginal that was
// measured, alone or inside a larger one, its noise; of any other the noise that it would have had,
// for it was not thought worth measuring.
double error_of_cell(const Release& release, const Domain& domain, const Clique& clique) {
  double least = std::numeric_limits<double>::infinity();
  double most = 0.0;
  for (const auto& y : release.measurements) {
    if (y.origin != Origin::Private || !y.query.map.is_identity()) continue;
    most = std::max(most, y.sigma.value());
    if (!y.query.clique.contains(clique)) continue;
    const double summed = domain.about_cells(y.query.clique) / domain.about_cells(clique);
    least = std::min(least, y.sigma.value() * std::sqrt(summed));
  }
  return std::isfinite(least) ? least : most;
}

}  // namespace

double expected_error(const Release& release, const Workload& workload) {
  constexpr std::size_t kEnough = 64;  // marginals, evenly over the list
  const auto cliques = workload.cliques();
  const auto rows = static_cast<double>(release.rows->rows());
  const std::size_t step = std::max<std::size_t>(1, cliques.size() / kEnough);
  std::vector<Clique> some;
  for (std::size_t i = 0; i < cliques.size(); i += step) some.push_back(cliques[i].clique);
  double sum = 0.0;
  for (const auto& factor : count_marginals(*release.rows, some)) {
    // A count is off by its noise, yet by no more than it is and its like.
    const double noise = std::sqrt(2.0 / std::numbers::pi) *
                         error_of_cell(release, workload.domain(), factor.clique) /
                         std::max(1.0, release.total);
    for (const double count : factor.values) sum += std::min(noise, 2.0 * count / rows);
  }
  return some.empty() ? 0.0 : sum / static_cast<double>(some.size());
}

std::optional<CertifiedError> certify(Curator& gate, Cost cost, const Release& release,
                                      const Workload& workload, Rng& rng) {
  const auto cliques = cliques_to_certify(workload, rng);
  if (cost.is_zero() || cliques.empty() || release.total < 1.0) return std::nullopt;
  const bool rows_are_public = gate.unit().keeps_rows();
  const double off = rows_are_public ? 0.0 : rows_off_by(release);
  if (!(off < release.total)) return std::nullopt;

  // In rows, so that no division depends on the table.
  const auto made = static_cast<double>(release.rows->rows());
  const double each = 1.0 / static_cast<double>(cliques.size());
  Score error;
  for (auto& factor : count_marginals(*release.rows, cliques, gate.threads())) {
    for (double& value : factor.values) value *= release.total / made;
    error = std::move(error) + each * l1_error(std::move(factor));
  }
  const double sigma = gate.score_noise(error, cost).value();
  const double most_noise = std::max(kLittleNoise, kMostNoise * expected_error(release, workload));
  if (sigma / release.total > most_noise) return std::nullopt;

  const NoisyScore measured = gate.measure_score(error, cost);
  const double failure = rows_are_public ? kFailure : kFailure - kFailureOfRows;
  const double most = measured.value + upper_point(measured.noise, failure) * sigma;
  CertifiedError out;
  out.average_error = std::clamp(measured.value / release.total, 0.0, 2.0);
  out.stddev = sigma / release.total;
  out.at_most = std::clamp((most + off) / (release.total - off), 0.0, 2.0);
  out.confidence = 1.0 - kFailure;
  out.marginals = cliques.size();
  out.of_marginals = workload.cliques().size();
  return out;
}

double bytes_to_certify(const Workload& workload) {
  double cells = 0.0;
  for (const auto& [clique, weight] : workload.cliques()) {
    cells += workload.domain().about_cells(clique);
  }
  constexpr double kBytesPerCell = 24.0;  // a true count, the rows' and the copy that is asked for
  return kBytesPerCell * std::min(cells, kMostCertifiedCells);
}

}  // namespace tandem
