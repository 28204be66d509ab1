// SPDX-License-Identifier: Apache-2.0
#pragma once
// What the gate was asked, as text: a resumed run must ask the same again. Inside the gate only.

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tandem/privacy/score.h"

namespace tandem {

std::string request_of(const LinearQuery& query);
std::string request_of(const Candidate& candidate);
// `lists`: as hash_lists gives them.
std::string request_of(std::string_view verb, std::span<const CellScores> scores,
                       std::span<const std::uint64_t> lists);

// The hash of each list of cells to choose; 0 where all can be chosen.
std::vector<std::uint64_t> hash_lists(std::span<const CellScores> scores);

}  // namespace tandem
