// SPDX-License-Identifier: Apache-2.0
#include "support/files.h"

#include <stdlib.h>
#include <unistd.h>
#include <zlib.h>

#include <cstdlib>
#include <fstream>
#include <iterator>
#include <stdexcept>

namespace tandem::test {

namespace fs = std::filesystem;

TempDir::TempDir() : TempDir(fs::temp_directory_path()) {}

TempDir::TempDir(const fs::path& parent) {
  std::string name = (parent / "tandem-test-XXXXXX").string();
  if (mkdtemp(name.data()) == nullptr) throw std::runtime_error("can't make a temporary folder");
  path_ = name;
}

TempDir::~TempDir() {
  std::error_code ignored;
  for (const auto& entry : fs::recursive_directory_iterator(path_, ignored)) {
    if (entry.is_directory(ignored)) fs::permissions(entry, fs::perms::owner_all, ignored);
  }
  fs::remove_all(path_, ignored);
}

std::string TempDir::write(std::string_view name, std::string_view content) const {
  std::string path = *this / name;
  std::ofstream(path, std::ios::binary) << content;
  return path;
}

std::string TempDir::write_gzip(std::string_view name, std::string_view content) const {
  std::string path = *this / name;
  gzFile file = gzopen(path.c_str(), "wb");
  gzwrite(file, content.data(), static_cast<unsigned>(content.size()));
  gzclose(file);
  return path;
}

fs::path in_memory() {
  return access("/dev/shm", W_OK) == 0 ? fs::path("/dev/shm") : fs::temp_directory_path();
}

std::string read_file(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

std::optional<std::string> real_data(std::string_view relative) {
  const char* root = std::getenv("TANDEM_DATA");
  if (root == nullptr) return std::nullopt;
  const fs::path path = fs::path(root) / relative;
  return fs::exists(path) ? std::optional(path.string()) : std::nullopt;
}

}  // namespace tandem::test
