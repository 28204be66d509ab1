// SPDX-License-Identifier: Apache-2.0
#pragma once
// Line feeds inside quotes: in a file whose lines are rows, each of them cuts a record in two.
//
// The file is walked as RFC 4180 reads it, across blocks. Where records are read whole, a line feed
// inside quotes is part of a value, and nobody needs to walk.

#include <cstddef>
#include <string_view>
#include <vector>

#include "tandem/data/text_format.h"

namespace tandem {

class LineFeedWalk {
 public:
  LineFeedWalk(const TextFormat& format, std::size_t columns)
      : delimiter_(format.delimiter), quote_(format.quote), by_column_(columns, 0) {}

  void walk(std::string_view block);  // of whole lines, in the order of the file

  std::size_t inside_quotes() const { return inside_quotes_; }
  std::size_t records() const { return records_; }  // that hold at least one
  // By the position of the column in the file; a record's surplus fields count for none.
  const std::vector<std::size_t>& by_column() const { return by_column_; }
  // The file ends inside quotes: a quote was never closed, so that the counts say little.
  bool never_closed() const { return state_ == State::Quoted; }

 private:
  enum class State { FieldStart, Plain, Quoted, Closed };

  char delimiter_;
  char quote_;
  State state_ = State::FieldStart;
  std::size_t column_ = 0;
  bool counted_ = false;  // the record at hand
  std::size_t inside_quotes_ = 0;
  std::size_t records_ = 0;
  std::vector<std::size_t> by_column_;
};

}  // namespace tandem
