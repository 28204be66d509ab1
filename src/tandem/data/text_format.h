// SPDX-License-Identifier: Apache-2.0
#pragma once
// How a table is written down as text: what parts its fields, and what its bytes mean.
//
// A private file's format comes from the schema or from the person who names the file, never from
// the file itself.

namespace tandem {

enum class Encoding { Utf8, Latin1, Utf16LittleEndian, Utf16BigEndian };

struct TextFormat {
  Encoding encoding = Encoding::Utf8;
  char delimiter = ',';
  char quote = '"';
  char decimal_mark = '.';  // of numbers; '.' or ','
  bool operator==(const TextFormat&) const = default;
};

}  // namespace tandem
