// SPDX-License-Identifier: Apache-2.0
// Lists of pairs. Below a good first line private ones never fail, and a user's lines make the same
// row whatever else the file holds; public ones give a table or one line.

#include <optional>
#include <set>
#include <string>
#include <vector>

#include "input.h"
#include "tandem/base/error.h"
#include "tandem/data/pairs.h"

namespace {

using namespace tandem;
using fuzz::promise;

const Schema& schema() {
  static const Schema items(
      {{"i0", "", coded_codec(2)}, {"i1", "", coded_codec(2)}, {"\xc3\xa9", "", coded_codec(2)}});
  return items;
}

std::optional<BitTable> read(std::string_view bytes, RowPolicy policy) {
  const fuzz::MemoryFile file(bytes);
  try {
    return read_pairs(file.path(), schema(), {.policy = policy});
  } catch (const UsageError& error) {
    fuzz::check_message(error.what(), file.path());
    return std::nullopt;
  }
}

std::multiset<std::set<AttributeId>> rows_of(const BitTable& table) {
  std::vector<std::set<AttributeId>> rows(table.rows());
  for (std::size_t i = 0; i < table.indicators().size(); ++i) {
    table.columns()[i].for_each(
        [&](std::size_t row) { rows[row].insert(table.indicators()[i].attribute); });
  }
  return {rows.begin(), rows.end()};
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto text = fuzz::as_text(data, size);
  if (text.starts_with("\x1f\x8b")) {
    read(text, RowPolicy::Repair);  // gzip, good or damaged
    return 0;
  }
  read(text, RowPolicy::MustFit);
  const std::string rows(text);
  const auto table = read("user,item\n" + rows, RowPolicy::Repair);
  promise(table.has_value(), "private pairs never fail");
  // A new user's lines, before and behind all others, are one row more and change no other. The
  // name has more bytes than any that the fuzzer makes.
  const std::string name(4000, 'u');
  const auto more =
      read("user,item\n" + name + ",i0\n" + rows + "\n" + name + ",i1\n", RowPolicy::Repair);
  promise(more.has_value(), "private pairs never fail");
  auto expected = rows_of(*table);
  expected.insert({0, 1});
  promise(rows_of(*more) == expected, "a user's lines make one row");
  return 0;
}
