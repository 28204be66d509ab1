// SPDX-License-Identifier: Apache-2.0
#include "tandem/model/pgm/interactions.h"

#include <gtest/gtest.h>

#include <vector>

#include "tandem/base/rng.h"

namespace tandem {
namespace {

// Two answers about one marginal disagree by what is left of them when both are the mean, which
// their precisions weigh.
long double left_over(const std::vector<double>& a, const std::vector<double>& b, double variance_a,
                      double variance_b) {
  long double sum = 0.0L;
  for (std::size_t i = 0; i < a.size(); ++i) {
    const long double apart = static_cast<long double>(a[i]) - b[i];
    sum += apart * apart / (static_cast<long double>(variance_a) + variance_b);
  }
  return sum;
}

// Answers as shares of n rows that sum to 1, each cell off by a few sigma.
std::vector<double> answer(Rng& rng, double n, double sigma) {
  std::vector<double> out{0.3, 0.05, 0.15, 0.2, 0.1, 0.2};
  for (std::size_t i = 0; i < out.size(); i += 2) {
    const double off = (rng.uniform() - 0.5) * 4.0 * sigma / n;
    out[i] += off;
    out[i + 1] -= off;
  }
  return out;
}

TEST(Interactions, KnowsHowFarAnswersDisagree) {
  const Domain domain({{"a", 2, {}}, {"b", 3, {}}});
  const AxisOrder order(domain);
  const Clique both{0, 1};
  for (const double n : {100.0, 1e7}) {  // the second with hardly any noise for its rows
    Rng rng(1);
    for (int trial = 0; trial < 20; ++trial) {
      const double sigma = 0.3;
      const auto first = answer(rng, n, sigma);
      const auto second = answer(rng, n, sigma);
      const double variance = sigma * sigma / (n * n);
      Interactions lattice(order, {both});
      lattice.observe(both, first, variance);
      EXPECT_LT(lattice.disagreement(), 1e-10) << "one answer agrees with itself";
      lattice.observe(both, second, 4.0 * variance);
      const auto expected = static_cast<double>(left_over(first, second, variance, 4.0 * variance));
      EXPECT_NEAR(lattice.disagreement(), expected, 1e-6 * expected) << n;
    }
  }
}

TEST(Interactions, CountsWhatAnAnswerLacksOfItsTotal) {
  const Domain domain({{"a", 2, {}}});
  const AxisOrder order(domain);
  Interactions lattice(order, {Clique{0}});
  lattice.observe(Clique{0}, std::vector<double>{0.5, 0.3}, 0.01);  // 0.2 too little, in two cells
  EXPECT_NEAR(lattice.disagreement(), 0.2 * 0.2 / (0.01 * 2.0), 1e-12);
}

}  // namespace
}  // namespace tandem
