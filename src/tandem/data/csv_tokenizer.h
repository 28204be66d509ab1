// SPDX-License-Identifier: Apache-2.0
#pragma once
// Splits CSV records into fields. The rule that a private row ends with its line lives here.

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

#include "tandem/data/csv.h"

namespace tandem {

// Text given to a tokenizer ends in a line feed, which stops every scan, and so many bytes behind
// it may be read; the same holds for the fields that come back. So eight bytes are looked at once.
inline constexpr std::size_t kCsvPadding = 16;

class CsvTokenizer {
 public:
  CsvTokenizer(RowPolicy policy, char delimiter, char quote)
      : policy_(policy), delimiter_(delimiter), quote_(quote), delimiters_(repeated(delimiter)) {}

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

  // The end of the last whole record in the text, 0 when there is none. Text starts at a record;
  // it needs no padding.
  std::size_t whole_records(std::string_view text) const;

  std::string_view problem() const { return problem_; }

 private:
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

  RowPolicy policy_;
  char delimiter_;
  char quote_;
  std::uint64_t delimiters_;
  std::string unquoted_;
  std::string_view problem_;
};

}  // namespace tandem
