// SPDX-License-Identifier: Apache-2.0
#include "tandem/privacy/requests.h"

#include <fmt/core.h>

#include "tandem/base/multiversion.h"
#include "tandem/base/mutant.h"

namespace tandem {

std::string request_of(const LinearQuery& query) {
  std::string text = "q";
  for (const auto id : query.clique) text += fmt::format(":{}", id);
  if (query.map.is_identity()) return text;
  if (query.map.is_kronecker()) {
    for (const auto& axis : query.map.axes()) text += ";x" + axis->describe();
    return text;
  }
  text += fmt::format(";{};{}", query.map.unit_exponent(), query.map.columns());
  for (std::size_t r = 0; r < query.map.outputs(0); ++r) {
    text += ';';
    for (const auto& [column, coefficient] : query.map.row(r)) {
      text += fmt::format("{}={},", column, coefficient);
    }
  }
  return text;
}

std::string request_of(const Candidate& candidate) {
  std::string text =
      fmt::format("{},{:a}", request_of(LinearQuery{candidate.clique}), candidate.score.constant());
  for (const auto& term : candidate.score.terms()) {
    text += fmt::format("+{:a}*{}({}", term.weight, static_cast<int>(term.shape),
                        request_of(LinearQuery{term.reference->clique}));
    for (const auto cell : term.cells) text += fmt::format(",{}", cell);
    text += ')';
  }
  return text;
}

namespace {

// Tells lists of outputs apart, of one run and its resumption: a sum of products with odd keys.
TANDEM_MULTIVERSION
std::uint64_t hash_of(std::span<const std::uint32_t> outputs) {
  std::uint64_t mixed = outputs.size();
  std::uint64_t key = 0x9e3779b97f4a7c15ULL;
  for (const auto output : outputs) {
    mixed += (output + 0x100000001ULL) * key;
    key += 0xd1342543de82ef96ULL;  // even: the key stays odd
  }
  return mixed;
}

}  // namespace

std::vector<std::uint64_t> hash_lists(std::span<const CellScores> scores) {
  std::vector<std::uint64_t> lists;
  lists.reserve(scores.size());
  for (const auto& cells : scores) {
    lists.push_back(cells.among.empty() ? 0 : hash_of(cells.among));
  }
  return lists;
}

std::string request_of(std::string_view verb, std::span<const CellScores> scores,
                       std::span<const std::uint64_t> lists) {
  std::string text = fmt::format("{}:{}", verb, scores.size());
  std::string weight;  // most often the same for all
  for (std::size_t i = 0; i < scores.size(); ++i) {
    const CellScores& cells = scores[i];
    if (i == 0 || cells.weight != scores[i - 1].weight) weight = fmt::format("{:a}", cells.weight);
    text += '|';
    text += request_of(cells.query);
    const auto kind = mutant(Mutant::ForgetKindOfScore) ? CellScore::Absolute : cells.kind;
    text += fmt::format(",{},", static_cast<int>(kind));
    text += weight;
    if (!cells.among.empty() && !mutant(Mutant::ForgetListOfCells))
      text += fmt::format(",{:x}", lists[i]);
  }
  return text;
}

}  // namespace tandem
