// SPDX-License-Identifier: Apache-2.0
#include "tandem/source/memory_source.h"

#include <gtest/gtest.h>

#include "source/source_contract.h"
#include "tandem/base/error.h"

namespace tandem::test {
namespace {

INSTANTIATE_TEST_SUITE_P(Memory, SourceContract,
                         testing::Values(SourceMaker([](const Table& table) {
                           return memory_source(table);
                         })));
INSTANTIATE_TEST_SUITE_P(MemoryOnThreeThreads, SourceContract,
                         testing::Values(SourceMaker([](const Table& table) {
                           return memory_source(table, {3});
                         })));

TEST(MemorySource, RefusesAConditionOutsideItsDomain) {
  const auto source = memory_source(Table(Domain({{"a", 2, {}}}), 3));
  EXPECT_THROW(source->where(1, 0), InternalError);
}

}  // namespace
}  // namespace tandem::test
