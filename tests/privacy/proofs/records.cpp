// SPDX-License-Identifier: Apache-2.0
// What one record of a private file can change: its own row; and, where it is not well-formed, how
// the thousand lines behind it are read.
#include <fmt/core.h>

#include <algorithm>
#include <span>

#include "privacy/proofs/proofs.h"
#include "support/files.h"
#include "support/reference_csv.h"
#include "tandem/base/error.h"
#include "tandem/base/text.h"
#include "tandem/privacy/filter.h"
#include "tandem/privacy/ledger.h"

namespace tandem::proofs {

namespace {

constexpr std::size_t kColumns = 3;
constexpr TextFormat kLines{};
constexpr TextFormat kQuoted{.records = Records::Quoted};

test::CodeRows rows_of(const std::string& text, const TextFormat& format,
                       std::size_t block_bytes = kCsvBlockBytes) {
  static const test::TempDir dir(test::in_memory());
  CsvOptions options;
  options.policy = RowPolicy::Repair;
  options.threads = {2};
  options.block_bytes = block_bytes;
  const auto path = dir.write("t.csv", test::any_text_header(kColumns, format) + text);
  return test::codes_of(read_csv(path, test::any_text_schema(kColumns, format), options).table);
}

// What is wrong with how records are read together, each of which is a row by itself.
Violation differs_together(const std::vector<std::string>& records, const TextFormat& format,
                           std::size_t block_bytes) {
  std::string text;
  test::CodeRows alone;
  for (const auto& record : records) {
    text += record;
    const auto row = rows_of(record, format);
    if (row.size() != 1) {
      return fmt::format("the record {} is {} rows by itself", in_quotes(record), row.size());
    }
    alone.push_back(row[0]);
  }
  const auto together = rows_of(text, format, block_bytes);
  if (together == alone) return std::nullopt;
  if (together.size() != alone.size()) {
    return fmt::format("{} records, read as {}, are {} rows", alone.size(),
                       records_key(format.records), together.size());
  }
  return fmt::format("a record is read otherwise beside others, as {}",
                     records_key(format.records));
}

std::size_t lines_of(const std::string& text) {
  return static_cast<std::size_t>(std::ranges::count(text, '\n'));
}

}  // namespace

Violation records_are_read_by_themselves() {
  Rng rng(31);
  for (int trial = 0; trial < 60; ++trial) {
    // As lines: any bytes but a line feed.
    std::vector<std::string> lines;
    for (int i = 0; i < 6; ++i) {
      std::string line = test::any_odd_text(rng, kLines, false);
      std::erase(line, '\n');
      lines.push_back(line + "\n");
    }
    if (auto found = differs_together(lines, kLines, 1 + rng.below(200))) return found;
    // As quoted: well-formed records.
    std::vector<std::string> records;
    for (int i = 0; i < 6; ++i) records.push_back(test::any_record(rng, kQuoted));
    if (auto found = differs_together(records, kQuoted, 1 + rng.below(200))) return found;
  }
  return std::nullopt;
}

Violation broken_quotes_stop() {
  // An open quote that a later record would close, too far away: every line is a row.
  const std::string far_lines = "1,\"a\n" + std::string(999, '\n') + "2,b\"\n";
  const std::string far_bytes = "1,\"a\n" + std::string(64'000, 'x') + "\n2,b\"\n";
  for (const auto& text : {far_lines, far_bytes}) {
    if (rows_of(text, kQuoted).size() != lines_of(text)) {
      return fmt::format("an open quote takes {} lines and {} bytes", lines_of(text), text.size());
    }
  }
  // Behind a broken record, records are read as if it were not there.
  const std::string behind = "2,\"b\nc\",d\n3,\"e\n\",f\n";
  for (const char* broken : {"1,\"a\"x\n", "1,\"a\"x,\"y\n", "1,\"a\" ,\"\n"}) {
    auto rows = rows_of(broken + behind, kQuoted);
    rows.erase(rows.begin());
    if (rows != rows_of(behind, kQuoted)) return "a broken record changes how the next is read";
  }
  // Whatever one record holds, those that begin a thousand lines behind it are read as ever, where
  // quoted values begin with text (docs/privacy.md).
  Rng rng(37);
  for (int trial = 0; trial < 20; ++trial) {
    std::string near;
    std::string far;
    for (std::size_t lines = 0; lines < 1500;) {
      const std::string record =
          rng.below(400) == 0 ? test::any_record(rng, kQuoted, true) : std::string("1,2\n");
      (lines < 1000 ? near : far) += record;
      lines += lines_of(record);
    }
    const std::string odd = test::any_odd_text(rng, kQuoted, false) + ",\"\n";
    const auto rows = rows_of(odd + near + far, kQuoted);
    const auto tail = rows_of(far, kQuoted);
    if (rows.size() < tail.size() || !std::ranges::equal(tail, std::span(rows).last(tail.size()))) {
      return "a broken record changes how records are read that begin a thousand lines behind it";
    }
  }
  return std::nullopt;
}

Violation ledgers_keep_one_kind_of_record() {
  const test::TempDir dir;
  const LedgerCharge charge = Filter::pure(Epsilon(0.1)).reservation();
  for (const auto first : {Records::Lines, Records::Quoted}) {
    Ledger ledger = Ledger::create(dir / std::string(records_key(first)),
                                   {"people", Epsilon(4.0), Delta(1e-9), PrivacyUnit{}});
    const auto reserve = [&](Records records) {
      return ledger.reserve({"mst", "r (quoted)", PrivacyUnit{}, false, records}, charge);
    };
    const auto other = first == Records::Lines ? Records::Quoted : Records::Lines;
    // A run that drew nothing is as if it had never been.
    ledger.settle(reserve(other), {Cost(), Cost()}, 0);
    reserve(first);
    reserve(first);
    const auto head = ledger.head();
    try {
      reserve(other);
      return fmt::format("a ledger of runs as {} took one as {}", records_key(first),
                         records_key(other));
    } catch (const BudgetError&) {
    }
    if (ledger.head() != head) return "a run that was refused left something in the ledger";
    if (ledger.report().records != first) return "a ledger misreads how its runs read records";
  }
  return std::nullopt;
}

}  // namespace tandem::proofs
