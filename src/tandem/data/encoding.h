// SPDX-License-Identifier: Apache-2.0
#pragma once
// Between the bytes of a file and UTF-8, the only encoding inside tandem.
//
// Reading is total: bytes that mean nothing become U+FFFD, and each character is read from its own
// bytes alone, so that no row of a file can change how another is read.

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "tandem/data/byte_source.h"
#include "tandem/data/text_format.h"

namespace tandem {

// Bytes that arrive piece by piece, as UTF-8.
class ToUtf8 {
 public:
  explicit ToUtf8(Encoding from) : from_(from) {}
  void append(std::string_view bytes, std::string& to);
  void finish(std::string& to);  // what was left of a character that never ended

 private:
  void append_unit(char16_t unit, std::string& to);

  Encoding from_;
  std::optional<char> odd_byte_;  // the first half of a UTF-16 unit
  std::optional<char16_t> high_;  // the first half of a pair of surrogates
};

// The same file, its bytes as UTF-8. Files in UTF-8 come back as they are, bad bytes too: those
// equal no value of a schema.
std::unique_ptr<ByteSource> as_utf8(std::unique_ptr<ByteSource> source, Encoding from);

// Appends the text in another encoding. Where a character has no place there, nothing more is
// appended and its offset in the text comes back.
std::optional<std::size_t> append_encoded(std::string_view utf8, Encoding as, std::string& to);

// How many bytes from the start are whole characters of UTF-8.
std::size_t valid_utf8(std::string_view text);

// The first bytes that tell an encoding; empty for Latin-1.
std::string_view byte_order_mark(Encoding encoding);
std::optional<Encoding> encoding_by_mark(std::string_view bytes);

}  // namespace tandem
