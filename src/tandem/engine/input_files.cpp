// SPDX-License-Identifier: Apache-2.0
#include "tandem/engine/input_files.h"

#include <fmt/core.h>
#include <sys/stat.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <map>
#include <optional>
#include <utility>

#include "tandem/base/digest.h"
#include "tandem/base/error.h"
#include "tandem/base/text.h"
#include "tandem/data/byte_source.h"
#include "tandem/engine/draft/drafted_from.h"
#include "tandem/source/parquet.h"
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

bool is_on_disk(const std::string& path) {
  std::error_code ignored;
  return std::filesystem::is_regular_file(path, ignored);
}

// Whether two files unpack to the same bytes. Files of two tables differ within their first rows,
// so this takes no time unless they are the same. What can't be read is for its reader to say.
bool is_same_text(ByteSource& one, ByteSource& other) {
  constexpr std::size_t kAtOnce = std::size_t{1} << 16;
  std::string first(kAtOnce, '\0');
  std::string second(kAtOnce, '\0');
  while (true) {
    const std::size_t some = one.read(first);
    if (other.read(second) != some) return false;
    if (std::memcmp(first.data(), second.data(), some) != 0) return false;
    if (some < kAtOnce) return true;
  }
}

bool are_same_files(const std::string& one, const std::string& other) try {
  if (!is_on_disk(one) || !is_on_disk(other)) return false;  // a pipe can't be read twice
  return is_same_text(*ByteSource::open(one), *ByteSource::open(other));
} catch (const Error&) {
  return false;
}

// Of Parquet and CSV: whether the one, written as text, is the other.
bool are_same_tables(const std::string& one, const std::string& other) try {
  if (is_parquet(one) == is_parquet(other) || is_pairs(one)) return false;
  const std::string& text = is_parquet(one) ? other : one;
  if (!is_on_disk(text)) return false;
  const auto written = parquet_text(is_parquet(one) ? one : other, nullptr, {}, Threads{});
  return is_same_text(*written(), *ByteSource::open(text));
} catch (const Error&) {
  return false;
}

}  // namespace

void refuse_private_as_public(const std::string& private_table,
                              std::span<const std::string> public_sources,
                              const std::string& setting) {
  const auto private_files = source_files(private_table);
  const auto refuse = [&](const std::string& file, const char* how) {
    throw UsageError(fmt::format(
        "{} {} {}; its rows would be released as they are. Give data that is public, or "
        "state " TANDEM_SETTING("private-as-public") " for a release that protects nobody.",
        setting, in_quotes(file), how));
  };
  for (const auto& source : public_sources) {
    for (const auto& file : source_files(source)) {
      for (const auto& own : private_files) {
        if (is_same_file(own, file)) refuse(file, "is the private file itself");
        if (are_same_files(own, file)) refuse(file, "holds the same as the private file");
      }
    }
    if (are_same_tables(private_table, source)) {
      refuse(source, "holds the same as the private file");
    }
  }
}

void refuse_schema_of_private(const std::string& private_source,
                              std::span<const std::string> origins) {
  for (const auto& file : source_files(private_source)) {
    if (!is_on_disk(file) || !is_origin(file, origins)) continue;
    throw UsageError(TANDEM_SETTING(
        "schema") " was drafted from the private file itself: the values and bounds "
                  "that it names are private. Draft it from public data or a codebook, or "
                  "state " TANDEM_SETTING(
                      "private-as-public") " for a release that protects nobody.");
  }
}

}  // namespace tandem
