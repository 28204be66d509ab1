// SPDX-License-Identifier: Apache-2.0
#include "tandem/data/csv_parser.h"

#include <fmt/core.h>

#include <algorithm>
#include <cstring>

#include "tandem/base/text.h"
#include "tandem/data/csv_columns.h"
#include "tandem/data/encoding.h"
#include "tandem/data/field_memo.h"

namespace tandem {

namespace {

constexpr std::size_t kMostRowsAtOnce = 256;
constexpr std::size_t kMostCodesAtOnce = std::size_t{1} << 16;
constexpr std::size_t kMostMemoColumns = 256;  // beyond, their memory is worth more

std::size_t lines_before(const CsvBlock& block, const char* where) {
  return static_cast<std::size_t>(std::count(block.text().data(), where, '\n'));
}

}  // namespace

// One block on its way.
class BlockParser::Parse {
 public:
  Parse(const BlockParser& parser, const CsvBlock& block)
      : parser_(parser),
        schema_(parser.schema_),
        block_(block),
        must_fit_(parser.policy_ == RowPolicy::MustFit),
        rows_at_once_(std::clamp<std::size_t>(
            kMostCodesAtOnce / std::max<std::size_t>(schema_.columns().size(), 1), 1,
            kMostRowsAtOnce)),
        tokenizer_(parser.policy_, parser.format_) {
    const auto columns = schema_.columns();
    memos_.reserve(columns.size());
    pending_codes_.resize(columns.size() * rows_at_once_);
    if (must_fit_) out_.adapted.resize(columns.size());
    for (std::size_t id = 0; id < columns.size(); ++id) {
      widths_.push_back(code_width(schema_.domain()[static_cast<AttributeId>(id)].size));
      row_bytes_ += widths_.back();
      memos_.emplace_back(*columns[id].codec, columns.size() <= kMostMemoColumns);
    }
    for (std::size_t i = 0; i < parser.attributes_.size(); ++i) {
      Slot slot;
      slot.key = static_cast<int>(i) == parser.key_;
      if (parser.attributes_[i] != kIgnoredColumn) {
        slot.id = static_cast<std::size_t>(parser.attributes_[i]);
        slot.memo = &memos_[slot.id];
        slot.codes = pending_codes_.data() + slot.id * rows_at_once_;
        slot.swapped = parser.format_.decimal_mark == ',' && columns[slot.id].codec->numeric();
      }
      slot.plain = slot.memo != nullptr && !slot.key && !slot.swapped;
      slots_.push_back(slot);
    }
    capacity_ = block.lines();  // a row has a line at least
    out_.codes.resize(row_bytes_ * capacity_);
  }

  ParsedBlock run() {
    if (!find_nul()) {
      const auto text = block_.text();
      const char* p = text.data();
      const char* end = p + text.size();
      while (p < end && p != nullptr) p = is_blank(p) ? after_blank(p) : row(p, end);
    }
    flush();
    pack();
    return std::move(out_);
  }

 private:
  bool find_nul() {
    if (!must_fit_) return false;
    const auto nul = block_.text().find('\0');
    if (nul == std::string_view::npos) return false;
    stop_at(block_.text().data() + nul, fmt::format("a NUL character stands there; is this a text "
                                                    "file in {}?",
                                                    encoding_name(parser_.format_.encoding)));
    return true;
  }

  // Blank lines are no rows, except where one column's empty value looks just so, and in private
  // data, where the number of rows depends on the number of lines alone.
  bool is_blank(const char* p) const {
    return must_fit_ && (*p == '\n' || (*p == '\r' && p[1] == '\n')) && slots_.size() > 1;
  }
  static const char* after_blank(const char* p) { return p + (*p == '\n' ? 1 : 2); }

  // Reads the row at p; what follows it, or nullptr when it's to blame.
  const char* row(const char* p, const char* end) {
    const char* start = p;
    if (parser_.key_ != kIgnoredColumn) out_.keys.emplace_back();
    const Slot* slot = slots_.data();
    const Slot* last = slot + slots_.size();
    for (;; ++p) {
      if (slot < last && slot->plain) {
        const auto [field, stop, word] = tokenizer_.next_short(p);
        if (stop != nullptr) [[likely]] {
          if (!take(*slot, slot->memo->encode_short(field, word))) {
            return misfit(start, *slot, field);
          }
          p = stop;
          ++slot;
          if (*p == '\n') break;
          continue;
        }
      }
      const auto [field, stop] = tokenizer_.next(p, end);
      if (stop == nullptr) return stop_at(start, fmt::format("{}.", tokenizer_.problem()));
      p = stop;
      if (slot == last) {
        ++surplus_;
      } else {
        const bool fits =
            slot->plain ? take(*slot, slot->memo->encode(field)) : odd_field(*slot, field);
        if (!fits) return misfit(start, *slot, field);
        ++slot;
      }
      if (*p == '\n') break;
    }
    if (slot != last || surplus_ > 0) {
      if (must_fit_) return ragged(start, slot);
      surplus_ = 0;
      for (; slot != last; ++slot) odd_field(*slot, {});  // as if empty
    }
    if (parser_.find_broken_ && tokenizer_.take_broken()) note_broken(start);
    if (++pending_ == rows_at_once_) flush();
    return p + 1;
  }

