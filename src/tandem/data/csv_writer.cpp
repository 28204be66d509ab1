// SPDX-License-Identifier: Apache-2.0
#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <functional>
#include <utility>

#include "tandem/base/check.h"
#include "tandem/base/text.h"
#include "tandem/data/csv.h"
#include "tandem/data/encoding.h"
#include "tandem/data/related_values.h"

namespace tandem {

namespace {

constexpr std::size_t kFirstBytes = std::size_t{1} << 12;
constexpr std::size_t kWriteBytes = std::size_t{1} << 20;
constexpr std::size_t kCellsAtOnce = std::size_t{1} << 15;
constexpr Code kMostKeptTexts = 1U << 12;

// A field as it stands in the file: quoted where a reader would misunderstand it.
class FieldWriter {
 public:
  FieldWriter(const TextFormat& format, bool only_column)
      : quote_(format.quote), only_column_(only_column) {
    for (const char c : {format.delimiter, format.quote, '\r', '\n'}) {
      special_[static_cast<unsigned char>(c)] = true;
    }
  }

  void append(std::string_view text, std::string& to) const {
    const bool plain = std::ranges::none_of(
                           text, [&](char c) { return special_[static_cast<unsigned char>(c)]; }) &&
                       !(text.empty() && only_column_) &&
                       !text.starts_with(byte_order_mark(Encoding::Utf8));
    if (plain) {
      to += text;
      return;
    }
    to += quote_;
    for (const char c : text) {
      if (c == quote_) to += quote_;
      to += c;
    }
    to += quote_;
  }

 private:
  std::array<bool, 256> special_{};
  char quote_;
  bool only_column_;
};

// Text that grows by small pieces, cheaply.
class TextBuffer {
 public:
  static constexpr std::size_t kPiece = 16;

  void append(std::string_view text) {
    make_room(text.size());
    std::memcpy(bytes_.data() + size_, text.data(), text.size());
    size_ += text.size();
  }
  void append(char c) {
    make_room(1);
    bytes_[size_++] = c;
  }
  // The first `size` of kPiece bytes, all of which are copied: no call, no loop.
  void append_piece(const char* piece, std::size_t size) {
    make_room(kPiece);
    std::memcpy(bytes_.data() + size_, piece, kPiece);
    size_ += size;
  }

  std::string_view text() const { return {bytes_.data(), size_}; }
  std::size_t size() const { return size_; }
  void clear() { size_ = 0; }

 private:
  void make_room(std::size_t more) {
    if (size_ + more > bytes_.size()) bytes_.resize(2 * (size_ + more));
  }

  std::string bytes_ = std::string(kFirstBytes, '\0');
  std::size_t size_ = 0;
};

// The fields of one column. Most codes have one text, which is worked out once and kept.
class ColumnWriter {
 public:
  ColumnWriter(const Codec& codec, const FieldWriter& fields, char decimal_mark)
      : codec_(codec), fields_(fields), swap_(codec.numeric() && decimal_mark == ',') {
    if (codec.size() <= kMostKeptTexts) kept_.resize(codec.size());
  }

  void append(Code code, Rng& rng, TextBuffer& to) {
    if (code < kept_.size() && kept_[code].size != kNotKept) {
      to.append_piece(kept_[code].text.data(), kept_[code].size);
    } else {
      append_decoded(code, rng, to);
    }
  }

  void append_tick(std::int64_t tick, TextBuffer& to) {
    text_.clear();
    codec_.ranges()->line().print(tick, text_);
    append_text(to);
  }

  void append_text(const std::string& text, TextBuffer& to) {
    text_ = text;
    append_text(to);
  }

 private:
  static constexpr std::uint8_t kNotKept = 255;
  struct Kept {
    std::array<char, TextBuffer::kPiece> text{};
    std::uint8_t size = kNotKept;
  };

  void append_decoded(Code code, Rng& rng, TextBuffer& to) {
    const Rng before = rng;
    text_.clear();
    codec_.decode(code, rng, text_);
    append_text(to);
    // A codec that drew nothing for this code never will, so its text is always the same.
    if (code < kept_.size() && field_.size() <= TextBuffer::kPiece && rng == before) {
      kept_[code].size = static_cast<std::uint8_t>(field_.size());
      std::ranges::copy(field_, kept_[code].text.begin());
    }
  }

  void append_text(TextBuffer& to) {
    field_.clear();
    fields_.append(swap_ ? swap_decimal_marks(text_, swapped_) : text_, field_);
    to.append(field_);
  }

  const Codec& codec_;
  const FieldWriter& fields_;
  bool swap_;
  std::vector<Kept> kept_;  // by code
  std::string text_;
  std::string swapped_;
  std::string field_;
};

// The fields of a row, in the order of the file: measured columns, and derived ones between them.
class RowWriter {
 public:
  RowWriter(const Schema& schema, const Table& table, const FieldWriter& fields)
      : derived_(schema.relations().derived),
        related_(schema, table),
        values_(schema.columns().size()),
        delimiter_(schema.format().delimiter) {
    const char mark = schema.format().decimal_mark;
    for (const auto& column : schema.columns()) measured_.emplace_back(*column.codec, fields, mark);
    for (const auto& some : derived_) computed_.emplace_back(*some.column.codec, fields, mark);
  }

