// SPDX-License-Identifier: Apache-2.0
// Record and replay on neighbours, and resuming. What is proved, and how, is in proofs/replay.cpp.
#include <gtest/gtest.h>

#include "privacy/proofs/proofs.h"

namespace tandem::proofs {
namespace {

constexpr auto kNone = std::nullopt;

TEST(Replay, NeighboursAskTheSame) { EXPECT_EQ(neighbours_ask_the_same(), kNone); }
TEST(Replay, InputsStayWithinDeclarations) { EXPECT_EQ(inputs_stay_within_declarations(), kNone); }
TEST(Replay, RecordedStepsAreNeverRedrawn) { EXPECT_EQ(recorded_steps_are_never_redrawn(), kNone); }
TEST(Replay, ChangedRequestsAreRefused) { EXPECT_EQ(changed_requests_are_refused(), kNone); }

}  // namespace
}  // namespace tandem::proofs
