// SPDX-License-Identifier: Apache-2.0
#include "tandem/data/row_encoder.h"

#include <fmt/core.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "tandem/base/check.h"
#include "tandem/base/error.h"
#include "tandem/base/text.h"
#include "tandem/data/arrow_cells.h"
#include "tandem/data/column_coder.h"
#include "tandem/data/rules.h"

namespace tandem {

namespace {

constexpr std::int64_t kAtOnce = 4096;  // codes that wait to be put into their width
constexpr std::int64_t kWorthThreads = 20'000;

// Codes of cells, one after the other.
class CodeSink {
 public:
  CodeSink(ColumnCoder& coder, Code* out) : coder_(coder), out_(out) {}

  void null() { *out_++ = coder_.null(); }
  void nowhere() { *out_++ = coder_.nowhere(); }
  template <class Value>
  void of(const Value& value) {
    *out_++ = coder_.of(value);
  }
  void of(std::string_view text, std::size_t readable) { *out_++ = coder_.of(text, readable); }
  void small_decimal(std::int64_t digits, int scale) {
    *out_++ = coder_.of_small_decimal(digits, scale);
  }
  void of_time(std::int64_t microsecond) { *out_++ = coder_.of_time(microsecond); }
  void entry(std::int64_t /*index*/) { nowhere(); }  // of a dictionary inside a dictionary: refused

 private:
  ColumnCoder& coder_;
  Code* out_;
};

// The same of a dictionary's indices. The codes of its entries are found when they are met.
class EntrySink {
 public:
  EntrySink(ColumnCoder& coder, const ArrowCells& entries, std::vector<Code>& known, Code* out)
      : coder_(coder), entries_(entries), known_(known), out_(out) {}

  void null() { *out_++ = coder_.null(); }
  void entry(std::int64_t index) {
    if (index < 0 || index >= static_cast<std::int64_t>(known_.size())) {
      *out_++ = coder_.nowhere();
      return;
    }
    Code& code = known_[static_cast<std::size_t>(index)];
    if (code == kUnknown) {
      CodeSink sink(coder_, &code);
      entries_.tell(index, 1, sink);
    }
    *out_++ = code;
  }
  void nowhere() { *out_++ = coder_.nowhere(); }
  template <class Value>
  void of(const Value& /*value*/) {
    nowhere();
  }
  void of(std::string_view /*text*/, std::size_t /*readable*/) { nowhere(); }
  void small_decimal(std::int64_t /*digits*/, int /*scale*/) { nowhere(); }
  void of_time(std::int64_t /*microsecond*/) { nowhere(); }

  static constexpr Code kUnknown = ~Code{0};

 private:
  ColumnCoder& coder_;
  const ArrowCells& entries_;
  std::vector<Code>& known_;
  Code* out_;
};

// Whom cells name. No value names nobody, whatever the schema writes for it.
class PersonSink {
 public:
  PersonSink(const CellTexts& texts, PersonKeys& keys, PersonKey* out,
             const ArrowCells* entries = nullptr)
      : texts_(texts), keys_(keys), out_(out), entries_(entries) {}

  void null() { *out_++ = {}; }
  void nowhere() { *out_++ = keys_.of(kNowhere); }
  void of(double value) { std::isnan(value) ? null() : put(texts_.of(value)); }
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
    if (entries_ == nullptr || index < 0 || index >= length_) {
      nowhere();
      return;
    }
    PersonSink one(texts_, keys_, out_++);
    entries_->tell(index, 1, one);
  }
  void with_entries(std::int64_t length) { length_ = length; }

 private:
  void put(std::string_view text) { *out_++ = keys_.of(text); }

