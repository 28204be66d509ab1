// SPDX-License-Identifier: Apache-2.0
#include "tandem/source/arrow_text.h"

#include <optional>

namespace tandem {

namespace {

class TextSink {
 public:
  TextSink(const CellTexts& texts, TextColumn& out) : texts_(texts), out_(out) {}

  // Of a dictionary, with the texts of its entries.
  TextSink(const CellTexts& texts, TextColumn& out, const TextColumn& entries)
      : texts_(texts), out_(out), entries_(&entries) {}

  void null() { put(texts_.null()); }
  void nowhere() { put(kNowhere); }
  template <class Value>
  void of(const Value& value) {
    put(texts_.of(value));
  }
  void of(std::string_view text, std::size_t /*readable*/) { put(CellTexts::of(text)); }
  void small_decimal(std::int64_t digits, int scale) {
    const std::string text = size_in_digits(digits);
    put(texts_.of(DecimalCell{.negative = digits < 0, .digits = text, .scale = scale}));
  }
  void of_time(std::int64_t microsecond) { put(texts_.of_time(microsecond)); }
  void entry(std::int64_t index) {
    if (entries_ == nullptr || index < 0 || index >= static_cast<std::int64_t>(entries_->rows())) {
      nowhere();
    } else {
      put((*entries_)[static_cast<std::size_t>(index)]);
    }
  }

 private:
  void put(std::string_view text) {
    out_.bytes += text;
    out_.ends.push_back(out_.bytes.size());
  }

  const CellTexts& texts_;
  TextColumn& out_;
  const TextColumn* entries_ = nullptr;
};

}  // namespace

TextColumn texts_of(const ArrowType& type, const ArrowArray& array, std::int64_t first,
                    std::int64_t rows, const CellTexts& texts) {
  TextColumn out;
  out.ends.reserve(static_cast<std::size_t>(rows));
  const ArrowCells cells(type, array);
  if (type.values == nullptr) {
    TextSink sink(texts, out);
    cells.tell(first, rows, sink);
    return out;
  }
  const TextColumn entries =
      texts_of(*type.values, *array.dictionary, 0, array.dictionary->length, texts);
  TextSink sink(texts, out, entries);
  cells.tell(first, rows, sink);
  return out;
}

void append_field(std::string_view value, std::string& to) {
  if (value.find_first_of("\",\r\n") == std::string_view::npos) {
    to += value;
    return;
  }
  to += '"';
  for (const char c : value) {
    if (c == '"') to += '"';
    to += c;
  }
  to += '"';
}

}  // namespace tandem
