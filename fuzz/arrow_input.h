// SPDX-License-Identifier: Apache-2.0
#pragma once
// Arrow structures made of bytes, as a hostile producer may fill them. A buffer has the length that
// the array claims, since no reader can see more of that; whatever a reader can check may be wrong:
// formats, numbers of children and buffers, missing buffers, offsets, indices, lengths.

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "input.h"
#include "tandem/base/error.h"
#include "tandem/data/arrow_cells.h"

namespace tandem::fuzz {

// The input, byte by byte; zeros behind its end.
class Bytes {
 public:
  Bytes(const std::uint8_t* data, std::size_t size) : at_(data), end_(data + size) {}

  bool any() const { return at_ != end_; }
  std::uint8_t byte() { return at_ == end_ ? 0 : *at_++; }
  std::uint8_t below(int most) { return static_cast<std::uint8_t>(byte() % most); }
  bool one_in(int n) { return byte() % n == n - 1; }
  std::string text(std::size_t most) {
    std::string out;
    for (std::size_t left = byte() % (most + 1); left > 0; --left) {
      out += static_cast<char>(byte());
    }
    return out;
  }
  // Bytes of the input, or one kind of byte, or many that follow from one.
  void fill(std::vector<unsigned char>& to) {
    const int how = below(4);
    std::uint64_t seed = byte();
    for (auto& byte_of : to) {
      seed = seed * 0x5851f42d4c957f2dULL + 0x14057b7ef767814fULL;
      byte_of = how == 0   ? byte()
                : how == 1 ? 0
                : how == 2 ? static_cast<unsigned char>(seed >> 56)
                           : static_cast<unsigned char>(seed >> 62);
    }
  }

 private:
  const std::uint8_t* at_;
  const std::uint8_t* end_;
};

// One column, or a dictionary of one. Structures made of it point into it.
struct ArrowNode {
  std::string format;
  std::string name;
  bool has_format = true;
  std::int64_t length = 0;
  std::int64_t nulls = 0;
  std::int64_t offset = 0;
  std::int64_t buffer_count = 0;
  std::vector<std::vector<unsigned char>> buffers;
  std::vector<const void*> pointers;
  bool has_buffers = true;
  bool tame = true;  // its offsets, if it has some, ascend
  std::unique_ptr<ArrowNode> dictionary;
  ArrowSchema dictionary_schema{};
  ArrowArray dictionary_array{};

