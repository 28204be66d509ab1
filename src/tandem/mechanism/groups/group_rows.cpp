// SPDX-License-Identifier: Apache-2.0
#include "tandem/mechanism/groups/group_rows.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <utility>

#include "tandem/mechanism/groups/noise_sums.h"

namespace tandem {
namespace {

// That empty groups of some coarse group, or of all that are left, seem to have rows together.
constexpr double kChance = 0.025;
constexpr std::size_t kSizes = 25;  // of groups, that the prior tells apart, beside none
constexpr int kRounds = 100;        // of expectation and maximisation
constexpr double kBinsPerSigma = 10.0;

using Groups = std::vector<std::size_t>;

double sum_of(std::span<const double> x, const Groups& groups) {
  double out = 0.0;
  for (const std::size_t g : groups) out += x[g];
  return out;
}

// Variance of the best weighted mean of two estimates.
double combined(double a, double b) { return a > 0.0 && b > 0.0 ? 1.0 / (1.0 / a + 1.0 / b) : 0.0; }

struct Posterior {
  double mean = 0.0;
  double none = 0.0;  // probability of no rows
};

// Posteriors of the sizes of groups whose totals have normal noise, under the prior on a grid from
// 0 to the largest total that makes the totals most likely (Kiefer and Wolfowitz), by EM.
std::vector<Posterior> sizes_of(std::span<const double> totals, double sigma) {
  const double top = std::max(1.0, std::ranges::max(totals));
  std::vector<double> sizes;
  for (std::size_t j = 0; j <= kSizes; ++j) {
    sizes.push_back(top * static_cast<double>(j) / static_cast<double>(kSizes));
  }
  std::map<long, double> bins;  // many totals are nearly equal: how many in each
  const auto bin = [&](double total) { return std::lround(total / sigma * kBinsPerSigma); };
  for (const double total : totals) bins[bin(total)] += 1.0;
  std::map<long, std::vector<double>> likelihood;
  for (const auto& [at, count] : bins) {
    std::vector<double> far;
    for (const double size : sizes) {
      const double z = static_cast<double>(at) / kBinsPerSigma - size / sigma;
      far.push_back(z * z / 2.0);
    }
    const double nearest = std::ranges::min(far);
    for (double& f : far) f = std::exp(nearest - f);
    likelihood[at] = std::move(far);
  }
  std::vector<double> prior(sizes.size(), 1.0 / static_cast<double>(sizes.size()));
  const auto posterior = [&](long at) {
    std::vector<double> out = likelihood[at];
    double sum = 0.0;
    for (std::size_t j = 0; j < out.size(); ++j) sum += out[j] *= prior[j];
    for (double& p : out) p /= sum;
    return out;
  };
  for (int round = 0; round < kRounds; ++round) {
    std::vector<double> next(prior.size(), 0.0);
    for (const auto& [at, count] : bins) {
      const auto p = posterior(at);
      for (std::size_t j = 0; j < p.size(); ++j) {
        next[j] += count * p[j] / static_cast<double>(totals.size());
      }
    }
    prior = std::move(next);
  }
  std::map<long, Posterior> of;
  for (const auto& [at, count] : bins) {
    const auto p = posterior(at);
    of[at] = {std::inner_product(p.begin(), p.end(), sizes.begin(), 0.0), p.front()};
  }
  std::vector<Posterior> out;
  for (const double total : totals) out.push_back(of[bin(total)]);
  return out;
}

// Groups that have so many rows together.
struct Together {
  Groups groups;
  double rows = 0.0;
};

// Hands out what each has together to its groups.
void share_out(std::span<const Together> families, const GroupTotals& fine,
               std::vector<double>& rows) {
  std::vector<double> totals;
  for (const auto& family : families) {
    for (const std::size_t g : family.groups) totals.push_back(fine.of[g].value);
  }
  if (totals.empty()) return;
  const double sigma = std::sqrt(fine.of[families.front().groups.front()].variance);
  std::vector<Posterior> sizes;
  if (sigma > 0.0) {
    sizes = sizes_of(totals, sigma);
  } else {
    for (const double total : totals) sizes.push_back({.mean = std::max(0.0, total), .none = 0.0});
  }
  std::size_t first = 0;
  for (const auto& [groups, together] : families) {
    const auto mine = std::span(sizes).subspan(first, groups.size());
    first += groups.size();
    const bool some = std::ranges::any_of(mine, [](const auto& p) { return p.none <= 0.5; });
    double sum = 0.0;
    for (std::size_t i = 0; i < groups.size(); ++i) {
      rows[groups[i]] = some && mine[i].none > 0.5 ? 0.0 : mine[i].mean;
      sum += rows[groups[i]];
    }
    const double even = together / static_cast<double>(groups.size());
    for (const std::size_t g : groups) rows[g] = sum > 0.0 ? rows[g] * together / sum : even;
  }
}

}  // namespace

std::vector<double> agreeing_totals(const GroupTotals& fine, const GroupTotals& coarse,
                                    std::span<const std::size_t> coarse_of,
                                    std::optional<double> n) {
  auto found = consistent_totals(fine.of, coarse.of, coarse_of);
  if (!n) return std::move(found.fine);
  // Up to n with what fine and coarse totals say of a coarse group, and down again.
  std::vector<NoisyTotal> up(coarse.of.size());
  for (const auto s : coarse_of) up[s].variance += fine.of.front().variance;
  for (std::size_t s = 0; s < up.size(); ++s) {
    up[s] = {found.coarse[s], combined(up[s].variance, coarse.of[s].variance)};
  }
  const std::vector<std::size_t> root(up.size(), 0);
  const NoisyTotal known{*n, 0.0};
  const auto agreed = consistent_totals(up, std::span(&known, 1), root).fine;
  for (std::size_t s = 0; s < up.size(); ++s) up[s] = {agreed[s], 0.0};
  return consistent_totals(fine.of, up, coarse_of).fine;
}

std::vector<double> rows_of_groups(const GroupTotals& fine, const GroupTotals& coarse,
                                   std::span<const std::size_t> coarse_of, std::vector<double> x,
                                   std::optional<double> n) {
  const std::size_t families = coarse.of.size();
  std::vector<Groups> unsure(families);
  std::vector<Groups> sure(families);
  std::vector<double> rows(x.size(), 0.0);
  for (std::size_t g = 0; g < x.size(); ++g) {
    (x[g] >= fine.least ? sure : unsure)[coarse_of[g]].push_back(g);
    if (x[g] >= fine.least) rows[g] = x[g];
  }
  const double v = x.empty() ? 0.0 : fine.of.front().variance;
  const double largest = std::max(fine.largest, coarse.largest);
  // Their own totals say what they have together, and so do the others' and that of all.
  const auto is_more_than_noise = [&](double together, double groups, double others, double all,
                                      double chance) {
    const double variance = combined(groups * v, others * v + all);
    return together >= std::max(1.0, seldom_above(variance, largest, chance));
  };
  std::vector<Together> some;
  Together rest;
  double sure_ones = 0.0;
  for (std::size_t s = 0; s < families; ++s) {
    const auto kept = static_cast<double>(sure[s].size());
    const double together = sum_of(x, unsure[s]);
    sure_ones += kept;
    if (unsure[s].empty()) continue;
    if (is_more_than_noise(together, static_cast<double>(unsure[s].size()), kept,
                           coarse.of[s].variance, kChance / static_cast<double>(families))) {
      some.push_back({std::move(unsure[s]), together});
      unsure[s].clear();
    } else {
      rest.groups.insert(rest.groups.end(), unsure[s].begin(), unsure[s].end());
      rest.rows += together;
    }
  }
  double shared = 0.0;
  for (const auto& family : some) shared += static_cast<double>(family.groups.size());
  if (!rest.groups.empty() && is_more_than_noise(rest.rows, static_cast<double>(rest.groups.size()),
                                                 sure_ones + shared, n ? 0.0 : HUGE_VAL, kChance)) {
    some.push_back(std::move(rest));
  } else {
    for (std::size_t s = 0; s < families; ++s) {
      if (unsure[s].empty() || sure[s].empty() || v == 0.0) continue;
      const double part = v / (static_cast<double>(sure[s].size()) * v + coarse.of[s].variance);
      const double nothing = sum_of(x, unsure[s]);
      for (const std::size_t g : sure[s]) rows[g] = std::max(0.0, rows[g] + part * nothing);
    }
  }
  share_out(some, fine, rows);
  return rows;
}

}  // namespace tandem
