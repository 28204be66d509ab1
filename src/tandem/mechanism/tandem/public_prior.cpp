// SPDX-License-Identifier: Apache-2.0
#include "tandem/mechanism/tandem/public_prior.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <utility>

#include "tandem/mechanism/rounds/candidates.h"
#include "tandem/mechanism/tandem/tuning.h"

namespace tandem {
using namespace tuning;

namespace {

// The share of rows whose codes are not in the public table, beyond those that a sample of its size
// leaves out: as many as it has codes of a single row (Good and Turing).
struct Unseen {
  double share = 0.0;
  double noise = 0.0;  // standard deviation of it
  bool is_large() const { return share > kUnseen; }
  bool is_sure() const { return share > kSureUnseen * noise; }
  // Whether another look would be sure of it if it were all.
  bool can_be_sure() const { return 1.0 > kSureUnseen * noise / std::sqrt(1.0 + kLookPreciser); }
};

Unseen unseen(std::span<const double> counts, double rows, const Measurement& y, double n) {
  double unseen = 0.0;
  double seen = 0.0;
  double unseen_codes = 0.0;
  double seen_codes = 0.0;
  double single = 0.0;
  for (std::size_t c = 0; c < counts.size(); ++c) {
    if (counts[c] == 1.0) single += 1.0;
    (counts[c] > 0.0 ? seen : unseen) += y.values[c];
    (counts[c] > 0.0 ? seen_codes : unseen_codes) += 1.0;
  }
  if (unseen_codes == 0.0) return {};
  // It is also n less what is seen; the fewer codes a sum has, the less noise.
  const double codes = unseen_codes + seen_codes;
  const double rows_unseen = (unseen * seen_codes + (n - seen) * unseen_codes) / codes;
  const double noise = y.sigma.value() * std::sqrt(unseen_codes * seen_codes / codes);
  return {rows_unseen / n - single / rows, noise / n};
}

// One measurement for each column, of all there are of it.
std::vector<Measurement> together(std::span<const Measurement> one_ways) {
  std::vector<Measurement> out;
  for (const auto& y : one_ways) {
    const auto same = std::ranges::find_if(
        out, [&](const Measurement& other) { return other.query.clique == y.query.clique; });
    if (same == out.end()) {
      out.push_back(y);
      continue;
    }
    const double before = 1.0 / (same->sigma.value() * same->sigma.value());
    const double more = 1.0 / (y.sigma.value() * y.sigma.value());
    for (std::size_t c = 0; c < y.values.size(); ++c) {
      same->values[c] = (before * same->values[c] + more * y.values[c]) / (before + more);
    }
    same->sigma = Sigma(1.0 / std::sqrt(before + more));
  }
  return out;
}

// What the marginal of a column by itself would trust its source with.
OwnTrust trust_of_column(std::span<const double> counts, double rows, const Measurement& y,
                         double n, double most) {
  // Half a row more in each cell: a code that few rows never show is no other code.
  std::vector<double> expected(counts.begin(), counts.end());
  const double smoothed = rows + 0.5 * static_cast<double>(expected.size());
  for (double& count : expected) count = (count + 0.5) / smoothed;
  auto found = y.values;
  for (double& count : found) count /= n;
  return own_trust(expected, found, y.sigma.value() / n, most);
}

// A column's public counts, held against its marginal y.
struct Evidence {
  Unseen other;
  OwnTrust own;
  double noise = 0.0;  // E |.|_1 of y's, in units of n

  Evidence(PublicSource& source, const Measurement& y, double n) {
    const auto& counts = source.model.counts().at(y.query.clique).values;
    other = unseen(counts, source.model.rows(), y, n);
    own = trust_of_column(counts, source.model.rows(), y, n, source.trust.most());
    noise = expected_noise(y.sigma, y.values.size()) / n;
  }

  Likeness likeness() const {
    if (other.is_large() && other.is_sure()) return Likeness::Foreign;
    if (own.surer < kSure || own.nu > kShifted) return Likeness::Alike;
    return own.nu > kForeign ? Likeness::Shifted : Likeness::Foreign;
  }

  // It seems to be unlike, and noise may be why; or its codes are others, and noise is most of what
  // is known of them.
  bool deserves_a_look() const {
    if (own.nu <= kShifted && own.surer > kPerhaps && own.surer < kSure) return true;
    return other.is_large() && (other.is_sure() ? noise > 1.0 : other.can_be_sure());
  }
};

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

std::vector<LinearQuery> PublicPrior::doubtful_columns(std::span<const Measurement> one_ways,
                                                       double n) {
  std::vector<LinearQuery> out;
  for (const auto& y : together(one_ways)) {
    const bool doubtful = std::ranges::any_of(sources_, [&](PublicSource& source) {
      return source.fixed_nu == 0.0 && Evidence(source, y, n).deserves_a_look();
    });
    if (doubtful) out.push_back(y.query);
  }
  return out;
}

void PublicPrior::judge_columns(std::span<const Measurement> one_ways, double n) {
  const auto columns = together(one_ways);
  for (auto& source : sources_) {
    if (source.fixed_nu > 0.0) continue;
    source.columns.assign(source.model.model().domain().size(), Likeness::Alike);
    for (const auto& y : columns) {
      source.columns[y.query.clique[0]] = Evidence(source, y, n).likeness();
    }
  }
  const auto stays = [&](const PublicSource& source) {
    const auto foreign = std::ranges::count(source.columns, Likeness::Foreign);
    return 2 * foreign <= static_cast<std::ptrdiff_t>(columns.size());
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
