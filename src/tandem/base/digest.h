// SPDX-License-Identifier: Apache-2.0
#pragma once
// SHA-256, for chains and for naming content.

#include <array>
#include <memory>
#include <string>
#include <string_view>

namespace tandem {

// 64 lower-case hexadecimal digits.
std::string sha256_hex(std::string_view bytes);

// Of a file's bytes, as they are on disk. SourceError when it can't be read.
std::string sha256_of_file(const std::string& path);

// Digests of many short texts, one after the other.
class Sha256 {
 public:
  Sha256();
  ~Sha256();
  Sha256(Sha256&&) noexcept;
  Sha256& operator=(Sha256&&) noexcept;
  std::array<unsigned char, 32> of(std::string_view bytes);

 private:
  struct Context;
  std::unique_ptr<Context> context_;
};

// The digest of bytes that come piece by piece.
class Sha256Stream {
 public:
  Sha256Stream();
  ~Sha256Stream();
  Sha256Stream(Sha256Stream&&) noexcept;
  Sha256Stream& operator=(Sha256Stream&&) noexcept;
  void add(std::string_view bytes);
  std::string hex();  // of all that was added; the last call

 private:
  struct Context;
  std::unique_ptr<Context> context_;
};

bool is_sha256_hex(std::string_view text);

}  // namespace tandem