  // Structures that nobody need release: who made the batch owns the node.
  ArrowSchema schema() {
    ArrowSchema out{};
    out.format = has_format ? format.c_str() : nullptr;
    out.name = name.c_str();
    out.flags = ARROW_FLAG_NULLABLE;
    if (dictionary) {
      dictionary_schema = dictionary->schema();
      out.dictionary = &dictionary_schema;
    }
    out.release = [](ArrowSchema* self) { self->release = nullptr; };
    return out;
  }
  ArrowArray array() {
    ArrowArray out{};
    out.length = length;
    out.null_count = nulls;
    out.offset = offset;
    out.n_buffers = buffer_count;
    out.buffers = has_buffers ? pointers.data() : nullptr;
    if (dictionary) {
      dictionary_array = dictionary->array();
      out.dictionary = &dictionary_array;
    }
    out.release = [](ArrowArray* self) { self->release = nullptr; };
    return out;
  }
};

namespace inside {

inline constexpr std::array kFormats = {"u",
                                        "l",
                                        "g",
                                        "b",
                                        "n",
                                        "c",
                                        "C",
                                        "s",
                                        "S",
                                        "i",
                                        "I",
                                        "L",
                                        "e",
                                        "f",
                                        "U",
                                        "vu",
                                        "z",
                                        "Z",
                                        "vz",
                                        "w:3",
                                        "d:9,2",
                                        "d:38,0",
                                        "tdD",
                                        "tdm",
                                        "tts",
                                        "ttm",
                                        "ttu",
                                        "ttn",
                                        "tss:",
                                        "tDs",
                                        "tiM",
                                        "+l",
                                        "+s",
                                        "+m",
                                        "+ud:0",
                                        "+r",
                                        "tsm:UTC",
                                        "d:5,-3,32",
                                        "d:70,4,256",
                                        "d:12,1000,64",
                                        "tsu:Europe/Berlin",
                                        "tsn:+05:30"};

// Bytes of one value; 0: none, or not of one size.
inline std::size_t width(const ArrowType& type) {
  using Layout = ArrowType::Layout;
  switch (type.layout) {
    case Layout::Int8:
    case Layout::UInt8:
      return 1;
    case Layout::Int16:
    case Layout::UInt16:
    case Layout::Half:
      return 2;
    case Layout::Int32:
    case Layout::UInt32:
    case Layout::Float:
    case Layout::Date32:
      return 4;
    case Layout::Int64:
    case Layout::UInt64:
    case Layout::Double:
    case Layout::Date64:
    case Layout::Moment:
      return 8;
    case Layout::Decimal:
    case Layout::Time:
      return static_cast<std::size_t>(type.bits / 8);
    case Layout::TextView:
      return 16;
    default:
      return 0;
  }
}

template <class Offset>
std::vector<unsigned char> offsets(Bytes& from, std::size_t values, std::size_t bytes, bool tame) {
  std::vector<Offset> out(values + 1, 0);
  for (auto& offset : out) {
    offset = tame ? static_cast<Offset>(from.byte() % (bytes + 1))
                  : static_cast<Offset>(static_cast<Offset>(from.byte() % (bytes + 9)) - 4);
  }
  if (tame) std::ranges::sort(out);
  if (!tame && from.one_in(4))
    out[from.byte() % out.size()] = static_cast<Offset>(~Offset{0} << 30);
  out.back() = static_cast<Offset>(bytes);  // what the buffer of texts is as long as
  std::vector<unsigned char> raw(out.size() * sizeof(Offset));
  std::memcpy(raw.data(), out.data(), raw.size());
  return raw;
}

inline std::vector<unsigned char> filled(Bytes& from, std::size_t bytes) {
  std::vector<unsigned char> out(bytes);
  from.fill(out);
  return out;
}

// Mostly texts that a schema may have, so that cells are more than noise.
inline std::vector<unsigned char> letters(Bytes& from, std::size_t bytes) {
  static constexpr std::string_view kSome = "xyz yes no 12 3.5 2020-01-31 -7 1e3 \xc3\xa9\"\n";
  std::vector<unsigned char> out(bytes);
  if (from.one_in(3)) {
    from.fill(out);
  } else {
    std::size_t at = from.byte();
    for (auto& letter : out) letter = static_cast<unsigned char>(kSome[at++ % kSome.size()]);
  }
  return out;
}

inline void fill_views(Bytes& from, ArrowNode& node, std::size_t values) {
  const std::size_t pieces = from.below(3);
  std::vector<std::vector<unsigned char>> texts;
  std::vector<std::int64_t> sizes;
  for (std::size_t i = 0; i < pieces; ++i) {
    texts.push_back(letters(from, from.byte()));
    sizes.push_back(static_cast<std::int64_t>(texts.back().size()));
  }
  std::vector<unsigned char> views(values * 16);
  from.fill(views);
  for (std::size_t i = 0; i < values; ++i) {  // most of them are nearly right
    if (from.one_in(4)) continue;
    const std::array<std::int32_t, 4> view = {from.below(40) - 1, 0, from.below(3) - 1,
                                              from.below(100) - 1};
    std::memcpy(views.data() + i * 16, view.data(), 4);
    if (view[0] > 12) std::memcpy(views.data() + i * 16 + 8, view.data() + 2, 8);
  }
  node.buffers.push_back(std::move(views));
  for (auto& text : texts) node.buffers.push_back(std::move(text));
  std::vector<unsigned char> raw(sizes.size() * sizeof(std::int64_t));
  if (!raw.empty()) std::memcpy(raw.data(), sizes.data(), raw.size());
  if (pieces > 0 || from.one_in(2)) node.buffers.push_back(std::move(raw));
}

}  // namespace inside

// A column of at least so many cells, or of fewer. `tame`: what only a broken producer does is left
// out, so that each row can be read by itself.
inline std::unique_ptr<ArrowNode> arrow_node(Bytes& from, std::string name, std::int64_t cells,
                                             bool tame, int depth = 0) {
  using Layout = ArrowType::Layout;
  auto node = std::make_unique<ArrowNode>();
  node->name = std::move(name);
  node->tame = tame;
  const std::size_t which = from.byte();
  node->format = which < 240 ? inside::kFormats[which % inside::kFormats.size()] : from.text(20);
  node->format = node->format.c_str();  // ends where C sees its end
  if (!tame) node->has_format = !from.one_in(64);
  ArrowType type;
  try {
    const ArrowSchema plain = node->schema();
    type = arrow_type(plain);
  } catch (const UsageError&) {  // the reader will say so
  }
  node->offset = from.one_in(4) ? from.below(20) : 0;
  node->length = cells + (from.one_in(4) ? from.below(5) : 0);
  if (!tame && from.one_in(8)) node->length = from.below(4) - 1;
  const auto values =
      static_cast<std::size_t>(std::max<std::int64_t>(0, node->length) + node->offset);

  auto& buffers = node->buffers;
  buffers.push_back(inside::filled(from, (values + 7) / 8));
  const std::size_t width = inside::width(type);
  if (type.layout == Layout::Text32 || type.layout == Layout::Text64) {
    const std::size_t bytes = from.byte();
    buffers.push_back(type.layout == Layout::Text32
                          ? inside::offsets<std::int32_t>(from, values, bytes, tame)
                          : inside::offsets<std::int64_t>(from, values, bytes, tame));
    buffers.push_back(inside::letters(from, bytes));
  } else if (type.layout == Layout::TextView) {
    inside::fill_views(from, *node, values);
  } else if (type.layout == Layout::Bool) {
    buffers.push_back(inside::filled(from, (values + 7) / 8));
  } else if (width > 0) {
    buffers.push_back(inside::filled(from, values * width));
  } else if (type.layout == Layout::Null) {
    buffers.clear();
  }
  for (const auto& buffer : buffers) {
    // One without bytes may be null or not.
    static const unsigned char kNone = 0;
    node->pointers.push_back(!buffer.empty()  ? buffer.data()
                             : from.one_in(2) ? &kNone
                                              : static_cast<const void*>(nullptr));
  }
  node->nulls = from.below(4) - 1;  // -1: not counted
  if (!node->pointers.empty() && from.one_in(2)) node->pointers[0] = nullptr;
  node->buffer_count = static_cast<std::int64_t>(buffers.size());
  if (!tame && from.one_in(8)) node->buffer_count = from.below(5) - 1;
  node->buffer_count = std::min(node->buffer_count, static_cast<std::int64_t>(buffers.size()));
  if (type.layout == Layout::TextView) {  // the last buffer has the sizes of those before it
    node->buffer_count = tame || node->buffer_count < 2 ? static_cast<std::int64_t>(buffers.size())
                                                        : node->buffer_count;
    if (node->buffer_count > 2 && node->buffer_count != static_cast<std::int64_t>(buffers.size())) {
      node->buffer_count = 2;
    }
  }
  if (!tame && !node->pointers.empty() && from.one_in(16)) {
    node->pointers[from.byte() % node->pointers.size()] = nullptr;
  }
  if (!tame) node->has_buffers = !from.one_in(64);
  if (depth < 3 && from.one_in(5)) {
    node->dictionary = arrow_node(from, "", from.below(12), tame, depth + 1);
  }
  return node;
}

// A table: its columns, and the batches and schemas made of them, which count their releases.
struct ArrowTable {
  std::vector<std::unique_ptr<ArrowNode>> columns;
  std::vector<ArrowSchema> child_schemas;
  std::vector<ArrowSchema*> child_schema_pointers;
  std::vector<ArrowArray> children;
  std::vector<ArrowArray*> child_pointers;
  std::string format = "+s";
  std::int64_t length = 0;
  std::int64_t offset = 0;
  std::int64_t nulls = 0;
  std::int64_t batch_children = 0;
  std::vector<unsigned char> validity;
  std::array<const void*, 1> buffers{};
  int held = 0;  // structures that wait to be released
  // What a structure counts and does not have.
  enum class Missing { Nothing, SchemaChildren, SchemaChild, Children, Child, Counted };
  Missing missing = Missing::Nothing;

