// SPDX-License-Identifier: Apache-2.0
#pragma once
// Arrow structures made by hand, which count how often they are released.

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "tandem/data/arrow.h"

namespace tandem::test {

// One column: its format and its buffers, the first of which says what is null (empty: nothing).
struct ArrowColumn {
  std::string name;
  std::string format;
  std::vector<std::string> buffers;
  std::int64_t length = 0;
  std::int64_t nulls = 0;
  std::int64_t offset = 0;
  std::shared_ptr<ArrowColumn> dictionary = {};
};

template <class T>
std::string bytes_of(const std::vector<T>& values) {
  std::string out;
  for (const T& value : values) {
    out.append(reinterpret_cast<const char*>(&value), sizeof(T));
  }
  return out;
}

inline std::string bits_of(const std::vector<bool>& values) {
  std::string out((values.size() + 7) / 8, '\0');
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (values[i]) out[i / 8] = static_cast<char>(out[i / 8] | 1 << i % 8);
  }
  return out;
}

inline void set_nulls(ArrowColumn& column, const std::vector<bool>& valid) {
  if (valid.empty()) return;
  column.buffers[0] = bits_of(valid);
  for (const bool there : valid) column.nulls += there ? 0 : 1;
}

template <class T>
ArrowColumn numbers_column(std::string name, std::string format, const std::vector<T>& values,
                           const std::vector<bool>& valid = {}) {
  ArrowColumn out{std::move(name),
                  std::move(format),
                  {"", bytes_of(values)},
                  static_cast<std::int64_t>(values.size())};
  set_nulls(out, valid);
  return out;
}

inline ArrowColumn bools_column(std::string name, const std::vector<bool>& values,
                                const std::vector<bool>& valid = {}) {
  ArrowColumn out{
      std::move(name), "b", {"", bits_of(values)}, static_cast<std::int64_t>(values.size())};
  set_nulls(out, valid);
  return out;
}

// Format u, U or vu.
inline ArrowColumn texts_column(std::string name, const std::string& format,
                                const std::vector<std::string>& values,
                                const std::vector<bool>& valid = {}) {
  ArrowColumn out{std::move(name), format, {}, static_cast<std::int64_t>(values.size())};
  std::string data;
  if (format == "vu") {
    std::string views;
    for (const auto& value : values) {
      std::string view(16, '\0');
      const auto size = static_cast<std::int32_t>(value.size());
      std::memcpy(view.data(), &size, 4);
      if (size <= 12) {
        view.replace(4, value.size(), value);
      } else {
        const auto at = static_cast<std::int32_t>(data.size());
        view.replace(4, 4, value.substr(0, 4));
        std::memcpy(view.data() + 12, &at, 4);
        data += value;
      }
      views += view;
    }
    out.buffers = {"", views, data,
                   bytes_of<std::int64_t>({static_cast<std::int64_t>(data.size())})};
  } else {
    std::vector<std::int32_t> small = {0};
    std::vector<std::int64_t> large = {0};
    for (const auto& value : values) {
      data += value;
      small.push_back(static_cast<std::int32_t>(data.size()));
      large.push_back(static_cast<std::int64_t>(data.size()));
    }
    out.buffers = {"", format == "u" ? bytes_of(small) : bytes_of(large), data};
  }
  set_nulls(out, valid);
  return out;
}

// How often structures were released.
struct Releases {
  int schemas = 0;
  int arrays = 0;
  int streams = 0;
};

namespace inside {

struct Held {
  std::vector<std::string> texts;
  std::vector<std::vector<std::uint64_t>> buffers;  // aligned
  std::vector<const void*> pointers;
  std::vector<ArrowSchema> schemas;
  std::vector<ArrowSchema*> schema_pointers;
  std::vector<ArrowArray> arrays;
  std::vector<ArrowArray*> array_pointers;
  std::unique_ptr<ArrowSchema> dictionary_schema;
  std::unique_ptr<ArrowArray> dictionary_array;
  Releases* releases = nullptr;
};

template <class Structure>
void release(Structure* structure) {
  auto* held = static_cast<Held*>(structure->private_data);
  for (std::int64_t i = 0; i < structure->n_children; ++i) {
    if (structure->children[i]->release != nullptr) {
      structure->children[i]->release(structure->children[i]);
    }
  }
  if (structure->dictionary != nullptr && structure->dictionary->release != nullptr) {
    structure->dictionary->release(structure->dictionary);
  }
  if (held->releases != nullptr) {
    if constexpr (std::is_same_v<Structure, ArrowSchema>) {
      ++held->releases->schemas;
    } else {
      ++held->releases->arrays;
    }
  }
  delete held;
  structure->release = nullptr;
}

}  // namespace inside

