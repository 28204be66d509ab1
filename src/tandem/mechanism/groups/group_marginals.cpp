// SPDX-License-Identifier: Apache-2.0
#include "tandem/mechanism/groups/group_marginals.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <utility>

#include "tandem/base/error.h"
#include "tandem/base/text.h"
#include "tandem/mechanism/groups/noise_sums.h"
#include "tandem/mechanism/rounds/chosen_marginals.h"
#include "tandem/mechanism/tandem/tuning.h"
#include "tandem/model/public/public_structure.h"

namespace tandem {
namespace {

constexpr double kStructureMb = 8.0;  // of the model that recommends public cliques
// W_G is cut off where a column's expected |noise|_1 is above this share of a group's rows: half of
// the largest L1 distance that two distributions can have.
constexpr double kMostNoise = 1.0;
// That a total of some empty group is as large as that of a group with rows.
constexpr double kChance = 0.05;

double mean_absolute(NoiseKind noise, double sigma) {
  return noise == NoiseKind::Laplace ? sigma / std::numbers::sqrt2
                                     : sigma * std::sqrt(2.0 / std::numbers::pi);
}

// Expected |noise|_1 in a group, of marginals with so many cells together.
double noise_together(const Curator& curator, const LinearQuery& any, std::size_t marginals,
                      double cells, const GroupBudget& budget) {
  if (marginals == 0) return 0.0;
  const Cost each = budget.cost / static_cast<double>(marginals);
  if (each.is_zero()) return HUGE_VAL;
  const WeightedQuery query{any, 1};
  const double sigma = curator.noise_together(std::span(&query, 1), each, budget.noise).value();
  return cells * mean_absolute(budget.noise, sigma);
}

std::vector<Clique> single_columns(const Domain& inner) {
  std::vector<Clique> out;
  for (AttributeId id = 0; id < inner.size(); ++id) {
    if (inner[id].size > 1) out.push_back({id});
  }
  std::ranges::stable_sort(out, {}, [&](const Clique& c) { return inner.about_cells(c); });
  return out;
}

// Pairs and triples that are part of the workload and small enough to be counted with the key.
std::vector<Clique> candidates(const Problem& inner, const GroupKeys& keys) {
  std::vector<Clique> out;
  // Values of one column that are made coarser are counted fine.
  const auto groups =
      keys.coarser ? keys.domain.about_cells(keys.coarse) : static_cast<double>(keys.coarse_groups);
  for (const auto& [clique, weight] : inner.workload.cliques()) {
    for (const auto& part : subsets(clique)) {
      if (part.size() < 2 || part.size() > 3) continue;
      const double cells = inner.domain.about_cells(part);
      if (cells > 1e5 || cells * groups > 5e7) continue;
      out.push_back(part);
    }
  }
  std::ranges::sort(out);
  out.erase(std::unique(out.begin(), out.end()), out.end());
  return out;
}

double variance_of_sum(const Measurement& y, std::size_t groups) {
  const double sigma = y.sigma.value();
  return sigma * sigma * static_cast<double>(y.values.size()) / static_cast<double>(groups);
}

GroupTotals group_totals_without_noise(const GroupKeys& keys, const Measurement& y,
                                       std::size_t groups) {
  GroupTotals out{.of = std::vector<NoisyTotal>(groups, NoisyTotal{})};
  const auto values = by_group(keys, y, groups);
  const std::size_t cells = values.size() / groups;
  for (std::size_t i = 0; i < values.size(); ++i) out.of[i / cells].value += values[i];
  return out;
}

}  // namespace

double mean_rows(std::span<const double> rows) {
  double sum = 0.0;
  double some = 0.0;
  for (const double n : rows) {
    if (n < 1.0) continue;
    sum += n;
    some += 1.0;
  }
  return some > 0.0 ? sum / some : 1.0;
}

std::optional<std::vector<Clique>> named_marginals(const GroupKeys& keys, const std::string& wanted,
                                                   const std::string& option) {
  if (wanted == kPublicCliques || wanted == kColumns) return std::nullopt;
  const std::string where = "The parameter " + option;
  std::vector<Clique> out;
  for (const auto marginal : split(wanted, ',')) {
    std::vector<AttributeId> ids;
    for (const auto part : split(marginal, '+')) {
      const auto name = trim(part);
      if (name.empty()) {
        throw UsageError(fmt::format(
            "{} is {}, where a name is missing; write marginals such as age+sex,region.", where,
            in_quotes(wanted)));
      }
      if (const auto id = keys.domain.find(name); id && keys.fine.contains(*id)) {
        throw UsageError(fmt::format(
            "{} names {}, which makes the groups; leave it out, for all is measured of each group.",
            where, in_quotes(name)));
      }
      ids.push_back(keys.inner.at(name, where));
    }
    out.emplace_back(std::move(ids));
  }
  std::ranges::sort(out);
  out.erase(std::unique(out.begin(), out.end()), out.end());
  return out;
}

std::vector<Clique> choose_coarse(const Curator& curator, const Problem& inner,
                                  const GroupKeys& keys, const std::string& wanted,
                                  const GroupBudget& budget) {
  if (auto named = named_marginals(keys, wanted, "coarse-marginals")) return std::move(*named);
  std::vector<Clique> out;
  if (wanted == kPublicCliques) {
    const auto possible = candidates(inner, keys);
    double cells = 0.0;
    double noise = 0.0;
    const auto enough = [&](const PublicClique& found) {
      const double more = cells + inner.domain.about_cells(found.clique);
      const double noisier =
          noise_together(curator, keys.with_coarse(found.clique), out.size() + 1, more, budget);
      if (!(found.gain * budget.rows > noisier - noise)) return true;
      out.push_back(found.clique);
      cells = more;
      noise = noisier;
      return false;
    };
    if (!possible.empty()) {
      PublicModel data(inner.public_data.tables, tuning::kRidge, curator.threads());
      public_structure(data, possible, kStructureMb, enough);
    }
  }
  for (const auto& column : single_columns(inner.domain)) {
    if (!covered_by(column, out)) out.push_back(column);
  }
  return out;
}

std::vector<Clique> choose_fine(const Curator& curator, const Problem& inner, const GroupKeys& keys,
                                const std::string& wanted, const GroupBudget& budget) {
  if (auto named = named_marginals(keys, wanted, "fine-marginals")) return std::move(*named);
  const auto columns = single_columns(inner.domain);
  std::vector<Clique> out;
  for (const auto& column : columns) {
    const double noise = noise_together(curator, keys.with_fine(column), out.size() + 1,
                                        inner.domain.about_cells(column), budget);
    if (!out.empty() && noise > kMostNoise * budget.rows) break;
    out.push_back(column);
  }
  if (out.empty()) out.push_back({0});
  return out;
}

GroupTotals group_totals(const GroupKeys& keys, std::span<const Measurement> y,
                         std::size_t groups) {
  GroupTotals out{.of = std::vector<NoisyTotal>(groups, NoisyTotal{})};
  double precision = 0.0;
  for (const auto& measured : y) {
    if (measured.noise == NoiseKind::None)
      return group_totals_without_noise(keys, measured, groups);
    precision += 1.0 / variance_of_sum(measured, groups);
  }
  std::vector<SumOfNoise> noise;
  for (const auto& measured : y) {
    const double weight = 1.0 / variance_of_sum(measured, groups) / precision;
    const auto values = by_group(keys, measured, groups);
    const std::size_t cells = values.size() / groups;
    for (std::size_t i = 0; i < values.size(); ++i) out.of[i / cells].value += weight * values[i];
    noise.push_back({measured.noise, weight * measured.sigma.value(), static_cast<double>(cells)});
  }
  for (auto& total : out.of) total.variance = 1.0 / precision;
  for (const auto& part : noise) {
    if (part.kind == NoiseKind::Laplace) out.largest = std::max(out.largest, part.sigma);
  }
  out.least = seldom_above(noise, kChance / static_cast<double>(groups));
  return out;
}

GroupTable::GroupTable(const Table& support, const Clique& marginal, std::vector<double> y,
                       double sigma)
    : sorted_(std::make_shared<const SortedRows>(support, marginal)),
      y_(std::move(y)),
      sigma_(sigma) {}

std::vector<double> GroupTable::shares(std::size_t group, double n) const {
  const std::size_t cells = sorted_->occupied.size();
  std::vector<double> out(y_.begin() + static_cast<std::ptrdiff_t>(group * cells),
                          y_.begin() + static_cast<std::ptrdiff_t>((group + 1) * cells));
  for (double& share : out) share /= n;
  return out;
}

std::vector<double> GroupTable::marginal_of(std::span<const double> weights) const {
  std::vector<double> found(sorted_->rows_in.size(), 0.0);
  double sum = 0.0;
  for (std::size_t r = 0; r < weights.size(); ++r) {
    found[sorted_->cell[r]] += weights[r];
    sum += weights[r];
  }
  std::vector<double> out(sorted_->occupied.size(), 0.0);
  for (std::size_t j = 0; j < out.size(); ++j) {
    const auto at = sorted_->occupied[j];
    if (at != SortedRows::kNowhere) out[j] = found[at] / sum;
  }
  return out;
}

void GroupTable::add_exponents(std::span<const double> occupied, std::vector<double>& out) const {
  for (const auto at : sorted_->occupied) {
    out.push_back(at == SortedRows::kNowhere ? 0.0 : occupied[at]);
  }
}

std::vector<double> GroupTable::trusted(std::size_t group, double n, std::span<const double> b,
                                        double phi) const {
  auto out = shares(group, n);
  const double noise = sigma_ * sigma_ / (n * n);
  for (std::size_t j = 0; j < out.size(); ++j) {
    const double signal = phi * b[j];
    const double s = signal + noise > 0.0 ? signal / (signal + noise) : 1.0;
    out[j] = std::max(0.0, b[j] + s * (out[j] - b[j]));
  }
  return out;
}

double GroupTable::spread(std::span<const double> rows,
                          const std::vector<std::vector<double>>& above,
                          std::span<const std::size_t> which) const {
  double found = 0.0;
  double scale = 0.0;
  for (std::size_t g = 0; g < rows.size(); ++g) {
    if (rows[g] <= 0.0) continue;
    const double n = std::max(1.0, rows[g]);
    const auto& b = above[which[g]];
    for (std::size_t j = 0; j < b.size(); ++j) {
      if (b[j] <= 0.0) continue;  // no row of the support is there
      const double off = y_[g * b.size() + j] - n * b[j];
      found += off * off - sigma_ * sigma_;
      scale += n * n * b[j];
    }
  }
  return scale > 0.0 ? std::max(0.0, found / scale) : 0.0;
}

}  // namespace tandem
