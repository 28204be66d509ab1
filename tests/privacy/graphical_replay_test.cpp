// SPDX-License-Identifier: Apache-2.0
// Record and replay on neighbours, for the mechanisms on graphical models.
#include <gtest/gtest.h>

#include "privacy/proofs/replay.h"

namespace tandem::mechanism {
Mechanism aim();
Mechanism jam_pgm();
Mechanism mst();
Mechanism tandem();
Mechanism private_pgm();
}  // namespace tandem::mechanism

namespace tandem::proofs {
namespace {

constexpr auto kNone = std::nullopt;

const std::vector<MechanismRun> kRuns = {
    {.name = "private-pgm", .mechanism = mechanism::private_pgm, .parameters = {}, .ways = 2},
    {.name = "mst", .mechanism = mechanism::mst, .parameters = {}, .ways = 2},
    {.name = "aim",
     .mechanism = mechanism::aim,
     .parameters = {{"rounds-per-column", "2"}},
     .ways = 2,
     .zcdp_only = true},
    {.name = "jam-pgm",
     .mechanism = mechanism::jam_pgm,
     .parameters = {{"rounds", "3"}},
     .ways = 2,
     .zcdp_only = true},
    {.name = "tandem",
     .mechanism = mechanism::tandem,
     .parameters = {{"rounds-per-column", "2"}},
     .ways = 2,
     .zcdp_only = true},
    {.name = "jam-pgm, selection=2024",
     .mechanism = mechanism::jam_pgm,
     .parameters = {{"rounds", "3"}, {"selection", "2024"}},
     .ways = 2,
     .zcdp_only = true}};

std::vector<const MechanismRun*> runs() {
  std::vector<const MechanismRun*> out;
  for (const auto& run : kRuns) out.push_back(&run);
  return out;
}

TEST(GraphicalReplay, NeighboursAskTheSame) { EXPECT_EQ(neighbours_ask_the_same(runs()), kNone); }
TEST(GraphicalReplay, RecordedStepsAreNeverRedrawn) {
  EXPECT_EQ(recorded_steps_are_never_redrawn(runs()), kNone);
}
TEST(GraphicalReplay, ChangedRequestsAreRefused) {
  EXPECT_EQ(changed_requests_are_refused(runs()), kNone);
}

}  // namespace
}  // namespace tandem::proofs