  // A column of the file.
  struct Slot {
    FieldMemo* memo = nullptr;  // none: the column is ignored
    Code* codes = nullptr;
    std::size_t id = 0;
    bool key = false;
    bool swapped = false;  // numbers with decimal commas
    bool plain = false;    // neither of these
  };

  // False when the field doesn't fit and has to.
  bool take(const Slot& slot, Encoded encoded) {
    slot.codes[pending_] = encoded.code;
    if (encoded.fit == Fit::Exact || !must_fit_) return true;
    if (encoded.fit == Fit::Adapted) ++out_.adapted[slot.id];
    return encoded.fit == Fit::Adapted;
  }

  // A field of a column that is more, or less, than a plain one.
  bool odd_field(const Slot& slot, std::string_view field) {
    if (slot.key) out_.keys.back() = person_keys_.of(field);
    if (slot.memo == nullptr) return true;
    const auto& codec = *schema_.columns()[slot.id].codec;
    return take(slot, codec.encode(slot.swapped ? swap_decimal_marks(field, room_) : field));
  }

  const char* ragged(const char* start, const Slot* slot) {
    const auto fields = static_cast<std::size_t>(slot - slots_.data()) + surplus_;
    return stop_at(start, fmt::format("the row has {} field{} and the header {}; mend the row.",
                                      fields, fields == 1 ? "" : "s", slots_.size()));
  }

  const char* misfit(const char* start, const Slot& slot, std::string_view field) {
    const auto& column = schema_.columns()[slot.id];
    if (valid_utf8(field) < field.size()) {
      return stop_at(start, fmt::format("column {} holds bytes that are no UTF-8; state the file's "
                                        "encoding.",
                                        in_quotes(column.name)));
    }
    return stop_at(start,
                   fmt::format("column {} holds {}, which is not {}; mend the file or the schema.",
                               in_quotes(column.name), in_quotes(field), column.codec->expected()));
  }

  const char* stop_at(const char* where, std::string sentence) {
    out_.problem = {block_.first_line() + lines_before(block_, where), std::move(sentence)};
    return nullptr;
  }

  void note_broken(const char* start) {
    const char* from = noted_ == nullptr ? block_.text().data() : noted_;
    noted_line_ += static_cast<std::size_t>(std::count(from, start, '\n'));
    noted_ = start;
    out_.broken.push_back(block_.first_line() + noted_line_);
  }

  // Moves the pending rows to the columns, in each column's width.
  void flush() {
    std::byte* column = out_.codes.data();
    for (std::size_t id = 0; id < widths_.size(); ++id) {
      const Code* from = pending_codes_.data() + id * rows_at_once_;
      std::byte* to = column + out_.rows * widths_[id];
      const auto narrow = [&]<class T>(T /*width*/) {
        for (std::size_t r = 0; r < pending_; ++r) {
          const auto code = static_cast<T>(from[r]);
          std::memcpy(to + r * sizeof(T), &code, sizeof(T));
        }
      };
      if (widths_[id] == 1) {
        narrow(std::uint8_t{});
      } else if (widths_[id] == 2) {
        narrow(std::uint16_t{});
      } else {
        narrow(std::uint32_t{});
      }
      column += widths_[id] * capacity_;
    }
    out_.rows += pending_;
    pending_ = 0;
  }

  // Closes the gaps that lines without a row of their own have left.
  void pack() {
    if (out_.rows == capacity_) return;
    std::size_t from = 0;
    std::size_t to = 0;
    for (const std::size_t width : widths_) {
      std::memmove(out_.codes.data() + to, out_.codes.data() + from, width * out_.rows);
      from += width * capacity_;
      to += width * out_.rows;
    }
    out_.codes.resize(to);
  }

  const BlockParser& parser_;
  const Schema& schema_;
  const CsvBlock& block_;
  bool must_fit_;
  std::size_t rows_at_once_;
  CsvTokenizer tokenizer_;
  std::vector<FieldMemo> memos_;
  std::vector<Slot> slots_;
  std::size_t surplus_ = 0;      // fields of a row beyond the header's
  const char* noted_ = nullptr;  // the last broken row
  std::size_t noted_line_ = 0;   // and the lines before it in the block
  std::string room_;
  PersonKeys person_keys_;
  std::vector<std::size_t> widths_;
  std::size_t row_bytes_ = 0;
  std::size_t capacity_ = 0;
  std::vector<Code> pending_codes_;  // column by column
  std::size_t pending_ = 0;
  ParsedBlock out_;
};

BlockParser::BlockParser(const Schema& schema, std::vector<int> attributes, int key,
                         RowPolicy policy, const TextFormat& format, bool find_broken)
    : schema_(schema),
      attributes_(std::move(attributes)),
      key_(key),
      policy_(policy),
      format_(format),
      find_broken_(find_broken) {}

ParsedBlock BlockParser::parse(const CsvBlock& block) const { return Parse(*this, block).run(); }

}  // namespace tandem
