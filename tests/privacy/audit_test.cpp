// SPDX-License-Identifier: Apache-2.0
// A white-box audit: epsilon as an adversary would estimate it, who knows the mechanism, two
// neighbouring tables and the best event to bet on. The estimate must come near the exact value
// (noise is not wasted) and its lower confidence bound must stay below it (nothing leaks).
//
// Bounds are Clopper-Pearson at 1e-9 for each side: a correct gate would fail one of the fewer than
// 40 comparisons with a lower bound for one choice of seeds in ten million.
#include <gtest/gtest.h>

#include <boost/math/distributions/beta.hpp>
#include <cmath>
#include <cstdlib>
#include <iostream>

#include "privacy/proofs/worlds.h"
#include "support/statistics.h"
#include "tandem/privacy/accountant.h"
#include "tandem/privacy/discrete_gaussian.h"

namespace tandem {
namespace {

using proofs::domain_of;
using proofs::gate;
using proofs::Histogram;

#ifdef TANDEM_SANITIZED
constexpr int kThin = 50;  // too few draws for the estimates to be near: only bounds are checked
#else
constexpr int kThin = 1;
#endif

struct Tally {
  double hits = 0.0;
  double draws = 0.0;
  double rate() const { return hits / draws; }
  double at_least() const {
    return hits == 0.0
               ? 0.0
               : quantile(boost::math::beta_distribution<>(hits, draws - hits + 1.0), test::kAlarm);
  }
  double at_most() const {
    if (hits == draws) return 1.0;
    return quantile(
        complement(boost::math::beta_distribution<>(hits + 1.0, draws - hits), test::kAlarm));
  }
};

struct Estimate {
  double epsilon = 0.0;
  double at_least = 0.0;
};

// (epsilon, delta)-DP has Pr[likely] <= e^epsilon Pr[unlikely] + delta for every event.
Estimate estimate(const Tally& likely, const Tally& unlikely, double delta) {
  return {std::log((likely.rate() - delta) / unlikely.rate()),
          std::log(std::max(1e-300, likely.at_least() - delta) / unlikely.at_most())};
}

void report(const std::string& what, const Estimate& found, double exact) {
  if (std::getenv("TANDEM_AUDIT") != nullptr) {
    std::cout << what << ": exact " << exact << ", estimated " << found.epsilon << ", at least "
              << found.at_least << '\n';
  }
  EXPECT_LE(found.at_least, exact) << what;
  if (kThin == 1) {
    EXPECT_NEAR(found.epsilon, exact, 0.15 * exact) << what;
  }
}

// The epsilon at which continuous Gaussian noise has this delta (Balle and Wang).
double exact_epsilon(double sigma, double squared_sensitivity, double delta) {
  double low = 0.0;
  double high = 100.0;
  for (int i = 0; i < 100; ++i) {
    const double middle = (low + high) / 2.0;
    const auto at =
        gaussian_delta(Sigma(sigma), SquaredL2Sensitivity(squared_sensitivity), Epsilon(middle));
    (at.value() > delta ? low : high) = middle;
  }
  return high;
}

// The answers lie `shift` apart on a line; an adversary bets on values beyond the place where the
// log-ratio of densities is epsilon.
double best_threshold(double sigma, double shift, double epsilon) {
  return sigma * sigma * epsilon / shift + shift / 2.0;
}

constexpr double kDelta = 1e-3;

TEST(Audit, GaussianNoiseIsOnItsExactCurve) {
  std::uint64_t seed = 31;
  for (const double asked : {2.0, 3.7, 10.0}) {
    const DiscreteGaussian noise{Sigma(asked)};
    const double sigma = noise.sigma().value();
    for (const int shift : {1, 4}) {
      const double exact = exact_epsilon(sigma, shift * shift, kDelta);
      const double threshold = std::ceil(best_threshold(sigma, shift, exact));
      Tally likely;
      Tally unlikely;
      SeededEntropy entropy(++seed);
      for (int i = 0; i < 2'000'000 / kThin; ++i) {
        const auto x = static_cast<double>(noise.sample(entropy));
        unlikely.hits += x >= threshold ? 1.0 : 0.0;
        likely.hits += x + shift >= threshold ? 1.0 : 0.0;
        ++unlikely.draws;
        ++likely.draws;
      }
      report("Gaussian noise, sigma " + std::to_string(asked) + ", shift " + std::to_string(shift),
             estimate(likely, unlikely, kDelta), exact);
    }
  }
}

// Through the gate: a whole marginal under replace-one. The adversary projects the answer onto the
// line between the two exact ones, which lie sqrt 2 apart.
TEST(Audit, AMeasuredMarginalIsOnItsExactCurve) {
  const Domain domain = domain_of({2});
  std::uint64_t seed = 61;
  for (const double rho : {0.05, 0.25}) {
    const int draws = 150'000 / kThin;
    std::vector<Tally> tallies(2);
    double exact = 0.0;
    for (std::size_t which = 0; which < 2; ++which) {
      const Histogram table = which == 0 ? Histogram{5, 3} : Histogram{4, 4};
      Curator curator = gate(domain, table,
                             {.unit = {Neighbors::ReplaceOne, 1},
                              .filter = Filter::zcdp(Rho(rho * (draws + 1))),
                              .seed = ++seed});
      const Cost cost = curator.filter().price(rho);
      const LinearQuery query{Clique{0}};
      const double sigma = curator.noise_scale(query, cost).value();
      exact = exact_epsilon(sigma, 2.0, kDelta);
      // The exact epsilon is below what the rho that was paid implies.
      EXPECT_LE(exact, epsilon_of(Rho(rho), Delta(kDelta)).value());
      // y1 - y0 is 2 more on the second table, with noise sqrt 2 times as wide.
      const double threshold = best_threshold(sigma * std::sqrt(2.0), 2.0, exact) - 2.0;
      for (int i = 0; i < draws; ++i) {
        const auto y = curator.measure(query, cost);
        tallies[which].hits += y.values[1] - y.values[0] >= threshold ? 1.0 : 0.0;
        ++tallies[which].draws;
      }
    }
    report("marginal, rho " + std::to_string(rho), estimate(tallies[1], tallies[0], kDelta), exact);
  }
}

// One candidate goes up and all others down with each row: the more there are, the nearer the log-
// ratio of the first comes to epsilon. (Two candidates would reach half.) On the smaller table all
// are equally likely.
TEST(Audit, TheExponentialMechanismNearlySpendsItsEpsilon) {
  constexpr std::size_t kCandidates = 64;
  const Domain domain = domain_of({2});
  const auto totals = [](std::size_t outputs) {
    const std::vector<LinearMap::Entry> total = {{0, 1}, {1, 1}};
    return LinearQuery{
        Clique{0}, LinearMap::rows(std::vector<std::vector<LinearMap::Entry>>(outputs, total), 2)};
  };
  const std::vector<double> twos(kCandidates, 2.0);
  const std::vector<CellScores> cells = {
      {totals(1), std::span(twos).first(1), CellScore::Signed, 1.0},
      {totals(kCandidates - 1), std::span(twos).first(kCandidates - 1), CellScore::Signed, -1.0}};
  std::vector<Candidate> candidates;
  for (std::size_t i = 0; i < kCandidates; ++i) {
    candidates.push_back(
        {Clique{}, Origin::Private, (i == 0 ? 1.0 : -1.0) * signed_error({Clique{}, {2.0}}, 0)});
  }
  std::uint64_t seed = 81;
  for (const double epsilon : {0.5, 1.0, 2.0}) {
    std::vector<Tally> many(2);
    std::vector<Tally> single(2);
    for (std::size_t which = 0; which < 2; ++which) {
      Curator curator = gate(domain, which == 0 ? Histogram{1, 1} : Histogram{1, 2},
                             {.unit = {Neighbors::AddRemove, 1},
                              .filter = Filter::pure(Epsilon(1e8)),
                              .seed = ++seed});
      const double rate = epsilon / 2.0;
      EXPECT_NEAR(curator.cost_for_rate(cells, rate).upper_bound(), epsilon, 1e-9);
      for (const auto& choice : curator.sample_cells(cells, rate, 2'000'000 / kThin)) {
        many[which].hits += choice.scores == 0 ? 1.0 : 0.0;
        ++many[which].draws;
      }
      const int calls = epsilon < 1.0 ? 0 : 15'000 / kThin;
      for (int i = 0; i < calls; ++i) {
        const auto drawn = curator.select(candidates, curator.filter().price(epsilon));
        single[which].hits += drawn == 0 ? 1.0 : 0.0;
        ++single[which].draws;
      }
    }
    const std::string what = "exponential mechanism, epsilon " + std::to_string(epsilon);
    report(what + ", many draws from a table", estimate(many[1], many[0], 0.0), epsilon);
    if (single[0].draws > 0.0) report(what, estimate(single[1], single[0], 0.0), epsilon);
  }
}

// Permute-and-flip reaches its epsilon with two candidates already: ties on one table, one ahead by
// twice the sensitivity on the other.
TEST(Audit, PermuteAndFlipSpendsItsEpsilon) {
  const Domain domain = domain_of({2});
  const double epsilon = 1.0;
  std::vector<Tally> tallies(2);
  for (std::size_t which = 0; which < 2; ++which) {
    const Histogram table = which == 0 ? Histogram{1, 2} : Histogram{1, 1};
    const Factor two{Clique{}, {2.0}};
    const std::vector<Candidate> candidates = {
        {Clique{}, Origin::Private, signed_error(two, 0)},
        {Clique{}, Origin::Private, -1.0 * signed_error(two, 0)}};
    Curator curator = gate(domain, table,
                           {.unit = {Neighbors::AddRemove, 1},
                            .filter = Filter::pure(Epsilon(1e8)),
                            .seed = 97 + which});
    for (int i = 0; i < 200'000 / kThin; ++i) {
      const auto drawn =
          curator.select(candidates, curator.filter().price(epsilon), Selection::PermuteAndFlip);
      tallies[which].hits += drawn == 1 ? 1.0 : 0.0;
      ++tallies[which].draws;
    }
  }
  report("permute-and-flip", estimate(tallies[1], tallies[0], 0.0), epsilon);
}

}  // namespace
}  // namespace tandem
