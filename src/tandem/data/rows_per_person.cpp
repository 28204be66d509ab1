// SPDX-License-Identifier: Apache-2.0
#include "tandem/data/rows_per_person.h"

#include <algorithm>
#include <array>
#include <numeric>

#include "tandem/base/check.h"
#include "tandem/base/mutant.h"

namespace tandem {

namespace {

std::uint64_t mixed(std::uint64_t state, std::uint64_t word) {
  state = (state ^ word) * 0xff51afd7ed558ccdULL;
  state ^= state >> 32;
  state *= 0xc4ceb9fe1a85ec53ULL;
  return state ^ state >> 29;
}

struct Choice {
  PersonKey person;
  std::uint64_t codes = 0;  // a hash of the person and the row's codes
  std::size_t row = 0;
};

int compare_codes(const Table& table, std::size_t a, std::size_t b) {
  for (AttributeId id = 0; id < table.domain().size(); ++id) {
    const Code x = table.column(id)[a];
    const Code y = table.column(id)[b];
    if (x != y) return x < y ? -1 : 1;
  }
  return 0;
}

}  // namespace

std::vector<std::size_t> rows_within_share(const Table& table, std::span<const PersonKey> persons,
                                           std::int64_t most) {
  check(persons.size() == table.rows(), "each row has a person's key");
  check(most >= 1, "a person has at least one row");
  std::vector<std::size_t> kept;
  if (mutant(Mutant::KeepAllRows)) {
    kept.resize(persons.size());
    std::iota(kept.begin(), kept.end(), std::size_t{0});
    return kept;
  }
  std::vector<Choice> rows;
  const std::uint64_t others = mutant(Mutant::OthersChooseRows) ? persons.size() : 0;
  for (std::size_t r = 0; r < persons.size(); ++r) {
    if (persons[r].nobody()) continue;
    rows.push_back({persons[r], mixed(persons[r].low ^ others, persons[r].high), r});
  }
  for (AttributeId id = 0; id < table.domain().size(); ++id) {
    table.column(id).visit([&](auto codes) {
      for (auto& choice : rows) choice.codes = mixed(choice.codes, codes[choice.row]);
    });
  }
  // Rows of a person side by side, equal ones too; hashes that are equal by chance are told apart
  // by the codes themselves.
  std::ranges::sort(rows, [&](const Choice& a, const Choice& b) {
    if (a.person != b.person) return a.person < b.person;
    if (a.codes != b.codes) return a.codes < b.codes;
    if (const int order = compare_codes(table, a.row, b.row); order != 0) return order < 0;
    return a.row < b.row;
  });
  const auto share = static_cast<std::size_t>(most);
  std::vector<std::array<std::uint64_t, 2>> order;  // hash and place, of one person's rows
  for (std::size_t begin = 0; begin < rows.size();) {
    std::size_t end = begin;
    while (end < rows.size() && rows[end].person == rows[begin].person) ++end;
    if (end - begin <= share) {
      for (std::size_t i = begin; i < end; ++i) kept.push_back(rows[i].row);
    } else {
      order.clear();
      std::uint64_t index = 0;  // among equal rows
      for (std::size_t i = begin; i < end; ++i) {
        const bool again = i > begin && rows[i].codes == rows[i - 1].codes &&
                           compare_codes(table, rows[i].row, rows[i - 1].row) == 0;
        index = again ? index + 1 : 0;
        order.push_back({mixed(rows[i].codes, index + 1), i});
      }
      std::ranges::sort(order);
      for (std::size_t i = 0; i < share; ++i) kept.push_back(rows[order[i][1]].row);
    }
    begin = end;
  }
  std::ranges::sort(kept);
  return kept;
}

}  // namespace tandem
