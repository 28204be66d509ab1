// SPDX-License-Identifier: Apache-2.0
#include "tandem/mechanism/public_prior.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <utility>

namespace tandem {
namespace {

// Rows that a column's own marginal would trust its source with. Where the shares differ by half of
// what they are that is about ten; where public data has other codes it is less than one.
constexpr double kForeign = 1.0;
constexpr double kShifted = 30.0;
constexpr double kSure = 5.0;    // logarithm of how much more likely that is than full trust
constexpr double kUnseen = 0.3;  // share of private rows whose codes public data doesn't have
constexpr double kInteractionSpread = 1.0;  // of log nu, when it starts from that of columns
constexpr double kSureUnseen = 3.0;         // standard deviations of noise

// The share of rows, at least, whose codes are not in the public table, beyond those that a sample
// of its size leaves out: as many as it has codes of a single row (Good and Turing).
double unseen_share(std::span<const double> counts, double rows, const Measurement& y, double n) {
  double unseen = 0.0;
  double codes = 0.0;
  double single = 0.0;
  for (std::size_t c = 0; c < counts.size(); ++c) {
    if (counts[c] == 1.0) single += 1.0;
    if (counts[c] > 0.0) continue;
    unseen += y.values[c];
    codes += 1.0;
  }
  return (unseen - kSureUnseen * y.sigma.value() * std::sqrt(codes)) / n - single / rows;
}

Likeness judged(std::span<const double> counts, double rows, const Measurement& y, double n,
                double most) {
  if (unseen_share(counts, rows, y, n) > kUnseen) return Likeness::Foreign;
  // Half a row more in each cell: a code that few rows never show is no other code.
  std::vector<double> expected(counts.begin(), counts.end());
  const double smoothed = rows + 0.5 * static_cast<double>(expected.size());
  for (double& count : expected) count = (count + 0.5) / smoothed;
  auto found = y.values;
  for (double& count : found) count /= n;
  const auto own = own_trust(expected, found, y.sigma.value() / n, most);
  if (own.surer < kSure || own.nu > kShifted) return Likeness::Alike;
  return own.nu > kForeign ? Likeness::Shifted : Likeness::Foreign;
}

// Those columns of a clique that a source knows.
Clique known_part(const PublicSource& source, const Clique& clique) {
  std::vector<AttributeId> ids;
  for (const auto id : clique) {
    if (source.knows(Clique{id})) ids.push_back(id);
  }
  return Clique(std::move(ids));
}

}  // namespace

bool PublicSource::knows(const Clique& clique) const {
  return columns.empty() || std::ranges::none_of(clique, [&](AttributeId id) {
           return columns[id] == Likeness::Foreign;
         });
}

PublicPrior::PublicPrior(const PublicData& data, double n, const PriorOptions& options,
                         Threads threads)
    : options_(options) {
  for (std::size_t t = 0; t < data.tables.size(); ++t) {
    const PublicTable& source = data.tables[t];
    if (source.table.rows() == 0) continue;
    PublicModel model(std::span(&source, 1), options.ridge, threads);
    const double rows = model.rows();
    const double most = n * rows / (n + rows);  // numax: as good as private rows, sampled alike
    sources_.push_back(
        {.name = source.name,
         .table = t,
         .all_rows = source.table.rows(),
         .model = std::move(model),
         .trust =
             Trust({.most = most, .prior_spread = options.prior_spread, .spread = options.spread}),
         .fixed_nu = options.fixed_trust * most,
         .columns = {}});
  }
}

double PublicPrior::nu() const {
  double sum = 0.0;
  for (const auto& source : sources_) sum += source.nu();
  return sum;
}

bool PublicPrior::is_learnt() const {
  return std::ranges::any_of(sources_, [](const auto& source) { return source.fixed_nu == 0.0; });
}

void PublicPrior::scale_trust(double by) {
  for (auto& source : sources_) source.scale *= by;
}

void PublicPrior::begin_interactions() {
  for (auto& source : sources_) {
    if (source.fixed_nu > 0.0) continue;
    const double most = source.trust.most();
    source.trust = Trust({.most = most,
                          .expected = std::sqrt(source.nu() * most),
                          .prior_spread = kInteractionSpread,
                          .spread = options_.spread});
  }
}

double PublicPrior::most() const {
  double sum = 0.0;
  for (const auto& source : sources_) sum += source.trust.most();
  return sum;
}

std::vector<double> PublicPrior::trusts() const {
  std::vector<double> out;
  for (const auto& source : sources_) out.push_back(source.nu());
  return out;
}

void PublicPrior::judge_columns(std::span<const Measurement> one_ways, double n) {
  for (auto& source : sources_) {
    if (source.fixed_nu > 0.0) continue;
    source.columns.assign(source.model.model().domain().size(), Likeness::Alike);
    for (const auto& y : one_ways) {
      const Clique& column = y.query.clique;
      source.columns[column[0]] = judged(source.model.counts().at(column).values,
                                         source.model.rows(), y, n, source.trust.most());
    }
  }
  const auto stays = [&](const PublicSource& source) {
    const auto foreign = std::ranges::count(source.columns, Likeness::Foreign);
    return 2 * foreign <= static_cast<std::ptrdiff_t>(one_ways.size());
  };
  const auto other = std::stable_partition(sources_.begin(), sources_.end(), stays);
  std::move(other, sources_.end(), std::back_inserter(dismissed_));
  sources_.erase(other, sources_.end());
}

bool PublicPrior::knows(const Clique& clique) const {
  return std::ranges::any_of(sources_, [&](const auto& source) { return source.knows(clique); });
}

bool PublicPrior::is_alike(AttributeId column) const {
  return std::ranges::any_of(sources_, [&](const auto& source) {
    return source.columns.empty() || source.columns[column] == Likeness::Alike;
  });
}

void PublicPrior::fit(std::span<const Clique> cliques, double tolerance) {
  for (auto& source : sources_) {
    std::vector<Clique> known;
    for (const auto& clique : cliques) {
      auto part = known_part(source, clique);
      if (!part.empty()) known.push_back(std::move(part));
    }
    source.model.fit(known, tolerance);
  }
}

std::vector<Factor> PublicPrior::potentials() const {
  std::vector<Factor> out;
  const double all = nu();
  for (const auto& source : sources_) {
    const double share = source.nu() / all;
    for (Factor potential : source.model.potentials()) {
      for (double& value : potential.values) value *= share;
      out.push_back(std::move(potential));
    }
  }
  return out;
}

}  // namespace tandem
