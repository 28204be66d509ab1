// SPDX-License-Identifier: Apache-2.0
#pragma once
// How a table is written down as text: what parts its fields, and what its bytes mean.
//
// A private file's format comes from the schema or from the person who names the file, never from
// the file itself. A public file's may be sniffed.

#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace tandem {

enum class Encoding { Utf8, Latin1, Utf16LittleEndian, Utf16BigEndian };

// What ends a record of a private file (docs/files.md).
enum class Records {
  Lines,  // a line feed, also inside quotes: a line is a row, whatever its bytes
  Quoted  // a line feed outside quotes, as RFC 4180 has it: a record is a row, on several lines
};

struct TextFormat {
  Encoding encoding = Encoding::Utf8;
  char delimiter = ',';
  char quote = '"';
  char decimal_mark = '.';           // of numbers; '.' or ','
  Records records = Records::Lines;  // public files are always read as Quoted, or refused
  bool operator==(const TextFormat&) const = default;
};

// As a schema or a flag writes it: "utf-8", "latin-1", "utf-16le", "utf-16be".
std::string_view encoding_key(Encoding encoding);
std::optional<Encoding> parse_encoding(std::string_view key);
std::string_view records_key(Records records);  // "lines" or "quoted"
std::optional<Records> parse_records(std::string_view key);
std::optional<char> parse_character(std::string_view text);  // one printable character, or "tab"

std::string_view encoding_name(Encoding encoding);  // "UTF-8", "Latin-1", "UTF-16, little-endian"
std::string describe(const TextFormat& format);     // "UTF-8, fields parted by ';', decimal comma"

// SchemaError when the characters of a format can't be told apart.
void require_usable(const TextFormat& format);

// What is known of a column before its file is read.
struct KnownColumn {
  std::string_view name;
  bool numeric = false;
};

// The format that the first bytes of a PUBLIC file suggest: its encoding, its delimiter among
// , ; tab and |, and its decimal mark. What they don't tell is taken from `likely`, and so are the
// quote and the records. `whole` says that no bytes follow. Without known columns, every field may
// be a number.
TextFormat sniff_format(std::string_view bytes, bool whole, std::span<const KnownColumn> columns,
                        const TextFormat& likely = {});

// A number with ',' for '.' and the other way round; any other text as it is. Its own inverse.
// The text may lie in `room`.
std::string_view swap_decimal_marks(std::string_view text, std::string& room);

}  // namespace tandem
