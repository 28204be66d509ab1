// SPDX-License-Identifier: Apache-2.0
#include "tandem/mechanism/tandem/row_share.h"
#include "tandem/mechanism/tandem/tuning.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <utility>

#include "tandem/base/rng.h"
#include "tandem/model/public/public_model.h"
#include "tandem/query/counting.h"

namespace tandem {
using namespace tuning;

namespace {

// What a squared error of a count adds to an L1 distance that is mostly noise: it falls with the
// noise, and so with the root of the count.
double weight_of_square(double count) { return 1.0 / std::sqrt(std::max(count, 1e-6)); }

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

std::array<PublicTable, 2> halves_of(const PublicTable& data) {
  std::vector<std::size_t> order(data.table.rows());
  std::iota(order.begin(), order.end(), std::size_t{0});
  Rng rng(1);  // rows of a file may stand in some order, a draw among them must not
  for (std::size_t i = order.size(); i > 1; --i) std::swap(order[i - 1], order[rng.below(i)]);
  const std::size_t half = order.size() / 2;
  const Domain& domain = data.table.domain();
  std::array<PublicTable, 2> out{PublicTable{data.name, Table(domain, half)},
                                 PublicTable{data.name, Table(domain, half)}};
  for (AttributeId id = 0; id < domain.size(); ++id) {
    for (std::size_t r = 0; r < 2 * half; ++r) {
      out[r % 2].table.column(id).set(r / 2, data.table.column(id)[order[r]]);
    }
  }
  return out;
}

// Some of the workload's marginals, from all over it.
std::vector<Clique> some_of(const Workload& workload) {
  const auto all = workload.cliques();
  const std::size_t wanted = std::min(all.size(), kMarginalsTried);
  std::vector<Clique> out;
  double cells = 0.0;
  for (std::size_t i = 0; i < wanted && cells < kMostCellsTried; ++i) {
    out.push_back(all[i * all.size() / wanted].clique);
    cells += static_cast<double>(workload.domain().cells(out.back()));
  }
  return out;
}

}  // namespace

// With m the model of one half, r its rows and h the other half: h is the truth and noise of its
// own, which cancels in <m - h, m - r> = |bias of m|^2 and <h - r, m - r> = |r|^2 - <m, r>, the
// noise that the model is spared. Twice the rows have half of that noise.
double missed_by_model(const PublicTable& data, std::span<const Clique> cliques,
                       const Workload& workload, double ridge, Threads threads) {
  if (data.table.rows() < 2 * kEnoughRows || repeats_in(data.table) > 1) return kUsuallyMissed;
  const auto halves = halves_of(data);
  const auto asked = some_of(workload);
  std::array<std::vector<Factor>, 2> counts;
  for (std::size_t i = 0; i < 2; ++i) counts[i] = count_marginals(halves[i].table, asked, threads);
  double bias = 0.0;
  double spared = 0.0;
  for (std::size_t i = 0; i < 2; ++i) {
    PublicModel model(std::span(&halves[i], 1), ridge, threads);
    model.fit(cliques, kTrialTolerance);
    const auto answers = model.model().project_all(asked);
    for (std::size_t q = 0; q < asked.size(); ++q) {
      const auto& m = answers[q].values;
      const auto& r = counts[i][q].values;
      const auto& h = counts[1 - i][q].values;
      for (std::size_t c = 0; c < m.size(); ++c) {
        const double weight = weight_of_square(m[c]) * (m[c] - r[c]);
        bias += weight * (m[c] - h[c]);
        spared += weight * (h[c] - r[c]);
      }
    }
  }
  if (!(spared > 0.0)) return kMostMissed;
  return std::clamp(2.0 * bias / spared, kUsuallyMissed, kMostMissed);
}

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

double private_worth(const TiltedModel& p) {
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

double distance_in_noise(const TiltedRows& tilted, const TiltedModel& p) {
  double found = 0.0;
  double noise = 0.0;
  for (const auto& clique : p.measured()) {
    const auto rows = tilted.model.project(clique).values;
    const auto model = p.model().project(clique).values;
    for (std::size_t c = 0; c < rows.size(); ++c) {
      const double weight = weight_of_square(model[c]);
      found += weight * (rows[c] - model[c]) * (rows[c] - model[c]);
      noise += weight * model[c] * p.model().total() / tilted.effective;
    }
  }
  return noise > 0.0 ? found / noise : 0.0;
}

double best_row_share(const TiltedRows& tilted, const PublicPrior& prior, double distance,
                      double private_worth) {
  double missed = 0.0;
  for (const auto& source : prior.sources()) {
    const double believed = source.fixed_nu > 0.0 ? source.fixed_nu / source.trust.most() : 1.0;
    missed += source.nu() / prior.nu() * source.missed * believed;
  }
  const double worth = tilted.effective / (1.0 + distance);
  const double k = missed * worth / tilted.rows * worth / (worth + private_worth);
  return k / (1.0 + k);
}

}  // namespace tandem
