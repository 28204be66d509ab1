// SPDX-License-Identifier: Apache-2.0
#include "tandem/model/generator/marginal_answers.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cmath>
#include <vector>

#include "support/random_tables.h"
#include "tandem/base/rng.h"
#include "tandem/model/generator/generator.h"

namespace tandem {
namespace {

// K distributions of each column, code after code.
Floats some_distributions(const Domain& domain, std::size_t K, std::uint64_t seed) {
  const CodeLayout layout(domain);
  Rng rng(seed);
  auto out = normal_numbers(K * layout.codes, 1.5F, rng);
  const Matrix P{out.data(), layout.codes, K, K};
  for (AttributeId id = 0; id < domain.size(); ++id) {
    float_math().softmax(P.some_rows(layout.first[id], layout.size[id]));
  }
  return out;
}

// The mean over rows of products of probabilities, cell by cell.
std::vector<double> plainly(const Domain& domain, const Clique& clique, const Floats& P,
                            std::size_t K) {
  const CodeLayout layout(domain);
  std::vector<double> out(domain.cells(clique), 0.0);
  for (std::size_t cell = 0; cell < out.size(); ++cell) {
    for (std::size_t r = 0; r < K; ++r) {
      double product = 1.0 / static_cast<double>(K);
      std::size_t rest = cell;
      for (std::size_t i = clique.size(); i-- > 0;) {
        const AttributeId id = clique[i];
        product *= P[(layout.first[id] + rest % layout.size[id]) * K + r];
        rest /= layout.size[id];
      }
      out[cell] += product;
    }
  }
  return out;
}

RC_GTEST_PROP(MarginalAnswers, AreMeansOfProducts, ()) {
  const Domain domain = test::any_domain({1, 2, 3, 7, 11}, 5);
  const auto K = *rc::gen::inRange<std::size_t>(1, 300);
  const auto P = some_distributions(domain, K, *rc::gen::arbitrary<std::uint64_t>());
  std::vector<Clique> cliques;
  for (int i = 0; i < 4; ++i) {
    const Clique clique = test::any_clique(domain, 400);
    if (!clique.empty()) cliques.push_back(clique);
  }
  const CodeLayout layout(domain);
  const MarginalAnswers marginals(layout, cliques);
  Floats answers(marginals.cells());
  Team team(Threads{});
  marginals.answer({P.data(), layout.codes, K, K}, answers, team);
  for (std::size_t m = 0; m < cliques.size(); ++m) {
    const auto expected = plainly(domain, cliques[m], P, K);
    RC_ASSERT(marginals.cells(m) == expected.size());
    for (std::size_t c = 0; c < expected.size(); ++c) {
      RC_ASSERT(std::abs(answers[marginals.start(m) + c] - expected[c]) < 1e-5);
    }
  }
}

// A marginal is linear in each row of each column, so differences are exact but for rounding.
RC_GTEST_PROP(MarginalAnswers, TheWayBackIsTheirDerivative, ()) {
  const Domain domain = test::any_domain({1, 2, 3, 5}, 5);
  const auto K = *rc::gen::inRange<std::size_t>(1, 200);
  const auto seed = *rc::gen::arbitrary<std::uint64_t>();
  const auto P = some_distributions(domain, K, seed);
  const CodeLayout layout(domain);
  std::vector<Clique> cliques;
  for (int i = 0; i < 3; ++i) {
    const Clique clique = test::any_clique(domain, 200);
    if (!clique.empty()) cliques.push_back(clique);
  }
  const MarginalAnswers marginals(layout, cliques);
  Rng rng(seed);
  const auto above = normal_numbers(marginals.cells(), 1.0F, rng);
  std::vector<char> wanted(cliques.size());
  for (auto& w : wanted) w = static_cast<char>(rng.below(4) > 0);
  Floats gradient(P.size(), 7.0F);
  Team team(Threads{});
  marginals.back({P.data(), layout.codes, K, K}, above, wanted,
                 {gradient.data(), layout.codes, K, K}, team);
  const auto loss = [&](const Floats& at) {
    double sum = 0.0;
    for (std::size_t m = 0; m < cliques.size(); ++m) {
      if (wanted[m] == 0) continue;
      const auto answers = plainly(domain, cliques[m], at, K);
      for (std::size_t c = 0; c < answers.size(); ++c) {
        sum += answers[c] * above[marginals.start(m) + c];
      }
    }
    return sum;
  };
  for (int i = 0; i < 5; ++i) {
    const auto at = static_cast<std::size_t>(rng.below(P.size()));
    auto up = P;
    auto down = P;
    up[at] += 0.25F;
    down[at] -= 0.25F;
    const double slope = (loss(up) - loss(down)) / 0.5;
    RC_ASSERT(std::abs(gradient[at] * 1.0 - slope) < 1e-5 + 1e-4 * std::abs(slope));
  }
}

TEST(MarginalAnswers, AreTheSameForAnyNumberOfThreads) {
  const Domain domain({{"a", 40, {}}, {"b", 30, {}}, {"c", 9, {}}, {"d", 2, {}}});
  const CodeLayout layout(domain);
  constexpr std::size_t K = 1000;
  const auto P = some_distributions(domain, K, 1);
  const ConstMatrix view{P.data(), layout.codes, K, K};
  const MarginalAnswers marginals(layout, {{0}, {0, 1}, {0, 1, 2}, {1, 2, 3}, {0, 1, 2, 3}});
  std::vector<Floats> answers;
  std::vector<Floats> gradients;
  for (const int threads : {1, 2, 5}) {
    Team team(Threads{.count = threads});
    answers.emplace_back(marginals.cells());
    gradients.emplace_back(P.size());
    marginals.answer(view, answers.back(), team);
    marginals.back(view, answers.back(), std::vector<char>(5, 1),
                   {gradients.back().data(), layout.codes, K, K}, team);
    EXPECT_EQ(answers.back(), answers.front());
    EXPECT_EQ(gradients.back(), gradients.front());
  }
}

}  // namespace
}  // namespace tandem
