// SPDX-License-Identifier: Apache-2.0
#pragma once
// Splits CSV records into fields. What ends a private record is decided here, and nowhere else.
//
// Records::Lines: a line feed, also inside quotes. Records::Quoted: a line feed outside quotes,
// where a quoted value closes properly: its closing quote, the first that is not doubled, is
// followed by the delimiter or the end of the record, and at most kLongestQuotedValue bytes on
// kMostQuotedLines lines lie between its quotes. Whether it does is told by those bytes alone. A
// value that doesn't is broken: from its quote on, the record is read as a line and ends with it.

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <utility>

#include "tandem/data/csv.h"

namespace tandem {

// Text given to a tokenizer ends in a line feed, which stops every scan, and so many bytes behind
// it may be read; the same holds for the fields that come back. So eight bytes are looked at once.
inline constexpr std::size_t kCsvPadding = 16;

class CsvTokenizer {
 public:
  // For one text: positions in it are remembered.
  CsvTokenizer(RowPolicy policy, const TextFormat& format)
      : rule_(policy == RowPolicy::MustFit        ? Rule::Strict
              : format.records == Records::Quoted ? Rule::Quoted
                                                  : Rule::Lines),
        delimiter_(format.delimiter),
        quote_(format.quote),
        delimiters_(repeated(format.delimiter)) {}

  struct Token {
    std::string_view field;
    const char* stop;  // what ends the field: the delimiter or a line feed
  };

  // The field at p, valid until the next call. `stop` is nullptr when it is malformed, which
  // happens with RowPolicy::MustFit only; problem() then says why.
  Token next(const char* p, const char* end) {
    if (*p == quote_) return next_quoted(p + 1, end);
    const char* stop = plain_end(p);
    const bool crlf = *stop == '\n' && stop != p && stop[-1] == '\r';
    return {{p, static_cast<std::size_t>(stop - p) - (crlf ? 1 : 0)}, stop};
  }

  // The same, only quicker, for the common field: plain and short. `word` starts with its bytes.
  // Without `stop`, the field at p is another, for next().
  static constexpr std::size_t kShort = 7;
  struct ShortToken {
    std::string_view field;
    const char* stop;
    std::uint64_t word;
  };
  ShortToken next_short(const char* p) const {
    std::uint64_t word = 0;
    if constexpr (std::endian::native != std::endian::little) return {{}, nullptr, 0};
    std::memcpy(&word, p, sizeof word);
    const std::uint64_t found = stops(word);
    if (found == 0 || *p == quote_) return {{}, nullptr, 0};
    const auto size = static_cast<std::size_t>(std::countr_zero(found)) / 8;
    const char* stop = p + size;
    if (*stop == '\n' && size > 0 && stop[-1] == '\r') return {{}, nullptr, 0};
    return {{p, size}, stop, word};
  }

  // Whether a quoted value did not close properly since it was last asked, in a private row.
  bool take_broken() { return std::exchange(broken_, false); }

  // The end of the last whole record in the text, 0 when there is none. Text starts at a record;
  // it needs no padding, and more may follow it.
  std::size_t whole_records(std::string_view text) const;

  // With Records::Quoted: what ends the field at `at`, in a text that needs no padding.
  struct FieldEnd {
    enum Kind {
      Stop,      // the delimiter or line feed at `at`; or the text's end, where nothing follows it
      Plain,     // nothing yet: a value without quotes goes on
      Line,      // nothing yet: the record is read as a line, and goes on to its end
      Uncertain  // more text must tell
    } kind;
    std::size_t at;
  };
  FieldEnd field_end(std::string_view text, std::size_t at, bool more_follows) const;

  // The end of the first record in a text of whole private records.
  std::size_t first_record(std::string_view text) const;

  std::string_view problem() const { return problem_; }

 private:
  enum class Rule { Strict, Lines, Quoted };

  static constexpr std::uint64_t kOnes = 0x0101010101010101ULL;
  static constexpr std::uint64_t repeated(char c) { return kOnes * static_cast<unsigned char>(c); }
  // The lowest set bit is in the lowest byte that is zero; those above may be wrong.
  static constexpr std::uint64_t zero_bytes(std::uint64_t word) {
    return (word - kOnes) & ~word & (kOnes << 7);
  }

  // Where delimiters and line feeds stand in a word; the lowest is right.
  std::uint64_t stops(std::uint64_t word) const {
    return zero_bytes(word ^ delimiters_) | zero_bytes(word ^ repeated('\n'));
  }

  const char* plain_end(const char* p) const {
    if constexpr (std::endian::native == std::endian::little) {
      for (;; p += sizeof(std::uint64_t)) {
        std::uint64_t word = 0;
        std::memcpy(&word, p, sizeof word);
        if (const std::uint64_t found = stops(word); found != 0)
          return p + std::countr_zero(found) / 8;
      }
    }
    while (*p != delimiter_ && *p != '\n') ++p;
    return p;
  }

  Token next_quoted(const char* p, const char* end);
  std::size_t whole_quoted_records(std::string_view text) const;

  // Where a quoted value ends, from what is behind its opening quote on, with Records::Quoted.
  struct QuotedEnd {
    enum Kind { Closed, Broken, Uncertain } kind;
    const char* close;     // the closing quote
    bool doubled = false;  // there are quotes inside
  };
  QuotedEnd quoted_end(const char* p, const char* end) const;

  Rule rule_;
  char delimiter_;
  char quote_;
  std::uint64_t delimiters_;
  std::string unquoted_;
  std::string_view problem_;
  const char* line_end_ = nullptr;  // of the line that a broken record is read as
  bool broken_ = false;
};

}  // namespace tandem