  const CellTexts& texts_;
  PersonKeys& keys_;
  PersonKey* out_;
  const ArrowCells* entries_;
  std::int64_t length_ = 0;
};

std::string what_no_schema_has(const ArrowSchema& schema) {
  const std::string_view format =
      schema.dictionary != nullptr ? schema.dictionary->format : schema.format;
  if (format.starts_with("tD")) return "durations";
  if (format.starts_with("ti")) return "intervals";
  if (format.starts_with("w:")) return "bytes of a fixed size";
  if (format.starts_with("+s")) return "structs";
  if (format.starts_with("+m")) return "maps";
  if (format.starts_with("+u")) return "unions";
  if (format.starts_with("+r")) return "runs";
  return "lists";
}

[[noreturn]] void refuse_batch() {
  throw UsageError(
      "A batch of the rows is no Arrow array of its schema; hand over what the frame library "
      "gives, unchanged.");
}

// Whether each child that it counts is there.
template <class Structure>
bool has_children(const Structure& structure) {
  if (structure.n_children <= 0) return structure.n_children == 0;
  return structure.children != nullptr &&
         std::all_of(structure.children, structure.children + structure.n_children,
                     [](const Structure* child) { return child != nullptr; });
}

// The codes of one column, in its own width.
Column coded_column(Code size, std::int64_t rows, ColumnCoder& coder, const ArrowType& type,
                    const ArrowArray& array, std::int64_t first) {
  Column out(size, static_cast<std::size_t>(rows));
  const ArrowCells cells(type, array);
  std::optional<ArrowCells> entries;
  std::vector<Code> known;
  if (type.values != nullptr) {
    entries.emplace(*type.values, *array.dictionary);
    known.assign(static_cast<std::size_t>(array.dictionary->length), EntrySink::kUnknown);
  }
  std::vector<Code> codes(static_cast<std::size_t>(std::min(rows, kAtOnce)));
  for (std::int64_t done = 0; done < rows; done += kAtOnce) {
    const std::int64_t some = std::min(rows - done, kAtOnce);
    if (entries) {
      EntrySink sink(coder, *entries, known, codes.data());
      cells.tell(first + done, some, sink);
    } else {
      CodeSink sink(coder, codes.data());
      cells.tell(first + done, some, sink);
    }
    out.visit([&](auto to) {
      using T = typename decltype(to)::value_type;
      std::transform(codes.begin(), codes.begin() + some, to.begin() + done,
                     [](Code code) { return static_cast<T>(code); });
    });
  }
  return out;
}

}  // namespace

struct RowEncoder::Plan {
  std::string formats;                // of the batches that it was made for
  std::vector<std::size_t> children;  // of each attribute
  std::vector<ArrowType> types;
  std::size_t person_child = 0;
  ArrowType person_type;
  std::vector<ColumnCoder> coders;
  CellTexts person_texts;
  PersonKeys person_keys;
};

RowEncoder::RowEncoder(const Schema& schema, std::string person)
    : schema_(&schema), person_(std::move(person)), plan_(std::make_unique<Plan>()) {
  for (const auto& column : schema.columns()) {
    plan_->coders.emplace_back(column);
    if (column.name == person_) plan_->person_texts = CellTexts(column);
  }
}
RowEncoder::~RowEncoder() = default;
RowEncoder::RowEncoder(RowEncoder&&) noexcept = default;
RowEncoder& RowEncoder::operator=(RowEncoder&&) noexcept = default;

