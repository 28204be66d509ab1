// SPDX-License-Identifier: Apache-2.0
#pragma once
// A CSV file as blocks of whole records in UTF-8, and its header: what readers of tables and
// scanners of text share.

#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tandem/data/byte_source.h"
#include "tandem/data/csv_tokenizer.h"

namespace tandem {

// Whole records, each ended by a line feed, with the padding that tokenizers want.
class CsvBlock {
 public:
  std::string_view text() const {
    return {bytes_.data() + begin_, bytes_.size() - begin_ - kCsvPadding};
  }
  bool empty() const { return bytes_.size() <= begin_ + kCsvPadding; }
  std::size_t first_line() const { return first_line_; }  // its number in the file, from 1
  std::size_t lines() const { return lines_; }

  void drop_front(std::size_t bytes);  // whole records

 private:
  friend class CsvBlockReader;
  std::string bytes_ = std::string(kCsvPadding, '\n');
  std::size_t begin_ = 0;
  std::size_t first_line_ = 1;
  std::size_t lines_ = 0;
};

struct CsvHeader {
  std::vector<std::string> names;
  bool inner_carriage_return = false;  // in the line; a sign of line ends that are none
};

class CsvBlockReader {
 public:
  // Sniffs the format when none is given, which is for public files alone.
  CsvBlockReader(const std::string& path, RowPolicy policy, const std::optional<TextFormat>& format,
                 std::span<const KnownColumn> columns, const TextFormat& likely,
                 std::size_t block_bytes = kCsvBlockBytes, const OpenBytes& open = {});

  // The names in the first record, to be read first. With RowPolicy::Repair it ends where a private
  // record would: a quote left open there must not draw in the rows, which are private.
  CsvHeader read_header();

  // The next block, into memory that may have held another; empty at the end of the file.
  void next(CsvBlock& block);

  const std::string& path() const { return path_; }
  const TextFormat& format() const { return format_; }
  std::size_t stored_bytes_read() const { return source_->stored_bytes_read(); }
  std::size_t stored_bytes() const { return source_->stored_bytes(); }

 private:
  void open(const OpenBytes& open, const std::optional<TextFormat>& format,
            std::span<const KnownColumn> columns, const TextFormat& likely);
  void fill(CsvBlock& block);
  void limit_first_record(std::string& bytes);
  void limit_quoted_record(std::string& bytes);
  [[noreturn]] void refuse_long_record() const;

  std::string path_;
  RowPolicy policy_;
  TextFormat format_;
  bool sniffed_;
  std::unique_ptr<ByteSource> source_;
  CsvBlock first_;  // the rows that came with the header
  std::string rest_;
  std::size_t most_;   // bytes of a block, unless its first record has more
  std::size_t least_;  // bytes of the next block; small files cost little
  std::size_t lines_ = 0;
  bool ended_ = false;

  // With Records::Quoted, a record beyond the limit whose rest is passed by.
  struct Cut {
    std::size_t at = 0;
    bool as_line = false;   // the rest goes to the next line feed, whatever stands before it
    bool passed = false;    // what follows is the next record
    std::size_t lines = 0;  // that were passed by
  };
  std::optional<Cut> cut_;
};

}  // namespace tandem
