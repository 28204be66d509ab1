// SPDX-License-Identifier: Apache-2.0
#include "tandem/engine/input_files.h"

#include <fmt/core.h>
#include <sys/stat.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <optional>
#include <utility>

#include "tandem/base/digest.h"
#include "tandem/base/error.h"
#include "tandem/base/text.h"
#include "tandem/source/source_files.h"

namespace tandem {

namespace {

std::string base_name(const std::string& path) {
  const auto end = path.find_last_not_of('/');  // a folder's name may end with one
  return std::filesystem::path(path.substr(0, end + 1)).filename().string();
}

// Device and number; hard links and symbolic links to one file share them.
std::optional<std::pair<dev_t, ino_t>> identity(const std::string& path) {
  struct stat status {};
  if (stat(path.c_str(), &status) != 0) return std::nullopt;
  return std::pair(status.st_dev, status.st_ino);
}

}  // namespace

std::vector<std::string> display_names(std::span<const std::string> sources) {
  std::vector<std::string> out;
  std::map<std::string, int> seen;
  for (const auto& source : sources) {
    const std::string name = base_name(source);
    const int times = ++seen[name];
    out.push_back(times == 1 ? name : fmt::format("{} ({})", name, times));
  }
  return out;
}

std::string display_workload(const std::string& workload) {
  return workload.find('/') == std::string::npos ? workload : base_name(workload);
}

std::vector<std::string> file_digests(std::span<const std::string> sources) {
  std::vector<std::string> out;
  for (const auto& source : sources) {
    const auto files = source_files(source);
    if (files.size() == 1) {
      out.push_back(sha256_of_file(files[0]));
      continue;
    }
    std::string digests;
    for (const auto& file : files) digests += sha256_of_file(file) + '\n';
    out.push_back(sha256_hex(digests));
  }
  return out;
}

namespace {

bool is_same_file(const std::string& one, const std::string& other) {
  std::error_code ignored;
  const auto own = identity(one);
  return std::filesystem::weakly_canonical(one, ignored) ==
             std::filesystem::weakly_canonical(other, ignored) ||
         (own && own == identity(other));
}

}  // namespace

void refuse_private_as_public(const std::string& private_table,
                              std::span<const std::string> public_sources,
                              const std::string& setting) {
  const auto private_files = source_files(private_table);
  for (const auto& source : public_sources) {
    for (const auto& file : source_files(source)) {
      const auto is_it = [&](const std::string& own) { return is_same_file(own, file); };
      if (std::ranges::none_of(private_files, is_it)) continue;
      throw UsageError(
          fmt::format("{} {} is the private file itself; its rows would be released as they are.",
                      setting, in_quotes(file)));
    }
  }
}

}  // namespace tandem
