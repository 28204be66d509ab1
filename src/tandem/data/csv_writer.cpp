// SPDX-License-Identifier: Apache-2.0
#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <utility>

#include "tandem/base/check.h"
#include "tandem/base/text.h"
#include "tandem/data/csv.h"
#include "tandem/data/encoding.h"

namespace tandem {

namespace {

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

// The fields of one column. Most codes have one text, which is worked out once and kept.
class ColumnWriter {
 public:
  ColumnWriter(const Codec& codec, const FieldWriter& fields, char decimal_mark)
      : codec_(codec), fields_(fields), swap_(codec.numeric() && decimal_mark == ',') {
    if (codec.size() <= kMostKeptTexts) kept_.resize(codec.size());
  }

  void append(Code code, Rng& rng, std::string& to) {
    if (code < kept_.size() && !kept_[code].empty()) {
      to += kept_[code];
      return;
    }
    const Rng before = rng;
    text_.clear();
    codec_.decode(code, rng, text_);
    const std::size_t start = to.size();
    fields_.append(swap_ ? swap_decimal_marks(text_, swapped_) : text_, to);
    // A codec that drew nothing for this code never will, so its text is always the same.
    if (code < kept_.size() && rng == before) kept_[code] = to.substr(start);
  }

 private:
  const Codec& codec_;
  const FieldWriter& fields_;
  bool swap_;
  std::vector<std::string> kept_;  // by code; empty: not known, or drawn each time
  std::string text_;
  std::string swapped_;
};

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
}

void write_csv(const std::string& path, const Schema& schema, const Table& table, Rng& rng) {
  check(schema.domain() == table.domain(), "a table is written with its own schema");
  const TextFormat& format = schema.format();
  require_usable(format);
  check_writable(schema);
  const std::size_t attributes = schema.columns().size();
  const FieldWriter fields(format, attributes == 1);
  std::vector<ColumnWriter> columns;
  std::string text;
  for (const auto& column : schema.columns()) {
    if (!columns.empty()) text += format.delimiter;
    fields.append(column.name, text);
    columns.emplace_back(*column.codec, fields, format.decimal_mark);
  }
  text += '\n';

  OutputFile file(path, format.encoding);
  // Codes are fetched column by column, a few rows at a time, and written row by row.
  const std::size_t at_once = kCellsAtOnce / std::max<std::size_t>(attributes, 1) + 1;
  std::vector<Code> codes(at_once * attributes);
  for (std::size_t first = 0; first < table.rows(); first += at_once) {
    const std::size_t rows = std::min(at_once, table.rows() - first);
    for (std::size_t c = 0; c < attributes; ++c) {
      table.column(static_cast<AttributeId>(c)).visit([&](auto column) {
        for (std::size_t r = 0; r < rows; ++r) codes[r * attributes + c] = column[first + r];
      });
    }
    for (std::size_t r = 0; r < rows; ++r) {
      for (std::size_t c = 0; c < attributes; ++c) {
        if (c > 0) text += format.delimiter;
        columns[c].append(codes[r * attributes + c], rng, text);
      }
      text += '\n';
    }
    if (text.size() > kWriteBytes) {
      file.write(text);
      text.clear();
    }
  }
  file.write(text);
  file.close();
}

}  // namespace tandem
