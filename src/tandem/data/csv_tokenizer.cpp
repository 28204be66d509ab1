// SPDX-License-Identifier: Apache-2.0
#include "tandem/data/csv_tokenizer.h"

#include <algorithm>
#include <functional>

#include "tandem/base/mutant.h"

namespace tandem {

namespace {

const char* find(const char* from, const char* end, char c) {
  return static_cast<const char*>(std::memchr(from, c, static_cast<std::size_t>(end - from)));
}

}  // namespace

CsvTokenizer::Token CsvTokenizer::next_quoted(const char* p, const char* end) {
  bool ends_with_line = rule_ == Rule::Lines;
  if (mutant(Mutant::QuoteSwallowsLine) && find(p, end, quote_) != nullptr) ends_with_line = false;
  if (rule_ == Rule::Quoted) {
    ends_with_line = std::less_equal<>()(p, line_end_);
    if (!ends_with_line) {
      const QuotedEnd found = quoted_end(p, end);
      if (found.kind == QuotedEnd::Closed && !found.doubled) {
        return {{p, found.close}, found.close + (found.close[1] == '\r' ? 2 : 1)};
      }
      if (found.kind != QuotedEnd::Closed) {
        line_end_ = find(p, end, '\n');
        if (mutant(Mutant::LineStateStays)) line_end_ = end;
        ends_with_line = true;
      }
    }
  }
  // Mostly a value holds no quotes and is used where it stands.
  if (const char* close = find(p, end, quote_); close != nullptr) {
    const char* after = close + (close[1] == '\r' && close[2] == '\n' ? 2 : 1);
    const bool one_line = std::memchr(p, '\n', static_cast<std::size_t>(close - p)) == nullptr;
    if ((*after == delimiter_ || *after == '\n') && (!ends_with_line || one_line)) {
      return {{p, close}, after};
    }
  }

  unquoted_.clear();
  bool closed = true;
  for (;;) {
    const char* stop = find(p, end, quote_);
    if (ends_with_line) {  // come what may
      const char* line = find(p, end, '\n');
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
    if (rule_ == Rule::Strict) {
      problem_ = "text follows the closing quote of a value; double the quotes inside values";
      return {{}, nullptr};
    }
    const char* rest = p;
    while (*p != delimiter_ && *p != '\n') ++p;
    unquoted_.append(rest, p);
    closed = false;
  }
  broken_ = broken_ || !closed;
  if (!closed && *p == '\n' && unquoted_.ends_with('\r')) unquoted_.pop_back();
  const std::size_t size = unquoted_.size();
  unquoted_.append(kCsvPadding, '\0');
  return {{unquoted_.data(), size}, p};
}

// Privacy: what is found, once it is certain, depends on the bytes up to the closing quote and the
// two behind it, or on as many as the limits allow; never on how many bytes are at hand.
CsvTokenizer::QuotedEnd CsvTokenizer::quoted_end(const char* p, const char* end) const {
  const char* first = p;
  const auto at_hand = static_cast<std::size_t>(end - p);
  const bool limited = at_hand > kLongestQuotedValue && !mutant(Mutant::NoLimitOfBytes);
  const char* limit = limited ? p + kLongestQuotedValue + 1 : end;
  const QuotedEnd nowhere{limited ? QuotedEnd::Broken : QuotedEnd::Uncertain, nullptr};
  bool doubled = false;
  while (p < limit) {
    const char* quote = find(p, limit, quote_);
    if (quote == nullptr) return nowhere;
    const char* after = quote + 1;
    if (after == end) return {QuotedEnd::Uncertain, nullptr};
    if (*after == quote_) {
      doubled = true;
      p = quote + 2;
      continue;
    }
    if (*after == '\r') {
      if (after + 1 == end) return {QuotedEnd::Uncertain, nullptr};
      if (after[1] == '\n') ++after;
    }
    const auto bytes = static_cast<std::size_t>(quote - first);
    const bool few_lines =
        bytes < kMostQuotedLines || mutant(Mutant::NoLimitOfLines) ||
        static_cast<std::size_t>(std::count(first, quote, '\n')) < kMostQuotedLines;
    const bool proper = (*after == delimiter_ || *after == '\n') && few_lines;
    return {proper ? QuotedEnd::Closed : QuotedEnd::Broken, quote, doubled};
  }
  return nowhere;
}

CsvTokenizer::FieldEnd CsvTokenizer::field_end(std::string_view text, std::size_t at,
                                               bool more_follows) const {
  const auto offset = [&](const char* p) { return static_cast<std::size_t>(p - text.data()); };
  const char* p = text.data() + at;
  const char* end = text.data() + text.size();
  if (p == end || *p != quote_) {
    while (p < end && *p != delimiter_ && *p != '\n') ++p;
    return {p == end && more_follows ? FieldEnd::Plain : FieldEnd::Stop, offset(p)};
  }
  const QuotedEnd found = quoted_end(p + 1, end);
  if (found.kind == QuotedEnd::Closed) {
    return {FieldEnd::Stop, offset(found.close) + (found.close[1] == '\r' ? 2 : 1)};
  }
  if (found.kind == QuotedEnd::Uncertain && more_follows) return {FieldEnd::Uncertain, at};
  const auto line = std::min(text.find('\n', at), text.size());
  return {line == text.size() && more_follows ? FieldEnd::Line : FieldEnd::Stop, line};
}

std::size_t CsvTokenizer::first_record(std::string_view text) const {
  if (rule_ == Rule::Lines) return text.find('\n') + 1;
  for (std::size_t at = 0;;) {
    at = field_end(text, at, false).at + 1;
    if (at >= text.size() || text[at - 1] == '\n') return std::min(at, text.size());
  }
}

// A field starts at the text's beginning and behind each delimiter and line feed outside quotes. So
// only a quote that stands there opens a value; any other is text.
std::size_t CsvTokenizer::whole_quoted_records(std::string_view text) const {
  const char* begin = text.data();
  const char* end = begin + text.size();
  const char* whole = begin;
  const char* p = begin;  // is outside quotes
  const auto pass_lines = [&](const char* to) {
    const auto last = std::string_view(p, static_cast<std::size_t>(to - p)).rfind('\n');
    if (last != std::string_view::npos) whole = p + last + 1;
    p = to;
  };
  while (p < end) {
    const char* quote = find(p, end, quote_);
    if (quote == nullptr) {
      pass_lines(end);
      break;
    }
    pass_lines(quote);
    if (quote != begin && quote[-1] != delimiter_ && quote[-1] != '\n') {
      p = quote + 1;
      continue;
    }
    const QuotedEnd found = quoted_end(quote + 1, end);
    if (found.kind == QuotedEnd::Uncertain) break;
    if (found.kind == QuotedEnd::Closed) {
      p = found.close + 1;
      continue;
    }
    const char* line = find(quote, end, '\n');
    if (line == nullptr) break;
    p = whole = line + 1;
  }
  return static_cast<std::size_t>(whole - begin);
}

std::size_t CsvTokenizer::whole_records(std::string_view text) const {
  const bool at_lines = rule_ == Rule::Lines || mutant(Mutant::BlocksEndAtLines) ||
                        text.find(quote_) == std::string_view::npos;
  if (at_lines) {
    const auto last = text.rfind('\n');
    return last == std::string_view::npos ? 0 : last + 1;
  }
  if (rule_ == Rule::Quoted) return whole_quoted_records(text);
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
