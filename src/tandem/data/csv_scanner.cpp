// SPDX-License-Identifier: Apache-2.0
#include <fmt/core.h>

#include <algorithm>

#include "tandem/base/error.h"
#include "tandem/data/csv.h"
#include "tandem/data/csv_blocks.h"
#include "tandem/data/csv_columns.h"
#include "tandem/data/encoding.h"

namespace tandem {

namespace {

// The records of a block, one after the other, as text.
class RecordReader {
 public:
  RecordReader(const std::string& path, const TextFormat& format, std::size_t columns)
      : path_(path),
        columns_(columns),
        encoding_(format.encoding),
        tokenizer_(RowPolicy::MustFit, format) {}

  void read(const CsvBlock& block, const OnCsvRow& on_row) {
    check_text(block);
    const char* p = block.text().data();
    const char* end = p + block.text().size();
    for (std::size_t line = block.first_line(); p < end;) {
      const char* start = p;
      p = record(p, end, line);
      const bool blank = *start == '\n' || (*start == '\r' && start[1] == '\n');
      if (!blank || columns_ == 1) {
        if (fields_.size() != columns_) {
          fail(line, fmt::format("the row has {} field{} and the header {}; mend the row",
                                 fields_.size(), fields_.size() == 1 ? "" : "s", columns_));
        }
        on_row(fields_, line);
      }
      line += static_cast<std::size_t>(std::count(start, p, '\n'));
    }
  }

 private:
  [[noreturn]] void fail(std::size_t line, std::string_view sentence) const {
    throw UsageError(fmt::format("{}, line {}: {}.", path_, line, sentence));
  }

  void check_text(const CsvBlock& block) const {
    const auto text = block.text();
    const std::size_t bad = std::min(valid_utf8(text), text.find('\0'));
    if (bad >= text.size()) return;
    const auto lines = static_cast<std::size_t>(std::ranges::count(text.substr(0, bad), '\n'));
    fail(block.first_line() + lines,
         fmt::format("a byte there is no text in {}; state the file's encoding",
                     encoding_name(encoding_)));
  }

  const char* record(const char* p, const char* end, std::size_t line) {
    fields_.clear();
    copied_ = 0;
    for (;; ++p) {
      const char* start = p;
      const auto [field, stop] = tokenizer_.next(p, end);
      p = stop;
      if (p == nullptr) fail(line, tokenizer_.problem());
      const bool in_block = field.data() >= start && field.data() <= p;
      fields_.push_back(in_block ? field : keep(field));
      if (*p == '\n') return p + 1;
    }
  }

  // A field that the tokenizer had to put together, kept until the record is done.
  std::string_view keep(std::string_view field) {
    if (copied_ == copies_.size()) copies_.push_back(std::make_unique<std::string>());
    return *copies_[copied_++] = field;
  }

  const std::string& path_;
  std::size_t columns_;
  Encoding encoding_;
  CsvTokenizer tokenizer_;
  std::vector<std::string_view> fields_;
  std::vector<std::unique_ptr<std::string>> copies_;
  std::size_t copied_ = 0;
};

}  // namespace

void scan_csv(const std::string& path, const CsvScanOptions& options, const OnCsvHeader& on_header,
              const OnCsvRow& on_row) {
  CsvBlockReader reader(path, RowPolicy::MustFit, options.format, {}, {}, kCsvBlockBytes,
                        options.open);
  const CsvHeader header = reader.read_header();
  check_repeated_names(path, header.names, RowPolicy::MustFit, {});
  if (header.inner_carriage_return) {
    throw UsageError(fmt::format(
        "{}, line 1: carriage returns stand inside it; save the file with line feeds.", path));
  }
  for (const auto& name : header.names) {
    if (valid_utf8(name) == name.size()) continue;
    throw UsageError(fmt::format("{}, line 1: a byte there is no text in {}; state the encoding.",
                                 path, encoding_name(reader.format().encoding)));
  }
  on_header(header.names, reader.format());
  RecordReader records(path, reader.format(), header.names.size());
  CsvBlock block;
  for (reader.next(block); !block.empty(); reader.next(block)) {
    records.read(block, on_row);
    if (options.progress) options.progress(reader.stored_bytes_read(), reader.stored_bytes());
  }
}

}  // namespace tandem
