// SPDX-License-Identifier: Apache-2.0
#include "tandem/mechanism/tandem/tilted_model.h"
#include "tandem/mechanism/tandem/tuning.h"

#include <algorithm>
#include <utility>

#include "tandem/model/pgm/estimate_pgm.h"
#include "tandem/model/pgm/junction_tree.h"
#include "tandem/model/pgm/tilted_pgm.h"

namespace tandem {
using namespace tuning;

namespace {

std::vector<double> shares(std::span<const double> counts, double n) {
  std::vector<double> out(counts.begin(), counts.end());
  for (double& value : out) value /= n;
  return out;
}

}  // namespace

TiltedModel::TiltedModel(const Domain& domain, double n, PublicPrior prior, Fillers fillers,
                         const TiltedOptions& options, std::vector<Factor> zeros)
    : domain_(domain),
      n_(n),
      prior_(std::move(prior)),
      fillers_(std::move(fillers)),
      options_(options),
      zeros_(std::move(zeros)),
      model_(domain, zeros_, n) {}

std::vector<Clique> TiltedModel::held() const {
  std::vector<Clique> out = measured_;
  for (const auto& zero : zeros_) out.push_back(zero.clique);
  return out;
}

double TiltedModel::nu_of(const Clique& clique) const {
  return prior_.empty() || prior_.knows(clique) ? nu() : std::min(nu(), kLeastTrust);
}

// What p is held to: public data, and what was measured that it can't know of.
std::vector<Factor> TiltedModel::held_to(std::span<const Factor> potentials) const {
  std::vector<Factor> out(potentials.begin(), potentials.end());
  out.insert(out.end(), freed_.begin(), freed_.end());
  out.insert(out.end(), zeros_.begin(), zeros_.end());
  return out;
}

std::vector<Factor> TiltedModel::multipliers() const {
  std::vector<Factor> out = freed_;
  out.insert(out.end(), multipliers_.begin(), multipliers_.end());
  return out;
}

// Brings the model to these measurements whatever public data says, and holds it there.
void TiltedModel::fit_freely(std::span<const Measurement> y) {
  auto base = held_to(prior_.potentials());
  base.insert(base.end(), multipliers_.begin(), multipliers_.end());
  auto fit = tilt_pgm(domain_, y, n_, base, kLeastTrust, {},
                      {.tolerance = options_.tolerance, .threads = options_.threads});
  propagations_ += fit.propagations;
  for (auto& factor : fit.multipliers) {
    const auto at = std::ranges::find(freed_, factor.clique, &Factor::clique);
    if (at == freed_.end()) {
      freed_.push_back(std::move(factor));
      continue;
    }
    for (std::size_t i = 0; i < factor.values.size(); ++i) at->values[i] += factor.values[i];
  }
}

void TiltedModel::arrange_prior() {
  if (prior_.empty()) return;
  kept_ = fillers_.choose(held(), prior_.trusts(), kept_.kept);
  std::vector<Clique> cliques = kept_.kept;
  for (AttributeId id = 0; id < domain_.size(); ++id) cliques.push_back(Clique{id});
  cliques.insert(cliques.end(), measured_.begin(), measured_.end());
  prior_.fit(cliques, kPriorTolerance * options_.tolerance);
}

void TiltedModel::estimate() {
  if (prior_.empty()) {
    auto fit = estimate_pgm(domain_, y_, n_, model_.potentials(),
                            {.tolerance = options_.tolerance, .threads = options_.threads});
    model_ = std::move(fit.model);
    propagations_ += fit.propagations;
    converged_ = fit.converged;
    return;
  }
  take(tilted());
}

TiltedPgm TiltedModel::tilted() const {
  return tilt_pgm(domain_, y_, n_, held_to(prior_.potentials()), nu(), multipliers_,
                  {.tolerance = options_.tolerance, .threads = options_.threads});
}

void TiltedModel::take(TiltedPgm fit) {
  model_ = std::move(fit.model);
  multipliers_ = std::move(fit.multipliers);
  loss_ = fit.loss;
  propagations_ += fit.propagations;
  converged_ = fit.converged;
}

// Each source is judged by what it would have predicted by itself.
void TiltedModel::learn_trust(const Measurement& y) {
  const double sigma = y.sigma.value() / n_;
  const auto values = shares(y.values, n_);
  if (prior_.sources().size() == 1) {
    prior_.sources().front().trust.observe(shares(model_.project(y.query.clique).values, n_),
                                           values, sigma);
    return;
  }
  for (auto& source : prior_.sources()) {
    if (!source.knows(y.query.clique)) continue;
    const auto alone =
        tilt_pgm(domain_, y_, n_, held_to(source.model.potentials()), source.nu(), multipliers_,
                 {.tolerance = options_.tolerance, .threads = options_.threads});
    source.trust.observe(shares(alone.model.project(y.query.clique).values, n_), values, sigma);
  }
}

bool TiltedModel::hold(const Clique& clique) {
  if (std::ranges::find(measured_, clique) != measured_.end()) return false;
  measured_.push_back(clique);
  return true;
}

void TiltedModel::absorb_together(std::vector<Measurement> marginals) {
  if (prior_.empty()) {
    for (const auto& marginal : marginals) hold(marginal.query.clique);
    y_ = std::move(marginals);
    estimate();
    return;
  }
  arrange_prior();
  // Columns that are not as public data has them say nothing of what goes with what in it.
  const auto other = std::stable_partition(
      marginals.begin(), marginals.end(),
      [&](const Measurement& y) { return prior_.is_alike(y.query.clique[0]); });
  for (auto y = other; y != marginals.end(); ++y) {
    hold(y->query.clique);
    y_.push_back(std::move(*y));
  }
  marginals.erase(other, marginals.end());
  if (!y_.empty()) fit_freely(y_);
  estimate();
  while (!marginals.empty()) {
    std::size_t next = 0;
    double most = -1.0;
    for (std::size_t i = 0; i < marginals.size(); ++i) {
      const double found =
          surprise(shares(model_.project(marginals[i].query.clique).values, n_),
                   shares(marginals[i].values, n_), marginals[i].sigma.value() / n_, nu());
      if (found <= most) continue;
      most = found;
      next = i;
    }
    if (hold(marginals[next].query.clique)) learn_trust(marginals[next]);
    y_.push_back(std::move(marginals[next]));
    marginals.erase(marginals.begin() + static_cast<std::ptrdiff_t>(next));
    estimate();
  }
  // Columns that are moved together stay together: what is in the model of them now is where p is
  // held from here on, by the trust in what goes with what.
  if (prior_.is_learnt() && nu() < kColumnsDiffer * prior_.most()) {
    prior_.begin_interactions();
    freed_.insert(freed_.end(), multipliers_.begin(), multipliers_.end());
    multipliers_.clear();
  }
  arrange_prior();
  estimate();
}

Factor TiltedModel::absorb(Measurement y) {
  const Clique r = y.query.clique;
  const bool is_new = hold(r);
  if (is_new && !prior_.empty()) {
    arrange_prior();
    estimate();  // the prediction: public data knows of r, the measurements do not yet
  }
  auto predicted = model_.project(r);
  if (is_new && prior_.knows(r)) {
    learn_trust(y);
    arrange_prior();
  }
  y_.push_back(std::move(y));
  if (!prior_.empty() && !prior_.knows(r)) {
    std::vector<Measurement> free;
    for (const auto& measured : y_) {
      if (!prior_.knows(measured.query.clique)) free.push_back(measured);
    }
    fit_freely(free);
  }
  estimate();
  return predicted;
}

void TiltedModel::refine(double tolerance) {
  if (prior_.is_learnt()) give_way();  // in how far it is followed, not in what it speaks of
  options_.tolerance = tolerance;
  estimate();
}

// Held by nu rows that deserve it, a count m of the model has a variance v = n m / nu, and of the
// squared noise of its measurement sigma^2 / (v + sigma^2) is left.
double TiltedModel::expected_loss() const {
  double sum = 0.0;
  for (const auto& y : y_) {
    const double precision = 1.0 / (y.sigma.value() * y.sigma.value());
    const double nu = nu_of(y.query.clique);
    for (const double m : model_.project(y.query.clique).values) {
      sum += 0.5 / (1.0 + n_ * std::max(m, 0.0) / nu * precision);
    }
  }
  return sum;
}

void TiltedModel::give_way() {
  while (nu() > kLeastTrust) {
    const double expected = expected_loss();
    prior_.scale_trust(0.5);
    auto freer = tilted();
    if (loss_ - freer.loss < kMuchNearer * (expected - expected_loss())) {
      prior_.scale_trust(2.0);
      return;
    }
    take(std::move(freer));
  }
}

std::vector<double> TiltedModel::crowded_out(std::span<const Clique> candidates) const {
  std::vector<double> out(candidates.size(), 0.0);
  if (fillers_.empty() || kept_.kept.empty()) return out;
  std::vector<Clique> all = held();
  all.insert(all.end(), kept_.kept.begin(), kept_.kept.end());
  const auto fits = fillers_.fit(ModelSizer(domain_, all), candidates, options_.threads);
  std::vector<Clique> tight;  // those that don't fit beside all fillers
  for (std::size_t i = 0; i < candidates.size(); ++i) {
    if (fits[i] == 0) tight.push_back(candidates[i]);
  }
  const auto lost = fillers_.lost_beside(held(), tight, prior_.trusts(), options_.threads);
  for (std::size_t i = 0, next = 0; i < candidates.size(); ++i) {
    if (fits[i] == 0) out[i] = std::max(0.0, lost[next++] - kept_.lost);
  }
  return out;
}

}  // namespace tandem
