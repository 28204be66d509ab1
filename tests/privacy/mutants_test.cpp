// SPDX-License-Identifier: Apache-2.0
// Planted faults: each must be found by one of the proofs that find nothing in the gate as it is.
// Linked with a build of the trusted core that has the faults in it (tandem_mutants).
#include <gtest/gtest.h>

#include <cstdlib>
#include <ctime>
#include <iostream>

#include "privacy/proofs/proofs.h"
#include "tandem/base/mutant.h"

namespace tandem {

namespace {
Mutant planted = Mutant::None;
}

bool mutant(Mutant which) { return which == planted; }
void plant(Mutant which) { planted = which; }

namespace {

// What a proof finds; a proof that a fault makes fail outright has found it too.
proofs::Violation find(const proofs::Proof& proof) {
  try {
    return proof.find();
  } catch (const std::exception& error) {
    return std::string("it failed: ") + error.what();
  }
}

TEST(Mutants, NoneIsFoundWhereNoneIsPlanted) {
  plant(Mutant::None);
  for (const auto& proof : proofs::all_proofs()) {
    const std::clock_t start = std::clock();
    EXPECT_EQ(find(proof), std::nullopt) << proof.name;
    if (std::getenv("TANDEM_MUTANT_MATRIX") != nullptr) {
      std::cout << proof.name << ": " << static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC
                << " s\n";
    }
  }
}

class Planted : public testing::TestWithParam<int> {
  void TearDown() override { plant(Mutant::None); }
};

// Set TANDEM_MUTANT_MATRIX to see all proofs that find each fault, not only the first.
TEST_P(Planted, IsFound) {
  plant(static_cast<Mutant>(GetParam()));
  int found = 0;
  for (const auto& proof : proofs::all_proofs()) {
    const auto violation = find(proof);
    if (!violation) continue;
    ++found;
    std::cout << "by " << proof.name << ": " << *violation << '\n';
    if (std::getenv("TANDEM_MUTANT_MATRIX") == nullptr) break;
  }
  EXPECT_GT(found, 0);
}

std::string name_of(const testing::TestParamInfo<int>& fault) {
  static constexpr const char* kNames[] = {"None",
                                           "HalfSensitivity",
                                           "LargestTermOnly",
                                           "IgnoreWeights",
                                           "NoSlack",
                                           "ReplaceAsRemove",
                                           "ForgetRowsPerPerson",
                                           "UnitLeftBehind",
                                           "NobodyIsAbsent",
                                           "AbsentForgotten",
                                           "RowsTold",
                                           "ScoreOfOneRow",
                                           "NoBound",
                                           "BoundTooLow",
                                           "ProductAsOneAxis",
                                           "LargestOfStack",
                                           "LaplaceByL2",
                                           "RoundSigmaDown",
                                           "NoNoise",
                                           "SharedNoise",
                                           "DoubleSharpness",
                                           "LargestWins",
                                           "CheapFlips",
                                           "RangeTwice",
                                           "MonotoneReplace",
                                           "NegationLosesRows",
                                           "OneConjunction",
                                           "SharperConjunctions",
                                           "ConjunctionsRoundedDown",
                                           "OneConjunctionsRho",
                                           "StacksRhoHalved",
                                           "ChargeNothing",
                                           "ChargeHalf",
                                           "OneDrawPaid",
                                           "OneDrawsRho",
                                           "RateRoundedUp",
                                           "PureReservesLess",
                                           "PureSettlesHalf",
                                           "FreeGroups",
                                           "CheapGroupRho",
                                           "GroupsOverlap",
                                           "SpendAfterDrawing",
                                           "PeekAtTotal",
                                           "KeepAllRows",
                                           "OthersChooseRows",
                                           "DomainFromRows",
                                           "DrawAgain",
                                           "KeepNoRecord",
                                           "TakeAnyRecord",
                                           "ForgetKindOfScore",
                                           "ForgetListOfCells",
                                           "ForgetWeights",
                                           "ForgetCostOfScore",
                                           "RecordNoCost",
                                           "SettleFewerSteps",
                                           "MixReturnsUnspent",
                                           "MixRecords",
                                           "QuoteSwallowsLine",
                                           "NoLimitOfLines",
                                           "NoLimitOfBytes",
                                           "LineStateStays",
                                           "BlocksEndAtLines"};
  static_assert(std::size(kNames) == static_cast<std::size_t>(Mutant::End));
  return kNames[fault.param];
}

INSTANTIATE_TEST_SUITE_P(Mutants, Planted, testing::Range(1, static_cast<int>(Mutant::End)),
                         name_of);

}  // namespace
}  // namespace tandem
