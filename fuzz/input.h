// SPDX-License-Identifier: Apache-2.0
#pragma once
// What the fuzz targets share: the bytes as text, promises that end the run when broken, and files
// that live in memory.

#include <sys/mman.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>

namespace tandem::fuzz {

inline std::string_view as_text(const std::uint8_t* data, std::size_t size) {
  return {reinterpret_cast<const char*>(data), size};
}

inline void promise(bool kept, const char* what, std::string_view detail = {}) {
  if (kept) return;
  std::fprintf(stderr, "broken promise: %s: %.*s\n", what, static_cast<int>(detail.size()),
               detail.data());
  std::abort();
}

// An error is one line of a sensible length that names the file.
inline void check_message(std::string_view message, std::string_view name) {
  promise(message.find(name) != std::string_view::npos, "a message names its file", message);
  promise(message.find('\n') == std::string_view::npos, "a message is one line", message);
  promise(message.size() < 1500, "a message is short", message);
}

// A file with these bytes, for readers that take a path.
class MemoryFile {
 public:
  explicit MemoryFile(std::string_view bytes) : descriptor_(memfd_create("fuzz", MFD_CLOEXEC)) {
    promise(descriptor_ >= 0, "a memory file opens");
    while (!bytes.empty()) {
      const ssize_t written = write(descriptor_, bytes.data(), bytes.size());
      promise(written > 0, "a memory file takes its bytes");
      bytes.remove_prefix(static_cast<std::size_t>(written));
    }
  }
  ~MemoryFile() { close(descriptor_); }
  MemoryFile(const MemoryFile&) = delete;
  MemoryFile& operator=(const MemoryFile&) = delete;

  std::string path() const { return "/proc/self/fd/" + std::to_string(descriptor_); }

 private:
  int descriptor_;
};

}  // namespace tandem::fuzz
