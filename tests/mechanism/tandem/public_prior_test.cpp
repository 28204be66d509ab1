// SPDX-License-Identifier: Apache-2.0
#include "tandem/mechanism/tandem/public_prior.h"

#include <gtest/gtest.h>

namespace tandem {
namespace {

constexpr double kN = 10'000.0;

Measurement marginal(const Clique& column, std::vector<double> shares, double sigma = 30.0) {
  Measurement out;
  out.query = {column};
  for (const double share : shares) out.values.push_back(share * kN);
  out.sigma = Sigma(sigma);
  return out;
}

// Three columns of four codes; in each, so many rows of each code.
PublicData public_rows(const std::vector<std::vector<std::size_t>>& counts) {
  std::vector<Attribute> attributes;
  for (std::size_t c = 0; c < counts.size(); ++c) {
    attributes.push_back({std::string(1, static_cast<char>('a' + c)), 4, {}});
  }
  std::size_t rows = 0;
  for (const auto count : counts.front()) rows += count;
  Table table(Domain(std::move(attributes)), rows);
  for (std::size_t c = 0; c < counts.size(); ++c) {
    std::size_t row = 0;
    for (Code code = 0; code < 4; ++code) {
      for (std::size_t i = 0; i < counts[c][code]; ++i) {
        // Not in the same order in each column: rows must not be copies of each other.
        table.column(static_cast<AttributeId>(c))
            .set(row++ * std::vector<std::size_t>{5, 8, 9}[c] % rows, code);
      }
    }
  }
  return {{{"public.csv", std::move(table)}}};
}

PublicData even_skewed_and_narrow() {
  return public_rows({{250, 250, 250, 251}, {500, 300, 100, 101}, {900, 101, 0, 0}});
}

TEST(PublicPrior, TellsColumnsOfOtherSharesFromThoseOfOtherCodes) {
  const auto data = even_skewed_and_narrow();
  PublicPrior prior(data, kN, {}, {});
  prior.judge_columns(std::vector<Measurement>{marginal({0}, {.26, .24, .25, .25}),
                                               marginal({1}, {.35, .25, .20, .20}),
                                               marginal({2}, {.20, .00, .40, .40})},
                      kN);
  ASSERT_EQ(prior.sources().size(), 1U);
  const auto& source = prior.sources().front();
  EXPECT_EQ(source.columns[0], Likeness::Alike);
  EXPECT_EQ(source.columns[1], Likeness::Shifted);
  EXPECT_EQ(source.columns[2], Likeness::Foreign);
  EXPECT_TRUE(prior.is_alike(0));
  EXPECT_FALSE(prior.is_alike(1));
  EXPECT_TRUE(prior.knows({0, 1}));
  EXPECT_FALSE(prior.knows({0, 2}));
  EXPECT_TRUE(prior.dismissed().empty());
}

TEST(PublicPrior, IsSilentOnColumnsItDoesNotKnow) {
  const auto data = even_skewed_and_narrow();
  PublicPrior prior(data, kN, {}, {});
  prior.judge_columns(std::vector<Measurement>{marginal({0}, {.25, .25, .25, .25}),
                                               marginal({1}, {.50, .30, .10, .10}),
                                               marginal({2}, {.20, .00, .40, .40})},
                      kN);
  prior.fit(std::vector<Clique>{{0, 1}, {0, 1, 2}, {2}}, 1e-3);
  EXPECT_FALSE(prior.potentials().empty());
  for (const auto& potential : prior.potentials())
    EXPECT_FALSE(potential.clique.contains(Clique{2}));
}

TEST(PublicPrior, NoiseAloneIsNoReasonToDoubt) {
  const auto data = even_skewed_and_narrow();
  PublicPrior prior(data, kN, {}, {});
  // The same answers as above, so noisy that they could be anything.
  prior.judge_columns(std::vector<Measurement>{marginal({0}, {.26, .24, .25, .25}, 5000.0),
                                               marginal({1}, {.10, .10, .40, .40}, 5000.0),
                                               marginal({2}, {.20, .00, .40, .40}, 5000.0)},
                      kN);
  ASSERT_EQ(prior.sources().size(), 1U);
  for (const auto likeness : prior.sources().front().columns) {
    EXPECT_EQ(likeness, Likeness::Alike);
  }
}

TEST(PublicPrior, CodesThatAFewRowsMissAreNotForeign) {
  // Six rows of a hundred codes: nearly all private rows have codes that are not among them.
  Table table(Domain({{"a", 100, {}}}), 6);
  for (std::size_t r = 0; r < 6; ++r) table.column(0).set(r, static_cast<Code>(16 * r));
  const PublicData data{{{"public.csv", std::move(table)}}};
  PublicPrior prior(data, kN, {}, {});
  prior.judge_columns(std::vector<Measurement>{marginal({0}, std::vector<double>(100, 0.01))}, kN);
  ASSERT_EQ(prior.sources().size(), 1U);
  EXPECT_NE(prior.sources().front().columns[0], Likeness::Foreign);
}

std::vector<Clique> doubtful(PublicPrior& prior, const std::vector<Measurement>& one_ways) {
  std::vector<Clique> out;
  for (const auto& query : prior.doubtful_columns(one_ways, kN)) out.push_back(query.clique);
  return out;
}

TEST(PublicPrior, ColumnsThatNoiseHidesDeserveAnotherLook) {
  const auto data = even_skewed_and_narrow();
  PublicPrior prior(data, kN, {}, {});
  const std::vector<double> alike{.26, .24, .25, .25};
  const std::vector<double> shifted{.35, .25, .20, .20};
  const std::vector<double> foreign{.20, .00, .40, .40};
  const auto with_noise = [&](double sigma) {
    return std::vector<Measurement>{marginal({0}, alike, sigma), marginal({1}, shifted, sigma),
                                    marginal({2}, foreign, sigma)};
  };
  EXPECT_TRUE(doubtful(prior, with_noise(30.0)).empty());  // all are clear
  EXPECT_EQ(doubtful(prior, with_noise(450.0)), (std::vector<Clique>{{1}}));
  EXPECT_EQ(doubtful(prior, with_noise(6000.0)), (std::vector<Clique>{{2}}));
  EXPECT_TRUE(doubtful(prior, with_noise(30'000.0)).empty());  // it could be anything

  // With less noise beside the first look, the second one decides.
  auto twice = with_noise(6000.0);
  twice.push_back(marginal({2}, foreign, 1500.0));
  EXPECT_TRUE(doubtful(prior, twice).empty());
  prior.judge_columns(twice, kN);
  EXPECT_EQ(prior.sources().front().columns[2], Likeness::Foreign);
  EXPECT_EQ(prior.sources().front().columns[0], Likeness::Alike);

  PublicPrior stated(data, kN, {.fixed_trust = 0.5}, {});
  EXPECT_TRUE(doubtful(stated, with_noise(6000.0)).empty());
}

// Of a column of many codes that public data doesn't have nothing is known but what is measured.
TEST(PublicPrior, ForeignColumnsOfMostlyNoiseDeserveAnotherLook) {
  Table table(Domain({{"a", 40, {}}}), 501);
  for (std::size_t r = 0; r < 501; ++r) table.column(0).set(r, static_cast<Code>(r % 20));
  const PublicData data{{{"public.csv", std::move(table)}}};
  PublicPrior prior(data, kN, {}, {});
  std::vector<double> others(40, 0.0);
  for (std::size_t c = 20; c < 40; ++c) others[c] = 0.05;
  EXPECT_EQ(doubtful(prior, {marginal({0}, others, 400.0)}).size(), 1U);
  EXPECT_TRUE(doubtful(prior, {marginal({0}, others, 200.0)}).empty());
}

TEST(PublicPrior, DismissesASourceOfOtherCodes) {
  const auto data = public_rows({{900, 101, 0, 0}, {0, 0, 900, 101}, {250, 250, 250, 251}});
  PublicPrior prior(data, kN, {}, {});
  const std::vector<Measurement> one_ways{marginal({0}, {.0, .0, .5, .5}),
                                          marginal({1}, {.5, .5, .0, .0}),
                                          marginal({2}, {.25, .25, .25, .25})};
  prior.judge_columns(one_ways, kN);
  EXPECT_TRUE(prior.empty());
  ASSERT_EQ(prior.dismissed().size(), 1U);
  EXPECT_EQ(prior.dismissed().front().name, "public.csv");

  // Those who state their trust are taken at their word.
  PublicPrior stated(data, kN, {.fixed_trust = 0.5}, {});
  stated.judge_columns(one_ways, kN);
  EXPECT_EQ(stated.sources().size(), 1U);
  EXPECT_TRUE(stated.knows({0, 1, 2}));
}

}  // namespace
}  // namespace tandem
