// SPDX-License-Identifier: Apache-2.0
#pragma once
// Files that tests make and read.

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

namespace tandem::test {

// A new empty folder that is gone when the object is.
class TempDir {
 public:
  TempDir();
  // Inside this folder, such as in_memory() for tests that sync to disk thousands of times.
  explicit TempDir(const std::filesystem::path& parent);
  ~TempDir();
  TempDir(const TempDir&) = delete;
  TempDir& operator=(const TempDir&) = delete;

  const std::filesystem::path& path() const { return path_; }
  std::string operator/(std::string_view name) const { return (path_ / name).string(); }

  // Writes a file in the folder and returns its path.
  std::string write(std::string_view name, std::string_view content) const;
  std::string write_gzip(std::string_view name, std::string_view content) const;

 private:
  std::filesystem::path path_;
};

// Where temporary files live in memory, or wherever they live when the system has no such place.
std::filesystem::path in_memory();

std::string read_file(const std::string& path);

// A file or folder of the real data that TANDEM_DATA names, if it is set and holds it.
std::optional<std::string> real_data(std::string_view relative);

}  // namespace tandem::test

// Skips the test when the real data isn't there; otherwise declares `name` as its path.
#define TANDEM_REAL_DATA(name, relative)                                         \
  const auto name##_found = tandem::test::real_data(relative);                   \
  if (!name##_found) GTEST_SKIP() << "TANDEM_DATA does not hold " << (relative); \
  const std::string& name = *name##_found
