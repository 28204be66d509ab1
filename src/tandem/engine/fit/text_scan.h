// SPDX-License-Identifier: Apache-2.0
#pragma once
// The rows of a file as raw texts, many blocks at once: what `check` and `evaluate` look at.
//
// INTERNAL where the file is private: it stands beside the gate, for commands whose output says so.
// A private file is cut into rows exactly as a release cuts it.

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tandem/data/csv.h"
#include "tandem/data/csv_blocks.h"

namespace tandem {

struct TextScanOptions {
  RowPolicy policy = RowPolicy::Repair;
  std::optional<TextFormat> format{};  // the schema's without one; of a public file, sniffed
  Threads threads{};
  ReadProgress progress{};
  OpenBytes open{};  // as in CsvOptions
};

class TextScan {
 public:
  TextScan(const std::string& path, const Schema& schema, TextScanOptions options);

  const CsvHeader& header() const { return header_; }
  const CsvBlockReader& reader() const { return reader_; }
  const TextFormat& format() const { return reader_.format(); }

  // Calls read(place, block) for each block, several at the same time, and then, in the order of
  // the file, done(place, block). No two blocks that are read at the same time share a place.
  using OnBlock = std::function<void(std::size_t place, const CsvBlock& block)>;
  void run(const OnBlock& read, const OnBlock& done);
  std::size_t places() const { return places_; }

 private:
  TextScanOptions options_;
  CsvBlockReader reader_;
  CsvHeader header_;
  std::size_t places_;
};

// The records of a block, one after the other. A blank line of a public file is none.
class ScannedRecords {
 public:
  ScannedRecords(const CsvBlock& block, RowPolicy policy, const TextFormat& format,
                 std::size_t columns);

  bool next();  // false behind the last

  // One for each column of the header, empty where the record ends before. Valid until the next
  // call; kCsvPadding bytes behind each may be read.
  std::span<const std::string_view> fields() const { return fields_; }
  std::size_t found() const { return found_; }   // fields of the record, surplus ones too
  bool malformed() const { return malformed_; }  // by its quotes; of public files alone
  std::size_t line() const { return line_; }     // where it starts, from 1

 private:
  void take(std::string_view field, const char* start, const char* stop);

  RowPolicy policy_;
  std::size_t columns_;
  CsvTokenizer tokenizer_;
  const char* p_;
  const char* end_;
  std::size_t next_line_;
  std::size_t line_ = 0;
  std::vector<std::string_view> fields_;
  std::size_t found_ = 0;
  bool malformed_ = false;
  std::vector<std::unique_ptr<std::string>> copies_;  // of fields that stand nowhere as they are
  std::size_t copied_ = 0;
};

}  // namespace tandem