  ArrowSchema schema() {
    child_schemas.clear();
    child_schema_pointers.clear();
    for (const auto& column : columns) child_schemas.push_back(column->schema());
    for (auto& child : child_schemas) child_schema_pointers.push_back(&child);
    if (missing == Missing::SchemaChild) child_schema_pointers[0] = nullptr;
    ArrowSchema out{};
    out.format = format.c_str();
    out.name = "";
    out.n_children = missing == Missing::Counted ? -1 : static_cast<std::int64_t>(columns.size());
    out.children = missing == Missing::SchemaChildren ? nullptr : child_schema_pointers.data();
    out.private_data = this;
    out.release = [](ArrowSchema* self) {
      --static_cast<ArrowTable*>(self->private_data)->held;
      self->release = nullptr;
    };
    ++held;
    return out;
  }
  ArrowArray batch() {
    children.clear();
    child_pointers.clear();
    for (const auto& column : columns) children.push_back(column->array());
    for (auto& child : children) child_pointers.push_back(&child);
    if (missing == Missing::Child) child_pointers[0] = nullptr;
    ArrowArray out{};
    out.length = length;
    out.offset = offset;
    out.null_count = nulls;
    out.n_buffers = 1;
    buffers[0] = validity.empty() ? nullptr : validity.data();
    out.buffers = buffers.data();
    out.n_children = missing == Missing::Counted ? -1 : batch_children;
    out.children = missing == Missing::Children ? nullptr : child_pointers.data();
    out.private_data = this;
    out.release = [](ArrowArray* self) {
      --static_cast<ArrowTable*>(self->private_data)->held;
      self->release = nullptr;
    };
    ++held;
    return out;
  }
};

// A table with these columns, and perhaps others, or without some.
inline std::unique_ptr<ArrowTable> arrow_table(Bytes& from, const std::vector<std::string>& names,
                                               bool tame) {
  auto table = std::make_unique<ArrowTable>();
  table->length = from.below(40);
  table->offset = from.one_in(3) ? from.below(10) : 0;
  const std::int64_t cells = table->length + table->offset;
  for (const auto& name : names) {
    if (from.one_in(32)) continue;
    table->columns.push_back(
        arrow_node(from, from.one_in(48) ? from.text(5).c_str() : name, cells, tame));
  }
  table->batch_children = static_cast<std::int64_t>(table->columns.size());
  if (!tame) {
    if (from.one_in(16)) table->length = from.below(60) - 1;
    if (from.one_in(16)) table->offset = from.below(30) - 1;
    if (from.one_in(16)) table->batch_children = from.below(static_cast<int>(names.size()) + 1);
    table->batch_children =
        std::min(table->batch_children, static_cast<std::int64_t>(table->columns.size()));
    if (from.one_in(32)) table->format = from.text(3).c_str();
    if (from.one_in(24) && !table->columns.empty()) {
      table->missing = static_cast<ArrowTable::Missing>(from.below(6));
    }
  }
  if (from.one_in(3)) {
    const std::int64_t rows = std::max<std::int64_t>(0, table->length + table->offset);
    table->validity.resize(static_cast<std::size_t>(rows + 7) / 8);
    from.fill(table->validity);
    table->nulls = from.below(3) - 1;
  }
  return table;
}

}  // namespace tandem::fuzz
