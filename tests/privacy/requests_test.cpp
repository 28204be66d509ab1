// SPDX-License-Identifier: Apache-2.0
// What a resumed step is recognised by: two questions that differ in anything have two texts.
#include "tandem/privacy/requests.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <set>
#include <string>
#include <vector>

namespace tandem {
namespace {

TEST(Requests, OfCellsDifferInWhateverTheScoresDo) {
  const std::vector<double> reference = {1.0, 2.0, 0.0, 0.5};
  const std::vector<std::uint32_t> list = {0, 3};
  const CellScores usual{{Clique{0, 1}}, reference, CellScore::Absolute, 1.0};
  CellScores other_kind = usual;
  other_kind.kind = CellScore::Signed;
  CellScores other_weight = usual;
  other_weight.weight = 1.0 + 0x1p-52;
  CellScores other_query = usual;
  other_query.query.clique = Clique{0, 2};
  CellScores listed = usual;
  listed.among = list;
  std::set<std::string> texts;
  std::size_t asked = 0;
  const auto ask = [&](const std::string& verb, const std::vector<CellScores>& scores,
                       const std::vector<std::uint64_t>& lists) {
    texts.insert(request_of(verb, scores, lists));
    ++asked;
  };
  ask("cell", {usual}, {0});
  ask("draw", {usual}, {0});
  ask("cell", {usual, usual}, {0, 0});
  ask("cell", {other_kind}, {0});
  ask("cell", {other_weight}, {0});
  ask("cell", {other_query}, {0});
  ask("cell", {listed}, {0x17});
  ask("cell", {listed}, {0x18});
  ask("cell", {usual, other_weight}, {0, 0});
  ask("cell", {other_weight, usual}, {0, 0});
  ask("cell", {listed, usual}, {0x17, 0});
  ask("cell", {usual, listed}, {0, 0x17});
  EXPECT_EQ(texts.size(), asked);
}

}  // namespace
}  // namespace tandem
