// SPDX-License-Identifier: Apache-2.0
#include "support/generated_source.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "tandem/base/rng.h"

namespace tandem::test {
namespace {

TEST(GeneratedSource, ColumnsAreOnesAsOftenAsTheirChance) {
  const GeneratedBits bits{.seed = 3, .rows = 100'000};
  const auto source = generated_source(columns_of_bits(40), bits);
  std::vector<Clique> cliques;
  for (AttributeId id = 0; id < 40; ++id) cliques.push_back({id});
  const auto counted = source->count(cliques);
  double sum = 0.0;
  for (AttributeId id = 0; id < 40; ++id) {
    const double p = bits.chance(id);
    EXPECT_NEAR(counted[id].values[1] / 1e5, p, 5.0 * std::sqrt(p * (1.0 - p) / 1e5) + 1e-5);
    sum += p;
  }
  EXPECT_NEAR(sum / 40.0, 0.5, 0.2);
}

TEST(GeneratedSource, ColumnsAreIndependent) {
  const GeneratedBits bits{.seed = 3, .rows = 100'000};
  const Domain domain = columns_of_bits(6);
  const auto set = random_conjunctions(domain, 3, 100, 1, ConjunctionFamily::Positive);
  const auto counts = generated_source(domain, bits, {2})->count(set);
  for (std::size_t q = 0; q < set.size(); ++q) {
    double p = 1.0;
    for (const auto literal : set.literals(q)) {
      p *= bits.chance(set.indicators()[literal >> 1].attribute);
    }
    EXPECT_NEAR(static_cast<double>(counts[q]) / 1e5, p,
                5.0 * std::sqrt(p * (1.0 - p) / 1e5) + 1e-5);
  }
}

TEST(GeneratedSource, MarginalsAndConjunctionsAgree) {
  const GeneratedBits bits{.seed = 9, .rows = 1001};
  const Domain domain = columns_of_bits(4);
  const auto source = generated_source(domain, bits);
  const std::vector<Clique> cliques = {{0, 1, 2, 3}};
  const auto set = cell_conjunctions(domain, cliques);
  const auto counts = source->count(set);
  const auto cells = source->count(cliques)[0].values;
  double sum = 0.0;
  for (const double cell : cells) sum += cell;
  EXPECT_EQ(sum, 1001.0);
  for (std::size_t q = 0; q < set.size(); ++q) {
    std::size_t cell = 0;
    for (const auto literal : set.literals(q)) cell = 2 * cell + ((literal & 1U) == 0 ? 1 : 0);
    EXPECT_EQ(static_cast<double>(counts[q]), cells[cell]);
  }
}

TEST(GeneratedSource, HalfAMillionColumnsAreCountedWithoutBeingHeld) {
  const Domain domain = columns_of_bits(512'000);
  const auto set = random_conjunctions(domain, 3, 2000, 1, ConjunctionFamily::Signed);
  const auto counts = generated_source(domain, {.seed = 1, .rows = 1000})->count(set);
  EXPECT_EQ(counts.size(), set.size());
}

}  // namespace
}  // namespace tandem::test
