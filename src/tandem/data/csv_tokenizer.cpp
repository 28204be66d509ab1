// SPDX-License-Identifier: Apache-2.0
#include "tandem/data/csv_tokenizer.h"

namespace tandem {

CsvTokenizer::Token CsvTokenizer::next_quoted(const char* p, const char* end) {
  const auto find = [&](const char* from, char c) {
    return static_cast<const char*>(std::memchr(from, c, static_cast<std::size_t>(end - from)));
  };
  // Mostly a value holds no quotes and is used where it stands.
  if (const char* close = find(p, quote_); close != nullptr) {
    const char* after = close + (close[1] == '\r' && close[2] == '\n' ? 2 : 1);
    const bool one_line = std::memchr(p, '\n', static_cast<std::size_t>(close - p)) == nullptr;
    if ((*after == delimiter_ || *after == '\n') && (policy_ == RowPolicy::MustFit || one_line)) {
      return {{p, close}, after};
    }
  }

  unquoted_.clear();
  bool closed = true;
  for (;;) {
    const char* stop = find(p, quote_);
    if (policy_ == RowPolicy::Repair) {  // a row ends with its line, come what may
      const char* line = find(p, '\n');
      if (stop == nullptr || line < stop) stop = line;
    }
    if (stop == nullptr) {
      problem_ = "a quoted value never ends; close its quote";
      return {{}, nullptr};
    }
    unquoted_.append(p, stop);
    if (*stop == '\n') {
      p = stop;
      closed = false;
      break;
    }
    p = stop + 1;
    if (*p != quote_) break;
    unquoted_ += quote_;
    ++p;
  }
  if (*p == '\r' && p[1] == '\n') ++p;
  if (*p != delimiter_ && *p != '\n') {
    if (policy_ == RowPolicy::MustFit) {
      problem_ = "text follows the closing quote of a value; double the quotes inside values";
      return {{}, nullptr};
    }
    const char* rest = p;
    while (*p != delimiter_ && *p != '\n') ++p;
    unquoted_.append(rest, p);
    closed = false;
  }
  if (!closed && *p == '\n' && unquoted_.ends_with('\r')) unquoted_.pop_back();
  const std::size_t size = unquoted_.size();
  unquoted_.append(kCsvPadding, '\0');
  return {{unquoted_.data(), size}, p};
}

std::size_t CsvTokenizer::whole_records(std::string_view text) const {
  if (policy_ == RowPolicy::Repair || text.find(quote_) == std::string_view::npos) {
    const auto last = text.rfind('\n');
    return last == std::string_view::npos ? 0 : last + 1;
  }
  enum class State { FieldStart, Plain, Quoted, Closed } state = State::FieldStart;
  std::size_t whole = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (state == State::Quoted) {
      if (c == quote_) state = State::Closed;
    } else if (c == quote_ && state != State::Plain) {
      state = State::Quoted;  // opens a field, or is the second of a doubled quote
    } else if (c == delimiter_ || c == '\n') {
      state = State::FieldStart;
      if (c == '\n') whole = i + 1;
    } else {
      state = State::Plain;
    }
  }
  return whole;
}

}  // namespace tandem
