// SPDX-License-Identifier: Apache-2.0
#pragma once
// A parser of private rows that is slow and follows docs/files.md word by word, for comparison;
// columns that tell any two texts apart; and texts to try both on.

#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "tandem/base/rng.h"
#include "tandem/data/codec.h"
#include "tandem/data/csv.h"

namespace tandem::test {

using TextRow = std::vector<std::string>;

// A line without its line feed, in which quotes may be left open.
inline TextRow fields_of_line(std::string_view line, const TextFormat& format) {
  TextRow fields;
  std::size_t at = 0;
  for (;;) {
    std::string value;
    bool plain_end = true;  // a carriage return at the line's end is not part of the value
    if (at < line.size() && line[at] == format.quote) {
      bool open = true;
      for (++at; at < line.size() && open;) {
        if (line[at] != format.quote) {
          value += line[at++];
        } else if (at + 1 < line.size() && line[at + 1] == format.quote) {
          value += format.quote;
          at += 2;
        } else {
          open = false;
          ++at;
        }
      }
      if (!open && line.substr(at) == "\r") ++at;
      plain_end = open || (at < line.size() && line[at] != format.delimiter);
    }
    while (at < line.size() && line[at] != format.delimiter) value += line[at++];
    const bool last = at == line.size();
    if (last && plain_end && value.ends_with('\r')) value.pop_back();
    fields.push_back(value);
    if (last) return fields;
    ++at;
  }
}

// Where a quoted value that opens at `open` closes properly, or npos.
inline std::size_t proper_close(std::string_view text, std::size_t open, const TextFormat& format) {
  for (std::size_t at = open + 1; at < text.size(); ++at) {
    if (text[at] != format.quote) continue;
    const auto after = text.substr(at + 1);
    if (after.starts_with(format.quote)) {
      ++at;
      continue;
    }
    const auto value = text.substr(open + 1, at - open - 1);
    const bool ends =
        after.starts_with(format.delimiter) || after.starts_with('\n') || after.starts_with("\r\n");
    const auto lines = 1 + static_cast<std::size_t>(std::ranges::count(value, '\n'));
    return ends && value.size() <= 64'000 && lines <= 1'000 ? at : std::string::npos;
  }
  return std::string::npos;
}

struct ReferenceRows {
  std::vector<TextRow> rows;
  std::vector<std::size_t> first_lines;  // of each row, counted from 0
};

// The rows of a text, without a header.
inline ReferenceRows reference_rows(std::string text, const TextFormat& format) {
  if (!text.empty() && !text.ends_with('\n')) text += '\n';
  ReferenceRows out;
  std::size_t line = 0;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t start = at;
    TextRow row;
    for (bool ended = false; !ended;) {
      const std::size_t line_end = text.find('\n', at);
      const std::string_view rest(text.data() + at, line_end - at);
      const std::size_t close = format.records == Records::Quoted && text[at] == format.quote
                                    ? proper_close(text, at, format)
                                    : std::string::npos;
      if (close != std::string::npos) {
        std::string value;
        for (++at; at < close; ++at) {
          value += text[at];
          if (text[at] == format.quote) ++at;
        }
        row.push_back(value);
        at = close + (text[close + 1] == '\r' ? 2 : 1);
        ended = text[at++] == '\n';
      } else if (format.records == Records::Lines || text[at] == format.quote) {
        for (auto& value : fields_of_line(rest, format)) row.push_back(std::move(value));
        at = line_end + 1;
        ended = true;
      } else {
        const std::size_t stop = std::min(text.find(format.delimiter, at), line_end);
        std::string value = text.substr(at, stop - at);
        ended = stop == line_end;
        if (ended && value.ends_with('\r')) value.pop_back();
        row.push_back(value);
        at = stop + 1;
      }
    }
    out.rows.push_back(std::move(row));
    out.first_lines.push_back(line);
    line +=
        static_cast<std::size_t>(std::count(text.begin() + static_cast<std::ptrdiff_t>(start),
                                            text.begin() + static_cast<std::ptrdiff_t>(at), '\n'));
  }
  return out;
}

// Any text has a code that hardly another has.
class AnyTextCodec final : public Codec {
 public:
  Code size() const override { return 1U << 24; }
  Encoded encode(std::string_view text) const override {
    std::uint32_t hash = 2166136261U;
    for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 16777619U;
    return {(hash ^ hash >> 24) % size(), Fit::Exact};
  }
  void decode(Code code, Rng& /*rng*/, std::string& to) const override {
    to += std::to_string(code);
  }
  std::string expected() const override { return "any text"; }
  std::vector<Truth> compare(Comparison /*comparison*/, std::string_view /*text*/) const override {
    return {};
  }
};

