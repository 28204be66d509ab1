// SPDX-License-Identifier: Apache-2.0
#include "tandem/engine/memory.h"

#include <fmt/core.h>
#include <unistd.h>

#include <algorithm>
#include <string_view>
#include <utility>

#include "tandem/base/error.h"
#include "tandem/base/text.h"
#include "tandem/data/table.h"
#include "tandem/query/workload.h"
#include "tandem/source/text_size.h"

namespace tandem {

namespace {

double parse_bytes(const std::string& text) {
  static constexpr std::pair<std::string_view, double> kUnits[] = {
      {"TB", 1e12}, {"GB", 1e9}, {"MB", 1e6}, {"kB", 1e3}, {"KB", 1e3}, {"B", 1.0}, {"", 1.0}};
  for (const auto& [unit, bytes] : kUnits) {
    if (!text.ends_with(unit)) continue;
    const auto number =
        parse_number(trim(std::string_view(text).substr(0, text.size() - unit.size())));
    if (number && *number > 0.0) return *number * bytes;
    break;
  }
  throw UsageError(
      fmt::format(TANDEM_SETTING("memory-limit") " is {}; write a size such as 8GB or 500MB.",
                  in_quotes(text)));
}

}  // namespace

double memory_limit(const std::string& stated) {
  if (!stated.empty()) return parse_bytes(stated);
  const double pages = static_cast<double>(sysconf(_SC_PHYS_PAGES));
  return 0.75 * pages * static_cast<double>(sysconf(_SC_PAGE_SIZE));
}

namespace {

constexpr double kOfProcess = 20e6;  // the program, its buffers and threads; bytes

}  // namespace

// Of pairs: a user takes a line, and by far most take several.
constexpr double kBytesPerUser = 100.0;
constexpr double kBytesPerPair = 4.0;  // at least

namespace {

// Of a table whose text is so long: a value takes at least one character, and one between it and
// the next.
double rows_of_text(const TextSize& text, const Schema& schema) {
  return text.bytes / (2.0 * static_cast<double>(schema.domain().size()));
}

}  // namespace

double most_rows(const KnownTable& table, const Schema& schema) {
  if (table.facts.rows) return *table.facts.rows;
  if (!table.facts.text) return 0.0;
  return table.pairs ? table.facts.text->bytes / kBytesPerUser
                     : rows_of_text(*table.facts.text, schema);
}

std::optional<double> rows_at_most(const KnownTable& table, const Schema& schema) {
  if (table.facts.rows) return table.facts.rows;
  // A cell that grows must not decide what is refused where the number of rows itself is public.
  if (!table.facts.text || table.keeps_rows) return std::nullopt;
  const auto [bytes, guessed] = *table.facts.text;
  if (bytes == 0.0 || guessed) return std::nullopt;
  return bytes / (table.pairs ? kBytesPerPair : static_cast<double>(schema.domain().size()));
}

double expected_rows(const KnownTable& table, const SynthSettings& s, const Schema& schema,
                     const PublicData& data) {
  if (table.facts.rows) return *table.facts.rows;
  double rows = 0.0;
  double bytes = 0.0;
  for (const auto& [name, public_table] : data.tables) {
    rows += static_cast<double>(public_table.rows());
  }
  for (const auto& source : s.public_sources) bytes += text_size(source).bytes;
  if (rows == 0.0 || bytes == 0.0 || !table.facts.text) return most_rows(table, schema);
  return table.facts.text->bytes * rows / bytes;
}

double predicted_memory(const KnownTable& table, const SynthSettings& s, const Schema& schema,
                        double of_mechanism) {
  double row = 0.0;
  double cells = 0.0;
  for (const auto& attribute : schema.domain().attributes()) {
    row += static_cast<double>(code_width(attribute.size));
    cells += static_cast<double>(attribute.size);
  }
  const double most = most_rows(table, schema);
  const double made = s.rows > 0            ? static_cast<double>(s.rows)
                      : table.most_made > 0 ? std::min(most, static_cast<double>(table.most_made))
                                            : most;
  if (table.pairs) {
    // A line of four bytes is a pair of four bytes, held twice while it is read, or a user, whose
    // name is kept as well; rows are numbers of records.
    constexpr double kPerByte = 4.0;
    constexpr double kPerValue = 600.0;  // of the schema, and of what mechanisms keep of a column
    const double bytes = table.facts.text ? table.facts.text->bytes : 0.0;
    return kPerByte * bytes + 4.0 * made + kPerValue * cells + kOfProcess + of_mechanism;
  }
  double rows = (table.holds ? most : 0.0) + made;
  for (const auto& source : s.public_sources) rows += rows_of_text(text_size(source), schema);
  return rows * row + 64.0 * cells + kOfProcess + of_mechanism;
}

void check_memory(const KnownTable& table, const SynthSettings& s, const Schema& schema,
                  double of_mechanism) {
  const double need = predicted_memory(table, s, schema, of_mechanism);
  const double limit = memory_limit(s.memory_limit);
  if (need <= limit) return;
  const bool tables = of_mechanism < need / 2.0;
  const bool conjunctions = Workload::bytes_to_draw(s.workload) > 0.0;
  throw UsageError(fmt::format(
      "The run may need {} and the limit is {}; raise " TANDEM_SETTING(
          "memory-limit") " or choose a {}.",
      human_bytes(need), human_bytes(limit),
      tables ? "smaller table"
      : conjunctions
          ? "smaller " TANDEM_SETTING("workload") ", such as conjunctions:3:20000:1"
          : "smaller " TANDEM_SETTING("workload") ", such as random-3way:1000:1, or max-model-mb"));
}

}  // namespace tandem