  void append(std::span<const Code> row, Rng& rng, TextBuffer& to) {
    related_.draw(row, rng, values_);
    std::size_t next = 0;  // of the derived columns
    for (std::size_t c = 0; c <= row.size(); ++c) {
      for (; next < derived_.size() && derived_[next].before == c; ++next) {
        if (c + next > 0) to.append(delimiter_);
        if (const auto tick = derived_[next].tick(values_)) {
          computed_[next].append_tick(*tick, to);
        } else {
          computed_[next].append_text(derived_[next].column.null_text, to);
        }
      }
      if (c == row.size()) break;
      if (c + next > 0) to.append(delimiter_);
      if (related_.has(static_cast<AttributeId>(c)) && values_[c]) {
        measured_[c].append_tick(*values_[c], to);
      } else {
        measured_[c].append(row[c], rng, to);
      }
    }
    to.append('\n');
  }

 private:
  const std::vector<Derived>& derived_;
  RelatedValues related_;
  std::vector<std::optional<std::int64_t>> values_;  // of the related columns
  char delimiter_;
  std::vector<ColumnWriter> measured_;
  std::vector<ColumnWriter> computed_;
};

// The names of all columns, in the order of the file.
std::vector<std::string> names_in_file(const Schema& schema) {
  std::vector<std::string> out;
  for (const auto& column : schema.columns()) out.push_back(column.name);
  const auto& derived = schema.relations().derived;
  for (std::size_t i = 0; i < derived.size(); ++i) {
    out.insert(out.begin() + static_cast<std::ptrdiff_t>(derived[i].before + i),
               derived[i].column.name);
  }
  return out;
}

class OutputFile {
 public:
  OutputFile(const std::string& path, Encoding encoding)
      : path_(path), encoding_(encoding), file_(std::fopen(path.c_str(), "wb")) {
    if (file_ == nullptr) fail();
    // Spreadsheets know UTF-16 by its mark, and trip over that of UTF-8.
    if (encoding != Encoding::Utf8) write_bytes(byte_order_mark(encoding));
  }
  ~OutputFile() {
    if (file_ != nullptr) std::fclose(file_);
  }
  OutputFile(const OutputFile&) = delete;
  OutputFile& operator=(const OutputFile&) = delete;

  void write(std::string_view text) {
    if (encoding_ == Encoding::Utf8) {
      write_bytes(text);
      return;
    }
    encoded_.clear();
    if (append_encoded(text, encoding_, encoded_)) {
      throw SchemaError(fmt::format(
          "{} can't be written: a value has a character that {} lacks; state another encoding.",
          path_, encoding_name(encoding_)));
    }
    write_bytes(encoded_);
  }
  void close() {
    if (std::fclose(std::exchange(file_, nullptr)) != 0) fail();
  }

 private:
  void write_bytes(std::string_view bytes) {
    if (std::fwrite(bytes.data(), 1, bytes.size(), file_) != bytes.size()) fail();
  }
  [[noreturn]] void fail() const {
    throw SourceError(fmt::format("{} can't be written ({}).", path_, std::strerror(errno)));
  }

  std::string path_;
  Encoding encoding_;
  std::string encoded_;
  std::FILE* file_;
};

}  // namespace

void check_writable(const Schema& schema) {
  const Encoding encoding = schema.format().encoding;
  std::string scratch;
  const auto check_text = [&](std::string_view text, const ColumnSchema& column) {
    scratch.clear();
    if (append_encoded(text, encoding, scratch)) {
      throw SchemaError(
          fmt::format("column {}: {} has a character that {} lacks; state another encoding.",
                      in_quotes(column.name), in_quotes(text), encoding_name(encoding)));
    }
  };
  for (const auto& column : schema.columns()) {
    check_text(column.name, column);
    for (const auto& label : column.codec->labels()) check_text(label, column);
  }
  for (const auto& derived : schema.relations().derived) {
    check_text(derived.column.name, derived.column);
    check_text(derived.column.null_text, derived.column);
  }
}

namespace {

void write_rows(const Schema& schema, const Table& table, Rng& rng,
                const std::function<void(std::string_view)>& write) {
  check(schema.domain() == table.domain(), "a table is written with its own schema");
  const TextFormat& format = schema.format();
  require_usable(format);
  const std::size_t attributes = schema.columns().size();
  const auto names = names_in_file(schema);
  const FieldWriter fields(format, names.size() == 1);
  RowWriter row(schema, table, fields);
  std::string header;
  for (const auto& name : names) {
    if (&name != &names.front()) header += format.delimiter;
    fields.append(name, header);
  }

  write(header + "\n");
  // Codes are fetched column by column, a few rows at a time, and written row by row.
  const std::size_t at_once = kCellsAtOnce / std::max<std::size_t>(attributes, 1) + 1;
  std::vector<Code> codes(at_once * attributes);
  TextBuffer text;
  for (std::size_t first = 0; first < table.rows(); first += at_once) {
    const std::size_t rows = std::min(at_once, table.rows() - first);
    for (std::size_t c = 0; c < attributes; ++c) {
      table.column(static_cast<AttributeId>(c)).visit([&](auto column) {
        for (std::size_t r = 0; r < rows; ++r) codes[r * attributes + c] = column[first + r];
      });
    }
    for (std::size_t r = 0; r < rows; ++r) {
      row.append(std::span(codes).subspan(r * attributes, attributes), rng, text);
    }
    if (text.size() > kWriteBytes / 2) {
      write(text.text());
      text.clear();
    }
  }
  write(text.text());
}

}  // namespace

void write_csv(const std::string& path, const Schema& schema, const Table& table, Rng& rng) {
  check_writable(schema);
  OutputFile file(path, schema.format().encoding);
  write_rows(schema, table, rng, [&](std::string_view text) { file.write(text); });
  file.close();
}

std::string csv_text(const Schema& schema, const Table& table, Rng& rng) {
  std::string out;
  write_rows(schema, table, rng, [&](std::string_view text) { out += text; });
  return out;
}

}  // namespace tandem
