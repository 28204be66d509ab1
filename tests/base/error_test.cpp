// SPDX-License-Identifier: Apache-2.0
#include "tandem/base/error.h"

#include <gtest/gtest.h>

#include "tandem/base/cancel.h"
#include "tandem/base/parallel.h"

namespace tandem {
namespace {

TEST(Error, NamesItsFirstSettingAndEachDoorSpellsIt) {
  const UsageError error(TANDEM_SETTING("param.rounds") " is 0; raise it, or " +
                         setting("epsilon") + ".");
  EXPECT_EQ(error.key(), "param.rounds");
  EXPECT_EQ(plain(error.what()), "param.rounds is 0; raise it, or epsilon.");
  EXPECT_EQ(
      spelled(error.what(), [](std::string_view key) { return "<" + std::string(key) + ">"; }),
      "<param.rounds> is 0; raise it, or <epsilon>.");
  EXPECT_EQ(UsageError("The table has no rows.").key(), "");
}

TEST(Cancel, StopsWorkThatAsksIt) {
  const Threads never{.count = 2};
  EXPECT_NO_THROW(never.check());
  const Threads threads{.count = 2, .cancel = Cancel::token()};
  std::atomic<int> done = 0;
  EXPECT_THROW(parallel_for(1000, threads,
                            [&](std::size_t) {
                              if (++done == 5) threads.cancel.request();
                            }),
               Cancelled);
  EXPECT_LT(done, 10);
  EXPECT_THROW(threads.one().check(), Cancelled);
}

}  // namespace
}  // namespace tandem
