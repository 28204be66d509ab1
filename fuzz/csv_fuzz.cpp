// SPDX-License-Identifier: Apache-2.0
// CSV, plain and gzip, in all formats, with both policies. The first byte chooses a schema, and
// whether the rest is a whole file or the rows below a good header; the second byte a format.
//
// Promised: the same result on one thread and two, and in blocks of any size; below a good header
// private rows never fail; as lines, each is one row, read as if it stood alone, and as quoted
// records they are what a slow parser makes of them; what public data may hold is written and read
// again; sniffing, scanning and fitting take any bytes, and what is fitted is what was read.

#include <algorithm>
#include <array>
#include <memory>
#include <optional>
#include <vector>

#include "../tests/support/reference_csv.h"
#include "input.h"
#include "tandem/base/error.h"
#include "tandem/base/text.h"
#include "tandem/data/binned_codec.h"
#include "tandem/data/csv.h"
#include "tandem/data/encoding.h"
#include "tandem/engine/fit/findings.h"

namespace {

using namespace tandem;
using fuzz::promise;

// Numbers from 0.00 to 9.99, a hundred ranges.
std::unique_ptr<Codec> decimals() {
  auto line = number_line(2);
  auto ranges = Ranges::equal(*line, 0, 999, 1, 100);
  return binned_codec(std::move(line), std::move(ranges), 1);
}

struct Case {
  Schema schema;
  std::string header;                  // in the schema's format
  std::vector<std::size_t> positions;  // of the schema's columns in the file
};

TextFormat format_from(std::uint8_t byte) {
  static constexpr std::array<char, 4> kDelimiters = {',', ';', '\t', '|'};
  return {static_cast<Encoding>(byte & 3), kDelimiters[byte >> 2 & 3],
          (byte & 16) != 0 ? '\'' : '"', (byte & 32) != 0 ? ',' : '.',
          (byte & 64) != 0 ? Records::Quoted : Records::Lines};
}

Case case_from(std::uint8_t which, const TextFormat& format) {
  const auto in_format = [&](std::string header) {
    for (char& c : header) c = c == ',' ? format.delimiter : c == '"' ? format.quote : c;
    std::string bytes;
    promise(!append_encoded(header, format.encoding, bytes), "a header of ASCII is written");
    return bytes;
  };
  std::vector<ColumnSchema> columns;
  std::string header;
  std::vector<std::size_t> positions = {0, 1};
  switch (which % 4) {
    case 0:
      columns.push_back({"a", "", labelled_codec({"x", "", "\"", "y,z", "l\nf", "\u00e9"}, 1)});
      columns.push_back({"b", "", coded_codec(300)});
      header = "a,b\n";
      break;
    case 1:
      columns.push_back({"a", "", labelled_codec({"x", "", "?"}, 2)});
      header = "a\n";
      break;
    case 2:
      columns.push_back({"a", "", coded_codec(3)});
      columns.push_back({"b", "", coded_codec(70000)});
      header = "b,other,\"a\"\r\n";
      positions = {2, 0};
      break;
    default:
      columns.push_back({"a", "", decimals()});
      columns.push_back({"b", "", labelled_codec({"x", ".", "1.5", "1,5"}, 0)});
      header = "a,b\n";
  }
  return {Schema(std::move(columns), format), in_format(header), positions};
}

// The table, or nothing when the file is refused in one line.
std::optional<Table> read(std::string_view bytes, const Schema& schema, RowPolicy policy,
                          int threads, std::size_t block_bytes = kCsvBlockBytes) {
  const fuzz::MemoryFile file(bytes);
  CsvOptions options;
  options.policy = policy;
  options.threads = {threads};
  options.block_bytes = block_bytes;
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

// A line feed as the file has it.
std::string line_feed(const TextFormat& format) {
  std::string bytes;
  append_encoded("\n", format.encoding, bytes);
  return bytes;
}

// The lines of the rows, as bytes without their line feeds. In UTF-16, characters are two bytes.
std::vector<std::string_view> lines_of(std::string_view rows, const std::string& line_end) {
  std::vector<std::string_view> lines;
  const std::size_t step = line_end.size();
  std::size_t start = 0;
  for (std::size_t at = 0; at + step <= rows.size(); at += step) {
    if (rows.substr(at, step) != line_end) continue;
    lines.push_back(rows.substr(start, at - start));
    start = at + step;
  }
  if (start < rows.size()) lines.push_back(rows.substr(start));
  return lines;
}

void check_private_rows(const Case& chosen, std::string_view rows, const Table& table) {
  const std::string line_end = line_feed(chosen.schema.format());
  const auto lines = lines_of(rows, line_end);
  promise(table.rows() == lines.size(), "each private line is a row");
  // Line by line for the first few: a row is a function of its own text. Half a character can only
  // be the last of a file, so nothing is put behind it.
  for (std::size_t r = 0; r < std::min<std::size_t>(lines.size(), 4); ++r) {
    const bool half = lines[r].size() % line_end.size() != 0;
    const auto alone = read(chosen.header + std::string(lines[r]) + (half ? "" : line_end),
                            chosen.schema, RowPolicy::Repair, 1);
    promise(alone && alone->rows() == 1 && same_row(table, r, *alone, 0),
            "a private row depends on its own text alone");
  }
}

// Quoted records, against the parser of the tests.
void check_quoted_rows(const Case& chosen, std::string_view bytes, const Table& table) {
  const TextFormat& format = chosen.schema.format();
  std::string text;
  ToUtf8 to_utf8(format.encoding);
  to_utf8.append(bytes, text);
  to_utf8.finish(text);
  const auto rows = test::reference_rows(text, format).rows;
  promise(table.rows() == rows.size(), "each private record is a row");
  std::string room;
  for (std::size_t r = 0; r < rows.size(); ++r) {
    for (AttributeId id = 0; id < table.domain().size(); ++id) {
      const std::size_t at = chosen.positions[id];
      std::string_view value;
      if (at < rows[r].size()) value = rows[r][at];
      const auto& codec = *chosen.schema.columns()[id].codec;
      if (format.decimal_mark == ',' && codec.numeric()) value = swap_decimal_marks(value, room);
      promise(table.column(id)[r] == codec.encode(value).code, "a private record is read as it is");
    }
  }
}

void check_round_trip(const Case& chosen, const Table& table) {
  const fuzz::MemoryFile file("");
  Rng rng(1);
  write_csv(file.path(), chosen.schema, table, rng);
  CsvOptions options;
  options.format = chosen.schema.format();
  promise(read_csv(file.path(), chosen.schema, options).table == table, "what is written is read");
}

void check_scan(std::string_view bytes) {
  const fuzz::MemoryFile file(bytes);
  std::size_t columns = 0;
  try {
    scan_csv(
        file.path(), {},
        [&](std::span<const std::string> names, const TextFormat& format) {
          require_usable(format);
          columns = names.size();
        },
        [&](std::span<const std::string_view> fields, std::size_t) {
          promise(fields.size() == columns, "a row that is scanned is whole");
          for (const auto field : fields) {
            promise(valid_utf8(field) == field.size(), "a field that is scanned is UTF-8");
          }
        });
  } catch (const UsageError& error) {
    fuzz::check_message(error.what(), file.path());
  }
}

// What `check` and `evaluate` make of it.
void check_fit(std::string_view bytes, const Case& chosen, RowPolicy policy,
               const std::optional<Table>& table) {
  const fuzz::MemoryFile file(bytes);
  FitOptions options;
  options.reading.policy = policy;
  options.keep_codes = true;
  options.keep_points = true;
  options.lenient = true;
  const auto fit = fit_file(file.path(), chosen.schema, options);
  promise(!table || fit.raw.repaired == *table, "what is fitted is what was read");
  to_document(findings_of(fit, chosen.schema, policy)).to_json();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 2) return 0;
  const Case chosen = case_from(data[0], format_from(data[1]));
  const bool whole = data[0] >= 128;
  const auto text = fuzz::as_text(data + 2, size - 2);
  const std::string bytes = (whole ? "" : chosen.header) + std::string(text);

  for (const auto policy : {RowPolicy::MustFit, RowPolicy::Repair}) {
    const auto table = read(bytes, chosen.schema, policy, 1);
    promise(read(bytes, chosen.schema, policy, 2) == table, "threads change nothing");
    promise(read(bytes, chosen.schema, policy, 2, 1 + data[0] % 16) == table,
            "blocks change nothing");
    check_fit(bytes, chosen, policy, table);
    if (table) check_round_trip(chosen, *table);
    if (whole || policy == RowPolicy::MustFit) continue;
    promise(table.has_value(), "private rows never fail");
    if (chosen.schema.format().records == Records::Quoted) {
      check_quoted_rows(chosen, text, *table);
    } else {
      check_private_rows(chosen, text, *table);
    }
  }
  check_scan(bytes);
  return 0;
}
