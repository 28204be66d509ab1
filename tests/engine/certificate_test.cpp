// SPDX-License-Identifier: Apache-2.0
#include "tandem/engine/certificate.h"

#include <gtest/gtest.h>

#include <cmath>

#include "tandem/privacy/private_data.h"
#include "tandem/query/counting.h"
#include "tandem/source/memory_source.h"

namespace tandem {
namespace {

Table table_of(std::size_t rows, double share, std::uint64_t seed) {
  Table table(Domain({{"a", 3, {}}, {"b", 4, {}}, {"c", 2, {}}}), rows);
  Rng rng(seed);
  for (std::size_t r = 0; r < rows; ++r) {
    const Code first = rng.uniform() < share ? 0 : static_cast<Code>(rng.below(3));
    table.column(0).set(r, first);
    table.column(1).set(r, static_cast<Code>((first + rng.below(2)) % 4));
    table.column(2).set(r, static_cast<Code>(rng.below(2)));
  }
  return table;
}

double average_error(const Table& real, const Table& made, const Workload& workload) {
  std::vector<Clique> cliques;
  for (const auto& [clique, weight] : workload.cliques()) cliques.push_back(clique);
  const auto truth = count_marginals(real, cliques);
  const auto guess = count_marginals(made, cliques);
  double sum = 0.0;
  for (std::size_t i = 0; i < cliques.size(); ++i) {
    for (std::size_t c = 0; c < truth[i].values.size(); ++c) {
      sum += std::abs(truth[i].values[c] / static_cast<double>(real.rows()) -
                      guess[i].values[c] / static_cast<double>(made.rows()));
    }
  }
  return sum / static_cast<double>(cliques.size());
}

// A release whose rows are another table's, and whose single columns were measured with much noise.
Release release_of(const Table& made, double total, double sigma) {
  Release out;
  out.rows = made;
  out.total = total;
  const auto cliques = std::vector<Clique>{{0}, {1}, {2}};
  for (const auto& factor : count_marginals(made, cliques)) {
    Measurement y;
    y.query = {factor.clique};
    y.values = factor.values;
    y.noise = NoiseKind::Gaussian;
    y.sigma = Sigma(sigma);
    out.measurements.push_back(std::move(y));
  }
  return out;
}

Curator gate_of(const Table& real, const PrivacyUnit& unit, const Filter& filter,
                std::uint64_t seed) {
  return {PrivateData(memory_source(real), unit),
          filter,
          std::make_unique<SeededEntropy>(seed),
          memory_transcript(),
          {}};
}

class Certificates : public testing::TestWithParam<std::tuple<Neighbors, Currency>> {};

TEST_P(Certificates, HoldAsOftenAsTheySay) {
  const auto [neighbors, currency] = GetParam();
  const Table real = table_of(4000, 0.3, 1);
  const Table made = table_of(3000, 0.45, 2);
  const Workload workload = Workload::all_k_way(real.domain(), 2);
  const double truth = average_error(real, made, workload);
  const Filter filter =
      currency == Currency::Zcdp ? Filter::zcdp(Rho(0.006)) : Filter::pure(Epsilon(0.15));
  constexpr int kRuns = 2000;
  int held = 0;
  double deviations = 0.0;
  double squares = 0.0;
  for (int i = 0; i < kRuns; ++i) {
    Curator gate = gate_of(real, {neighbors, 1}, filter, 100 + static_cast<std::uint64_t>(i));
    // Where n is private the released number is a little off.
    const double total = neighbors == Neighbors::ReplaceOne ? 4000.0 : 4003.0;
    const Release release = release_of(made, total, 60.0);
    Rng rng(1);
    const auto found = certify(gate, gate.remaining(), release, workload, rng).error;
    ASSERT_TRUE(found);
    EXPECT_EQ(found->marginals, 3U);
    if (truth <= found->at_most) ++held;
    const double z = (found->average_error - truth) / found->stddev;
    deviations += z / kRuns;
    squares += z * z / kRuns;
  }
  EXPECT_GE(held, static_cast<int>(0.966 * kRuns));  // 97.5% but for 2.5 standard deviations
  EXPECT_LT(std::abs(deviations), 0.2);
  EXPECT_GT(squares, 0.75);
  EXPECT_LT(squares, 1.3);
}

INSTANTIATE_TEST_SUITE_P(All, Certificates,
                         testing::Combine(testing::Values(Neighbors::ReplaceOne,
                                                          Neighbors::AddRemove),
                                          testing::Values(Currency::Zcdp, Currency::Pure)));

// Whatever was measured: also single cells, from which no error of a marginal follows.
TEST(Certificate, IsLeftOutByItsNoiseAloneAndSaysSo) {
  const Table real = table_of(300, 0.3, 1);
  const Workload workload = Workload::all_k_way(real.domain(), 2);
  Release release = release_of(real, 300.0, 20.0);
  for (auto& y : release.measurements) {
    y.query.map = LinearMap::rows({{{0, 1}}}, y.values.size());
    y.values.resize(1);
  }
  Rng rng(1);
  Curator quiet = gate_of(real, {}, Filter::zcdp(Rho(1e-2)), 5);
  const auto stated = certify(quiet, quiet.remaining(), release, workload, rng);
  ASSERT_TRUE(stated.error);
  EXPECT_LT(stated.error->stddev, kMostCertifiedNoise);
  Curator loud = gate_of(real, {}, Filter::zcdp(Rho(1e-3)), 5);
  const auto none = certify(loud, loud.remaining(), release, workload, rng);
  EXPECT_FALSE(none.error);
  EXPECT_EQ(none.left_out.at("reason").as_string(), "noise");
  EXPECT_GT(none.left_out.at("stddev").as_number(), kMostCertifiedNoise);
  EXPECT_TRUE(loud.filter().spent().is_zero());
}

TEST(Certificate, IsLeftOutWhereNobodyCountedTheRows) {
  const Table real = table_of(300, 0.3, 1);
  Release release = release_of(real, 300.0, 20.0);
  release.measurements.clear();
  Rng rng(1);
  Curator gate = gate_of(real, {Neighbors::AddRemove, 1}, Filter::zcdp(Rho(1.0)), 5);
  const auto none =
      certify(gate, gate.remaining(), release, Workload::all_k_way(real.domain(), 2), rng);
  EXPECT_FALSE(none.error);
  EXPECT_EQ(none.left_out.at("reason").as_string(), "rows");
  EXPECT_TRUE(gate.filter().spent().is_zero());
}

TEST(Certificate, OfManyMarginalsAndRowsLooksAtAPart) {
  std::vector<Attribute> attributes;
  for (int i = 0; i < 30; ++i) attributes.push_back({"c" + std::to_string(i), 2, {}});
  const Domain domain(std::move(attributes));
  const Workload workload = Workload::all_k_way(domain, 2);  // 435 marginals
  Release release;
  release.rows = Table(domain, 2'500'000);
  release.total = 50.0;
  const Table real(domain, 50);
  Curator gate = gate_of(real, {}, Filter::zcdp(Rho(1000.0)), 5);
  Rng rng(1);
  const auto found = certify(gate, gate.remaining(), release, workload, rng).error;
  ASSERT_TRUE(found);
  EXPECT_EQ(found->marginals, 200U);
  EXPECT_EQ(found->of_marginals, 435U);
}

TEST(Certificate, OfALargeWorkloadLooksAtAPartOfIt) {
  std::vector<Attribute> attributes;
  for (int i = 0; i < 6; ++i) attributes.push_back({"c" + std::to_string(i), 200, {}});
  const Domain domain(std::move(attributes));
  const Workload workload = Workload::all_k_way(domain, 3);  // 20 marginals of 8 million cells
  Table table(domain, 50);
  Curator gate = gate_of(table, {}, Filter::zcdp(Rho(1000.0)), 5);
  Release release;
  release.rows = table;
  release.total = 50.0;
  Measurement y;
  y.query = {Clique{0, 1, 2}};
  y.sigma = Sigma(50.0);
  y.noise = NoiseKind::Gaussian;
  release.measurements.push_back(y);
  Rng rng(1);
  const auto found = certify(gate, gate.remaining(), release, workload, rng).error;
  ASSERT_TRUE(found);
  EXPECT_EQ(found->marginals, 2U);
  EXPECT_EQ(found->of_marginals, 20U);
}

}  // namespace
}  // namespace tandem
