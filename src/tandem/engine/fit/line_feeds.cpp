// SPDX-License-Identifier: Apache-2.0
#include "tandem/engine/fit/line_feeds.h"

namespace tandem {

void LineFeedWalk::walk(std::string_view block) {
  // Most blocks of most files have no quotes, and end where a record does.
  if (state_ == State::FieldStart && block.find(quote_) == std::string_view::npos) return;
  const char* p = block.data();
  const char* end = p + block.size();
  for (; p < end; ++p) {
    const char c = *p;
    if (state_ == State::Quoted) {
      if (c == quote_) {
        state_ = State::Closed;
      } else if (c == '\n') {
        ++inside_quotes_;
        if (!counted_) ++records_;
        counted_ = true;
        if (column_ < by_column_.size()) ++by_column_[column_];
      }
    } else if (c == quote_ && state_ != State::Plain) {
      state_ = State::Quoted;  // opens a field, or is the second of a doubled quote
    } else if (c == '\n') {
      state_ = State::FieldStart;
      column_ = 0;
      counted_ = false;
    } else if (c == delimiter_) {
      state_ = State::FieldStart;
      ++column_;
    } else if (c != '\r' || state_ != State::Closed) {
      state_ = State::Plain;
    }
  }
}

}  // namespace tandem