inline ArrowSchema schema_of(const ArrowColumn& column) {
  auto* held = new inside::Held;
  held->texts = {column.format, column.name};
  ArrowSchema out{};
  if (column.dictionary) {
    held->dictionary_schema = std::make_unique<ArrowSchema>(schema_of(*column.dictionary));
    out.dictionary = held->dictionary_schema.get();
  }
  out.format = held->texts[0].c_str();
  out.name = held->texts[1].c_str();
  out.flags = ARROW_FLAG_NULLABLE;
  out.release = inside::release<ArrowSchema>;
  out.private_data = held;
  return out;
}

inline ArrowArray array_of(const ArrowColumn& column) {
  auto* held = new inside::Held;
  ArrowArray out{};
  for (const auto& buffer : column.buffers) {
    // Just as many bytes as there are, so that a sanitizer sees whoever reads on.
    held->texts.push_back(buffer);
  }
  for (std::size_t i = 0; i < held->texts.size(); ++i) {
    const bool absent = i == 0 && held->texts[i].empty();
    held->pointers.push_back(absent ? nullptr : held->texts[i].data());
  }
  if (column.dictionary) {
    held->dictionary_array = std::make_unique<ArrowArray>(array_of(*column.dictionary));
    out.dictionary = held->dictionary_array.get();
  }
  out.length = column.length - column.offset;
  out.null_count = column.nulls;
  out.offset = column.offset;
  out.n_buffers = static_cast<std::int64_t>(held->pointers.size());
  out.buffers = held->pointers.data();
  out.release = inside::release<ArrowArray>;
  out.private_data = held;
  return out;
}

inline ArrowSchema schema_of(const std::vector<ArrowColumn>& columns,
                             Releases* releases = nullptr) {
  auto* held = new inside::Held;
  held->releases = releases;
  for (const auto& column : columns) held->schemas.push_back(schema_of(column));
  for (auto& child : held->schemas) held->schema_pointers.push_back(&child);
  ArrowSchema out{};
  out.format = "+s";
  out.name = "";
  out.n_children = static_cast<std::int64_t>(columns.size());
  out.children = held->schema_pointers.data();
  out.release = inside::release<ArrowSchema>;
  out.private_data = held;
  return out;
}

// Rows [first, last) of the columns, or all.
inline ArrowArray array_of(const std::vector<ArrowColumn>& columns, Releases* releases = nullptr,
                           std::int64_t first = 0, std::int64_t last = -1) {
  auto* held = new inside::Held;
  held->releases = releases;
  for (const auto& column : columns) held->arrays.push_back(array_of(column));
  for (auto& child : held->arrays) held->array_pointers.push_back(&child);
  ArrowArray out{};
  const std::int64_t rows = columns.empty() ? 0 : columns[0].length - columns[0].offset;
  out.length = (last < 0 ? rows : last) - first;
  out.offset = first;
  static const void* no_nulls[] = {nullptr};
  out.n_buffers = 1;
  out.buffers = no_nulls;
  out.n_children = static_cast<std::int64_t>(columns.size());
  out.children = held->array_pointers.data();
  out.release = inside::release<ArrowArray>;
  out.private_data = held;
  return out;
}

// A stream of these columns in batches of some rows, which may break off.
struct StreamPlan {
  std::vector<ArrowColumn> columns;
  std::int64_t batch = 1000;
  std::int64_t breaks_at = -1;  // a batch; -1: never
  Releases* releases = nullptr;
};

inline ArrowArrayStream stream_of(StreamPlan plan) {
  struct Held {
    StreamPlan plan;
    std::int64_t next = 0;
    std::int64_t batches = 0;
  };
  ArrowArrayStream out{};
  out.private_data = new Held{std::move(plan)};
  out.get_schema = [](ArrowArrayStream* stream, ArrowSchema* to) {
    const auto* held = static_cast<Held*>(stream->private_data);
    *to = schema_of(held->plan.columns, held->plan.releases);
    return 0;
  };
  out.get_next = [](ArrowArrayStream* stream, ArrowArray* to) {
    auto* held = static_cast<Held*>(stream->private_data);
    const StreamPlan& plan_now = held->plan;
    *to = ArrowArray{};
    if (held->batches++ == plan_now.breaks_at) return 5;
    const std::int64_t rows = plan_now.columns[0].length - plan_now.columns[0].offset;
    if (held->next >= rows) return 0;
    const std::int64_t end = std::min(rows, held->next + plan_now.batch);
    *to = array_of(plan_now.columns, plan_now.releases, held->next, end);
    held->next = end;
    return 0;
  };
  out.get_last_error = [](ArrowArrayStream*) { return "row 7 holds the secret 4711"; };
  out.release = [](ArrowArrayStream* stream) {
    auto* held = static_cast<Held*>(stream->private_data);
    if (held->plan.releases != nullptr) ++held->plan.releases->streams;
    delete held;
    stream->release = nullptr;
  };
  return out;
}

}  // namespace tandem::test
