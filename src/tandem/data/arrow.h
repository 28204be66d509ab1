// SPDX-License-Identifier: Apache-2.0
#pragma once
// Arrow's C data interface, declared as its specification has it: tables in memory, handed over by
// frame libraries, databases and clusters. Who owns a structure calls its `release` once.

#include <cstdint>
#include <utility>

extern "C" {

#ifndef ARROW_C_DATA_INTERFACE
#define ARROW_C_DATA_INTERFACE

#define ARROW_FLAG_DICTIONARY_ORDERED 1
#define ARROW_FLAG_NULLABLE 2
#define ARROW_FLAG_MAP_KEYS_SORTED 4

struct ArrowSchema {
  const char* format;
  const char* name;
  const char* metadata;
  int64_t flags;
  int64_t n_children;
  struct ArrowSchema** children;
  struct ArrowSchema* dictionary;
  void (*release)(struct ArrowSchema*);
  void* private_data;
};

struct ArrowArray {
  int64_t length;
  int64_t null_count;
  int64_t offset;
  int64_t n_buffers;
  int64_t n_children;
  const void** buffers;
  struct ArrowArray** children;
  struct ArrowArray* dictionary;
  void (*release)(struct ArrowArray*);
  void* private_data;
};

#endif  // ARROW_C_DATA_INTERFACE

#ifndef ARROW_C_STREAM_INTERFACE
#define ARROW_C_STREAM_INTERFACE

struct ArrowArrayStream {
  int (*get_schema)(struct ArrowArrayStream*, struct ArrowSchema* out);
  int (*get_next)(struct ArrowArrayStream*, struct ArrowArray* out);
  const char* (*get_last_error)(struct ArrowArrayStream*);
  void (*release)(struct ArrowArrayStream*);
  void* private_data;
};

#endif  // ARROW_C_STREAM_INTERFACE
}

namespace tandem {

// Releases what it holds, once.
template <class Structure>
class Released {
 public:
  Released() = default;
  // Takes over what `from` holds, and leaves that released.
  explicit Released(Structure* from) {
    if (from != nullptr) held_ = std::exchange(*from, Structure{});
  }
  ~Released() { reset(); }
  Released(Released&& other) noexcept : held_(std::exchange(other.held_, Structure{})) {}
  Released& operator=(Released&& other) noexcept {
    if (this != &other) {
      reset();
      held_ = std::exchange(other.held_, Structure{});
    }
    return *this;
  }
  Released(const Released&) = delete;
  Released& operator=(const Released&) = delete;

  bool empty() const { return held_.release == nullptr; }
  Structure* get() { return &held_; }
  const Structure& operator*() const { return held_; }
  void reset() {
    if (held_.release != nullptr) held_.release(&held_);
    held_ = {};
  }

 private:
  Structure held_{};
};

using OwnedSchema = Released<ArrowSchema>;
using OwnedArray = Released<ArrowArray>;
using OwnedStream = Released<ArrowArrayStream>;

}  // namespace tandem
