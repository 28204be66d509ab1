// SPDX-License-Identifier: Apache-2.0
// CSV, plain and gzip, with both policies. The first byte chooses a schema, and whether the rest is
// a whole file or the rows below a good header.
//
// Promised: the same result on one thread and two; below a good header private rows never fail, and
// each line is one row, read as if it stood alone; what public data may hold, it also reads alike.

#include <algorithm>
#include <array>
#include <optional>

#include "input.h"
#include "tandem/base/error.h"
#include "tandem/data/csv.h"

namespace {

using namespace tandem;
using fuzz::promise;

struct Case {
  Schema schema;
  std::string header;
};

const std::array<Case, 3>& cases() {
  static const std::array<Case, 3> kCases = {
      Case{Schema({{"a", "", labelled_codec({"x", "", "\"", "y,z", "l\nf"}, 1)},
                   {"b", "", coded_codec(300)}}),
           "a,b\n"},
      Case{Schema({{"a", "", labelled_codec({"x", "", "?"}, 2)}}), "a\n"},
      Case{Schema({{"a", "", coded_codec(3)}, {"b", "", coded_codec(70000)}}), "b,other,\"a\"\r\n"},
  };
  return kCases;
}

// The table, or nothing when the file is refused in one line.
std::optional<Table> read(std::string_view bytes, const Schema& schema, RowPolicy policy,
                          int threads) {
  const fuzz::MemoryFile file(bytes);
  CsvOptions options;
  options.policy = policy;
  options.threads = {threads};
  try {
    return read_csv(file.path(), schema, options).table;
  } catch (const UsageError& error) {
    fuzz::check_message(error.what(), file.path());
    return std::nullopt;
  }
}

bool same_row(const Table& a, std::size_t row_of_a, const Table& b, std::size_t row_of_b) {
  for (AttributeId id = 0; id < a.domain().size(); ++id) {
    if (a.column(id)[row_of_a] != b.column(id)[row_of_b]) return false;
  }
  return true;
}

void check_private_rows(const Case& chosen, std::string_view rows, const Table& table) {
  const auto lines = static_cast<std::size_t>(std::ranges::count(rows, '\n')) +
                     (rows.empty() || rows.ends_with('\n') ? 0 : 1);
  promise(table.rows() == lines, "each private line is a row");
  // Line by line for the first few: a row is a function of its own text.
  for (std::size_t r = 0; r < std::min<std::size_t>(lines, 4); ++r) {
    const auto end = std::min(rows.find('\n'), rows.size());
    const auto line = std::string(rows.substr(0, end)) + "\n";
    const auto alone = read(chosen.header + line, chosen.schema, RowPolicy::Repair, 1);
    promise(alone && alone->rows() == 1 && same_row(table, r, *alone, 0),
            "a private row depends on its own text alone");
    rows.remove_prefix(std::min(end + 1, rows.size()));
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const Case& chosen = cases()[data[0] % cases().size()];
  const bool whole = data[0] >= 128;
  const auto text = fuzz::as_text(data + 1, size - 1);
  const std::string bytes = (whole ? "" : chosen.header) + std::string(text);

  for (const auto policy : {RowPolicy::MustFit, RowPolicy::Repair}) {
    const auto table = read(bytes, chosen.schema, policy, 1);
    promise(read(bytes, chosen.schema, policy, 2) == table, "threads change nothing");
    if (whole || policy == RowPolicy::MustFit) {
      if (table) {  // what was read is written, and read as it was
        const fuzz::MemoryFile file("");
        Rng rng(1);
        write_csv(file.path(), chosen.schema, *table, rng);
        promise(read_csv(file.path(), chosen.schema).table == *table, "what is written is read");
      }
      continue;
    }
    promise(table.has_value(), "private rows never fail");
    check_private_rows(chosen, text, *table);
  }
  return 0;
}
