// SPDX-License-Identifier: Apache-2.0
#include "tandem/engine/certificate.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <vector>

#include "tandem/base/check.h"
#include "tandem/query/counting.h"

namespace tandem {
namespace {

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

// All marginals of the workload, or as many of them in random order as there is room and time for.
std::vector<Clique> cliques_to_certify(const Workload& workload, std::size_t rows, Rng& rng) {
  constexpr double kFewest = 64.0;
  const auto most = static_cast<std::size_t>(
      std::max(kFewest, kMostCertifiedLooks / static_cast<double>(std::max<std::size_t>(rows, 1))));
  std::vector<Clique> out;
  double cells = 0.0;
  for (const auto& [clique, weight] : workload.cliques()) {
    out.push_back(clique);
    cells += workload.domain().about_cells(clique);
  }
  if (cells <= kMostCertifiedCells && out.size() <= most) return out;
  for (std::size_t i = out.size(); i > 1; --i) std::swap(out[i - 1], out[rng.below(i)]);
  out.resize(std::min(out.size(), most));
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

}  // namespace

Certification certify(Curator& gate, Cost cost, const Release& release, const Workload& workload,
                      Rng& rng) {
  const auto cliques = cliques_to_certify(workload, release.rows->rows(), rng);
  check(!cliques.empty(), "a workload that is certified has marginals");
  const bool rows_are_public = gate.unit().keeps_rows();
  const double off = rows_are_public ? 0.0 : rows_off_by(release);
  if (release.total < 1.0 || !(off < release.total)) {
    return {{}, Document::object({{"reason", "rows"}})};
  }

  // In rows, so that no division depends on the table.
  const auto made = static_cast<double>(release.rows->rows());
  const double each = 1.0 / static_cast<double>(cliques.size());
  Score error;
  for (auto& factor : count_marginals(*release.rows, cliques, gate.threads())) {
    for (double& value : factor.values) value *= release.total / made;
    error = std::move(error) + each * l1_error(std::move(factor));
  }
  const double sigma = gate.score_noise(error, cost).value();
  if (sigma > kMostCertifiedNoise * release.total) {
    return {{}, Document::object({{"reason", "noise"}, {"stddev", sigma / release.total}})};
  }

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
  return {out, {}};
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
