// SPDX-License-Identifier: Apache-2.0
#include "tandem/engine/input_files.h"

#include <fmt/core.h>
#include <sys/stat.h>

#include <filesystem>
#include <map>
#include <optional>
#include <utility>

#include "tandem/base/digest.h"
#include "tandem/base/error.h"
#include "tandem/base/text.h"
#include "tandem/source/open.h"

namespace tandem {

namespace {

std::string base_name(const std::string& path) {
  return std::filesystem::path(path).filename().string();
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
  for (const auto& source : sources) out.push_back(sha256_of_file(source));
  return out;
}

void refuse_private_as_public(const std::string& private_table,
                              std::span<const std::string> public_sources) {
  const std::string private_source = file_of(private_table);
  const auto own = identity(private_source);
  for (const auto& public_table : public_sources) {
    const std::string source = file_of(public_table);
    std::error_code ignored;
    const bool same_path = std::filesystem::weakly_canonical(source, ignored) ==
                           std::filesystem::weakly_canonical(private_source, ignored);
    if (same_path || (own && own == identity(source))) {
      throw UsageError(fmt::format(
          TANDEM_SETTING(
              "public") " {} is the private file itself; its rows would be released as they are.",
          in_quotes(source)));
    }
  }
}

}  // namespace tandem
