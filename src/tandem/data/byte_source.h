// SPDX-License-Identifier: Apache-2.0
#pragma once
// The bytes of a file, from its beginning to its end; gzip is unpacked on the way.

#include <cstddef>
#include <functional>
#include <memory>
#include <span>
#include <string>

namespace tandem {

class ByteSource {
 public:
  // UsageError when the file can't be opened. Gzip is told by its first bytes, not its name.
  static std::unique_ptr<ByteSource> open(const std::string& path);

  virtual ~ByteSource() = default;
  // Fills the buffer from its start; returns less than its size only at the end of the data.
  // UsageError on damaged or truncated gzip, SourceError when the disk fails.
  virtual std::size_t read(std::span<char> buffer) = 0;
  virtual std::size_t stored_bytes_read() const = 0;  // before unpacking
  virtual std::size_t stored_bytes() const = 0;       // of the whole file; 0 when unknown
};

// Opens the text of a table that lies in no file of text, from its beginning; what it throws goes
// on to its caller. Empty: the file that a path names.
using OpenBytes = std::function<std::unique_ptr<ByteSource>()>;

// Gives back the first bytes, which were looked at, then the rest.
std::unique_ptr<ByteSource> rewound(std::string head, std::unique_ptr<ByteSource> rest);

}  // namespace tandem