void RowEncoder::check_columns(const ArrowSchema& batches) {
  std::string formats;
  if (!has_children(batches)) refuse_batch();
  for (std::int64_t i = 0; i < batches.n_children; ++i) {
    const ArrowSchema& child = *batches.children[i];
    formats += fmt::format("{}\n{}\n{}\n", child.name == nullptr ? "" : child.name,
                           child.format == nullptr ? "" : child.format,
                           child.dictionary == nullptr || child.dictionary->format == nullptr
                               ? ""
                               : child.dictionary->format);
  }
  if (!formats.empty() && formats == plan_->formats) return;
  if (batches.format == nullptr || std::string_view(batches.format) != "+s") {
    throw UsageError(
        "The private data is no table of columns; hand over a frame, a table or record batches.");
  }
  const auto find = [&](const std::string& name) -> std::optional<std::size_t> {
    std::optional<std::size_t> found;
    for (std::int64_t i = 0; i < batches.n_children; ++i) {
      if (batches.children[i]->name == nullptr || batches.children[i]->name != name) continue;
      if (found) {
        throw UsageError(fmt::format("The private data has two columns {}; rename or drop one.",
                                     in_quotes(name)));
      }
      found = static_cast<std::size_t>(i);
    }
    return found;
  };
  const auto type_of = [&](std::size_t child, const std::string& name) {
    const ArrowSchema& schema = *batches.children[child];
    ArrowType type = arrow_type(schema);
    const auto layout = type.values != nullptr ? type.values->layout : type.layout;
    if (layout == ArrowType::Layout::Nested || layout == ArrowType::Layout::Nowhere) {
      throw UsageError(fmt::format(
          "The column {} of the private data holds {}; give one number, text or date in each cell.",
          in_quotes(name), what_no_schema_has(schema)));
    }
    return type;
  };
  plan_->children.clear();
  plan_->types.clear();
  for (const auto& attribute : schema_->domain().attributes()) {
    const auto child = find(attribute.name);
    if (!child) {
      throw UsageError(
          fmt::format("The private data has no column {}, which the schema names; add it, or take "
                      "it out of the schema.",
                      in_quotes(attribute.name)));
    }
    plan_->children.push_back(*child);
    plan_->types.push_back(type_of(*child, attribute.name));
  }
  if (has_persons()) {
    const auto child = find(person_);
    if (!child) {
      throw UsageError(fmt::format("The private data has no column {}, which " TANDEM_SETTING(
                                       "person") " names; check its name.",
                                   in_quotes(person_)));
    }
    plan_->person_child = *child;
    plan_->person_type = type_of(*child, person_);
  }
  plan_->formats = std::move(formats);
}

CodedRows RowEncoder::encode(const ArrowArray& batch, const ArrowSchema& schema,
                             const Threads& threads) {
  check_columns(schema);
  Plan& plan = *plan_;
  const std::int64_t rows = batch.length;
  if (batch.n_children != schema.n_children || batch.offset < 0 || rows < 0 ||
      !has_children(batch)) {
    refuse_batch();
  }
  const auto child_of = [&](std::size_t child, const ArrowType& type) -> const ArrowArray& {
    const ArrowArray& array = *batch.children[child];
    check_array(type, array, batch.offset, rows);
    return array;
  };
  const auto attributes = static_cast<AttributeId>(schema_->domain().size());
  std::vector<const ArrowArray*> arrays;
  for (AttributeId id = 0; id < attributes; ++id) {
    arrays.push_back(&child_of(plan.children[id], plan.types[id]));
  }
  std::vector<std::optional<Column>> columns(attributes);
  CodedRows out;
  const bool alone = rows < kWorthThreads;
  parallel_for(attributes + (has_persons() ? 1 : 0), alone ? threads.one() : threads,
               [&](std::size_t i) {
                 if (i < attributes) {
                   const auto id = static_cast<AttributeId>(i);
                   columns[id] = coded_column(schema_->domain()[id].size, rows, plan.coders[id],
                                              plan.types[id], *arrays[id], batch.offset);
                   return;
                 }
                 const ArrowArray& array = child_of(plan.person_child, plan.person_type);
                 const ArrowCells cells(plan.person_type, array);
                 std::optional<ArrowCells> entries;
                 if (plan.person_type.values != nullptr) {
                   entries.emplace(*plan.person_type.values, *array.dictionary);
                 }
                 out.persons.resize(static_cast<std::size_t>(rows));
                 PersonSink sink(plan.person_texts, plan.person_keys, out.persons.data(),
                                 entries ? &*entries : nullptr);
                 if (entries) sink.with_entries(array.dictionary->length);
                 cells.tell(batch.offset, rows, sink);
               });
  std::vector<Column> coded;
  for (auto& column : columns) coded.push_back(std::move(*column));
  out.table = Table(schema_->domain(), std::move(coded));
  // A row that is null as a whole has no value in any column.
  for (std::int64_t r = 0; batch.null_count != 0 && r < rows; ++r) {
    if (!is_null_row(batch, r)) continue;
    const auto row = static_cast<std::size_t>(r);
    for (AttributeId id = 0; id < attributes; ++id) {
      out.table.column(id).set(row, plan.coders[id].null());
    }
    if (has_persons()) out.persons[row] = {};
  }
  mend_rows(schema_->row_rules(), out.table);
  return out;
}

}  // namespace tandem