inline Schema any_text_schema(std::size_t columns, const TextFormat& format = {}) {
  std::vector<ColumnSchema> out;
  for (std::size_t c = 0; c < columns; ++c) {
    out.push_back({"c" + std::to_string(c), "", std::make_unique<AnyTextCodec>()});
  }
  return Schema(std::move(out), format);
}

// "c0,c1,c2\n", for any_text_schema.
inline std::string any_text_header(std::size_t columns, const TextFormat& format = {}) {
  std::string out;
  for (std::size_t c = 0; c < columns; ++c) {
    if (c > 0) out += format.delimiter;
    out += "c" + std::to_string(c);
  }
  return out + "\n";
}

using CodeRows = std::vector<std::vector<Code>>;

// The codes of rows: missing values are empty, surplus ones are dropped.
inline CodeRows codes_of(const std::vector<TextRow>& rows, std::size_t columns) {
  const AnyTextCodec codec;
  CodeRows out;
  for (const auto& row : rows) {
    auto& codes = out.emplace_back();
    for (std::size_t c = 0; c < columns; ++c) {
      codes.push_back(codec.encode(c < row.size() ? row[c] : "").code);
    }
  }
  return out;
}

inline CodeRows codes_of(const Table& table) {
  CodeRows out(table.rows());
  for (std::size_t r = 0; r < table.rows(); ++r) {
    for (AttributeId id = 0; id < table.domain().size(); ++id) {
      out[r].push_back(table.column(id)[r]);
    }
  }
  return out;
}

// A random value as it stands in a well-formed record with Records::Quoted.
inline std::string any_value(Rng& rng, const TextFormat& format, bool begins_with_text) {
  static const char* const kPieces[] = {"\n", "\r\n", "\r", "a",      "b c", ",",  ";",   "\t",
                                        "|",  "\"\"", "'",  "\u00e9", "1.5", "\n", "\n\n"};
  std::string value = begins_with_text ? "t" : "";
  for (auto pieces = rng.below(6); pieces > 0; --pieces) value += kPieces[rng.below(15)];
  if (rng.below(100) == 0) value += std::string(rng.below(3000), '\n').substr(0, 900);
  if (rng.below(100) == 0) value += std::string(rng.below(3000), 'n');
  if (rng.below(4) == 0) {  // without quotes
    std::erase_if(value, [&](char c) { return c == '\n' || c == '\r' || c == format.delimiter; });
    if (!value.starts_with(format.quote)) return value;
  }
  std::string quoted(1, format.quote);
  for (const char c : value) {
    if (c == format.quote) quoted += c;
    quoted += c;
  }
  return quoted + format.quote;
}

// A random record that is well-formed by itself. `begins_with_text`: no quoted value of it begins
// with a delimiter or a line end.
inline std::string any_record(Rng& rng, const TextFormat& format, bool begins_with_text = false) {
  std::string record;
  for (auto fields = 1 + rng.below(4); fields > 0; --fields) {
    if (!record.empty()) record += format.delimiter;
    record += any_value(rng, format, begins_with_text);
  }
  return record + (rng.below(3) == 0 ? "\r\n" : "\n");
}

// Texts that parsers trip over.
inline std::string any_odd_text(Rng& rng, const TextFormat& format, bool long_ones) {
  const std::string quote(1, format.quote);
  const std::string delimiter(1, format.delimiter);
  const std::string pieces[] = {quote,
                                quote,
                                delimiter,
                                "\n",
                                "\n",
                                "\r\n",
                                "\r",
                                "x",
                                "yz",
                                quote + quote,
                                delimiter + quote,
                                quote + delimiter,
                                quote + "\n",
                                "\n" + quote,
                                quote + "\r\n",
                                std::string(1, '\0'),
                                "\xc3\xa9",
                                "\"",
                                "'",
                                ";",
                                ",",
                                quote + "a" + quote + delimiter};
  std::string text;
  for (auto count = rng.below(60); count > 0; --count) {
    const auto which = rng.below(long_ones ? std::size(pieces) + 3 : std::size(pieces));
    if (which < std::size(pieces)) {
      text += pieces[which];
    } else if (which == std::size(pieces)) {
      text += std::string(995 + rng.below(8), '\n');
    } else if (which == std::size(pieces) + 1) {
      text += std::string(63'950 + rng.below(60), 'l');
    } else {
      text += std::string(1 + rng.below(9), format.quote);
    }
  }
  return text;
}

}  // namespace tandem::test
