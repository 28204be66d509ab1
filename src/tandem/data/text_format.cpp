// SPDX-License-Identifier: Apache-2.0
#include "tandem/data/text_format.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <optional>
#include <unordered_set>
#include <utility>
#include <vector>

#include "tandem/base/error.h"
#include "tandem/base/text.h"
#include "tandem/data/csv_tokenizer.h"
#include "tandem/data/encoding.h"

namespace tandem {

namespace {

constexpr std::array<char, 4> kDelimiters = {',', ';', '\t', '|'};
constexpr std::size_t kSampledRecords = 100;
constexpr std::string_view kDigits = "0123456789";

using RecordTexts = std::vector<std::vector<std::string>>;

// UTF-16 without a mark: it starts with the ASCII of a header, and much of the rest has a zero in
// the same half too.
std::optional<Encoding> utf16_by_zeros(std::string_view bytes) {
  const auto units = bytes.substr(0, std::min<std::size_t>(bytes.size(), 4096) / 2 * 2);
  if (units.size() < 4) return std::nullopt;
  for (const std::size_t high : {0U, 1U}) {
    std::size_t zeros = 0;
    std::size_t others = 0;
    for (std::size_t i = 0; i < units.size(); i += 2) {
      zeros += units[i + high] == '\0' ? 1 : 0;
      others += units[i + 1 - high] == '\0' ? 1 : 0;
    }
    if (units[high] == '\0' && units[2 + high] == '\0' && zeros >= units.size() / 8 &&
        others == 0) {
      return high == 1 ? Encoding::Utf16LittleEndian : Encoding::Utf16BigEndian;
    }
  }
  return std::nullopt;
}

Encoding sniff_encoding(std::string_view bytes, bool whole, Encoding likely) {
  if (const auto marked = encoding_by_mark(bytes)) return *marked;
  if (const auto utf16 = utf16_by_zeros(bytes)) return *utf16;
  const std::size_t valid = valid_utf8(bytes);
  const bool cut_character = !whole && bytes.size() - valid < 4;
  if (valid < bytes.size() && !cut_character) return Encoding::Latin1;
  // ASCII alone says nothing of what may follow.
  const bool ascii =
      std::ranges::all_of(bytes, [](char c) { return static_cast<unsigned char>(c) < 0x80; });
  return ascii && likely == Encoding::Latin1 ? Encoding::Latin1 : Encoding::Utf8;
}

// The first records with this delimiter, without the last one when it may be cut. Nothing when they
// are no CSV with it.
RecordTexts first_records(std::string_view text, bool whole, char delimiter, char quote) {
  RecordTexts records;
  CsvTokenizer tokenizer(RowPolicy::MustFit, {.delimiter = delimiter, .quote = quote});
  const char* p = text.data();
  const char* end = p + text.size();
  while (p < end && records.size() < kSampledRecords) {
    std::vector<std::string> record;
    for (;; ++p) {
      const auto [field, stop] = tokenizer.next(p, end);
      p = stop;
      if (p == nullptr) return whole || records.empty() ? RecordTexts{} : records;
      record.emplace_back(field);
      if (*p == '\n') break;
    }
    ++p;
    if (p == end && !whole && !records.empty()) break;
    if (record.size() > 1 || !record.front().empty()) records.push_back(std::move(record));
  }
  return records;
}

// How well records look like a table: first by the known names in the header, then by how many
// fields nearly all records have.
std::pair<std::size_t, std::size_t> likeness(const RecordTexts& records,
                                             std::span<const KnownColumn> columns) {
  if (records.empty()) return {0, 0};
  const auto& header = records.front();
  const std::unordered_set<std::string_view> names(header.begin(), header.end());
  const auto known = std::ranges::count_if(
      columns, [&](const KnownColumn& column) { return names.contains(column.name); });
  const auto even = std::ranges::count(records, header.size(), &std::vector<std::string>::size);
  const bool table = 10 * static_cast<std::size_t>(even) >= 9 * records.size();
  return {static_cast<std::size_t>(known), table ? header.size() : 1};
}

// 12.5 has the mark '.', -3,25 has ','; whole numbers, 1,234,567 and texts have none.
struct MarkedNumber {
  char mark = 0;
  std::size_t decimals = 0;
};
MarkedNumber marked_number(std::string_view text) {
  text = trim(text);
  if (text.starts_with('-') || text.starts_with('+')) text.remove_prefix(1);
  const auto mark = text.find_first_not_of(kDigits);
  if (mark == std::string_view::npos || (text[mark] != '.' && text[mark] != ',')) return {};
  const auto decimals = text.substr(mark + 1);
  if (text.size() == 1 || decimals.find_first_not_of(kDigits) != std::string_view::npos) return {};
  return {text[mark], decimals.size()};
}

char sniff_decimal_mark(const RecordTexts& records, std::span<const KnownColumn> columns,
                        char delimiter, char likely) {
  std::size_t points = 0;
  std::size_t commas = 0;
  std::size_t commas_before_three = 0;
  const auto& header = records.front();
  std::unordered_set<std::string_view> numeric;
  for (const auto& column : columns) {
    if (column.numeric) numeric.insert(column.name);
  }
  for (std::size_t i = 0; i < header.size(); ++i) {
    if (!columns.empty() && !numeric.contains(header[i])) continue;
    for (std::size_t r = 1; r < records.size(); ++r) {
      if (i >= records[r].size()) continue;
      const auto [mark, decimals] = marked_number(records[r][i]);
      points += mark == '.' ? 1 : 0;
      commas += mark == ',' ? 1 : 0;
      commas_before_three += mark == ',' && decimals == 3 ? 1 : 0;
    }
  }
  if (points > 0) return '.';
  // 1,234 is twelve hundred in files with commas; where semicolons part the fields, it is about 1.
  if (commas > 0 && (delimiter == ';' || commas_before_three < commas)) return ',';
  return likely;
}

}  // namespace

namespace {

constexpr std::array<std::pair<std::string_view, Encoding>, 4> kEncodings = {
    {{"utf-8", Encoding::Utf8},
     {"latin-1", Encoding::Latin1},
     {"utf-16le", Encoding::Utf16LittleEndian},
     {"utf-16be", Encoding::Utf16BigEndian}}};

}  // namespace

std::string_view encoding_key(Encoding encoding) {
  for (const auto& [key, known] : kEncodings) {
    if (known == encoding) return key;
  }
  throw InternalError("An encoding has no name.");
}

std::optional<Encoding> parse_encoding(std::string_view key) {
  for (const auto& [known, encoding] : kEncodings) {
    if (known == key) return encoding;
  }
  return {};
}

std::string_view records_key(Records records) {
  return records == Records::Quoted ? "quoted" : "lines";
}

std::optional<Records> parse_records(std::string_view key) {
  for (const auto records : {Records::Lines, Records::Quoted}) {
    if (records_key(records) == key) return records;
  }
  return {};
}

std::optional<char> parse_character(std::string_view text) {
  if (text == "tab" || text == "\t") return '\t';
  if (text.size() != 1 || text[0] <= ' ' || text[0] > '~') return {};
  return text[0];
}

std::string_view encoding_name(Encoding encoding) {
  switch (encoding) {
    case Encoding::Utf8:
      return "UTF-8";
    case Encoding::Latin1:
      return "Latin-1";
    case Encoding::Utf16LittleEndian:
      return "UTF-16, little-endian";
    case Encoding::Utf16BigEndian:
      return "UTF-16, big-endian";
  }
  return "";
}

std::string describe(const TextFormat& format) {
  std::string text = fmt::format(
      "{}, fields parted by {}", encoding_name(format.encoding),
      format.delimiter == '\t' ? "tabs" : in_quotes(std::string_view(&format.delimiter, 1)));
  if (format.quote != '"') {
    text += ", quoted by " + in_quotes(std::string_view(&format.quote, 1));
  }
  if (format.decimal_mark == ',') text += ", decimal comma";
  return text;
}

void require_usable(const TextFormat& format) {
  const auto usable = [](char c) {
    const bool alphanumeric =
        (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
    return !alphanumeric && (c == '\t' || (c >= ' ' && c <= '~'));
  };
  if (!usable(format.delimiter) || format.delimiter == '-' || format.delimiter == '.') {
    throw SchemaError("the delimiter can't part fields; choose ',', ';', a tab or '|'.");
  }
  if (!usable(format.quote) || format.quote == '\t' || format.quote == ' ') {
    throw SchemaError("the quote can't enclose values; choose '\"'.");
  }
  if (format.quote == format.delimiter) {
    throw SchemaError("the quote and the delimiter are the same; change one.");
  }
  if (format.decimal_mark != '.' && format.decimal_mark != ',') {
    throw SchemaError("the decimal mark is neither '.' nor ','; choose one of them.");
  }
}

TextFormat sniff_format(std::string_view bytes, bool whole, std::span<const KnownColumn> columns,
                        const TextFormat& likely) {
  TextFormat format = likely;
  format.encoding = sniff_encoding(bytes, whole, likely.encoding);
  if (bytes.starts_with(byte_order_mark(format.encoding))) {
    bytes.remove_prefix(byte_order_mark(format.encoding).size());
  }
  std::string text;
  ToUtf8(format.encoding).append(bytes, text);
  if (!text.ends_with('\n')) text += '\n';
  const std::size_t size = text.size();
  text.append(kCsvPadding, '\n');

  std::vector<char> delimiters = {likely.delimiter};  // first among equals
  for (const char c : kDelimiters) {
    if (c != likely.delimiter && c != likely.quote) delimiters.push_back(c);
  }
  RecordTexts best;
  std::pair<std::size_t, std::size_t> best_likeness = {0, 1};  // any text has one column
  for (const char delimiter : delimiters) {
    RecordTexts records = first_records({text.data(), size}, whole, delimiter, likely.quote);
    if (const auto found = likeness(records, columns); found > best_likeness) {
      best = std::move(records);
      best_likeness = found;
      format.delimiter = delimiter;
    }
  }
  if (!best.empty()) {
    format.decimal_mark = sniff_decimal_mark(best, columns, format.delimiter, likely.decimal_mark);
  }
  return format;
}

std::string_view swap_decimal_marks(std::string_view text, std::string& room) {
  if (text.find_first_of(".,") == std::string_view::npos ||
      text.find_first_not_of("0123456789+-.,eE \t") != std::string_view::npos ||
      text.find_first_of(kDigits) == std::string_view::npos) {
    return text;
  }
  room = text;
  for (char& c : room) c = c == ',' ? '.' : c == '.' ? ',' : c;
  return room;
}

}  // namespace tandem
