// SPDX-License-Identifier: Apache-2.0
#include "tandem/source/bit_source.h"

#include <gtest/gtest.h>

#include "source/source_contract.h"
#include "tandem/base/error.h"

namespace tandem::test {
namespace {

INSTANTIATE_TEST_SUITE_P(Bits, SourceContract, testing::Values(SourceMaker([](const Table& table) {
                           return bit_source(BitTable::of(table));
                         })));
INSTANTIATE_TEST_SUITE_P(BitsOnThreeThreads, SourceContract,
                         testing::Values(SourceMaker([](const Table& table) {
                           return bit_source(BitTable::of(table), {3});
                         })));

TEST(BitSource, CountsManyColumnsInSeveralGoes) {
  std::vector<Attribute> attributes;
  for (int i = 0; i < 400; ++i) attributes.push_back({"c" + std::to_string(i), 2, {}});
  Table table(Domain(std::move(attributes)), 50);
  for (AttributeId id = 0; id < 400; ++id) {
    for (std::size_t r = 0; r < 50; ++r) table.column(id).set(r, (r * id) % 3 == 0 ? 1 : 0);
  }
  std::vector<Clique> cliques;
  for (AttributeId id = 0; id + 1 < 400; ++id) cliques.push_back({id, id + 1});
  const auto counted = bit_source(BitTable::of(table))->count(cliques);
  for (std::size_t i = 0; i < cliques.size(); ++i) {
    EXPECT_EQ(counted[i], brute_force(table, cliques[i]));
  }
}

TEST(BitSource, RefusesWhatItDoesNotHold) {
  const Domain domain({{"a", 2, {}}, {"b", 3, {}}});
  const std::vector<Indicator> wanted = {{0, 1}};
  const auto source = bit_source(BitTable::of(Table(domain, 3), wanted));
  const std::vector<Clique> cliques = {{1}};
  EXPECT_THROW(source->count(cliques), InternalError);
  EXPECT_THROW(source->where(2, 0), InternalError);
}

}  // namespace
}  // namespace tandem::test
