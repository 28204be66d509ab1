// SPDX-License-Identifier: Apache-2.0
#include "tandem/source/source_files.h"

#include <fmt/core.h>
#include <fnmatch.h>

#include <algorithm>
#include <filesystem>
#include <string_view>
#include <system_error>

#include "tandem/base/error.h"
#include "tandem/base/text.h"

namespace tandem {

namespace {

namespace fs = std::filesystem;

constexpr std::string_view kPairs = "pairs:";

bool is_folder(const fs::path& path) {
  std::error_code ignored;
  return fs::is_directory(path, ignored);
}

// A folder itself and no link to one, which may lead back up.
bool is_own_folder(const fs::path& path) {
  std::error_code ignored;
  return fs::is_directory(fs::symlink_status(path, ignored));
}

bool is_there(const fs::path& path) {
  std::error_code ignored;
  return fs::exists(path, ignored);
}

bool has_magic(std::string_view text) {
  return text.find_first_of("*?[") != std::string_view::npos;
}

bool is_parquet_name(std::string_view name) {
  return name.ends_with(".parquet") || name.ends_with(".pq");
}

bool is_pattern(const std::string& source) { return has_magic(source) && !is_there(source); }

// Names in a folder, sorted; none where it can't be listed.
std::vector<std::string> names_in(const fs::path& folder) {
  std::vector<std::string> out;
  std::error_code error;
  for (fs::directory_iterator at(folder.empty() ? fs::path(".") : folder, error), end;
       !error && at != end; at.increment(error)) {
    out.push_back(at->path().filename().string());
  }
  std::ranges::sort(out);
  return out;
}

// Sorted, each once.
void sort_once(std::vector<std::string>& paths) {
  std::ranges::sort(paths);
  paths.erase(std::unique(paths.begin(), paths.end()), paths.end());
}

// What matches the parts of a pattern from `first` on, below `folder`.
void match_below(const fs::path& folder, const std::vector<std::string>& parts, std::size_t first,
                 std::vector<std::string>& out) {
  if (first == parts.size()) {
    out.push_back(folder.string());
    return;
  }
  const std::string& part = parts[first];
  if (part == "**") {
    match_below(folder, parts, first + 1, out);
    for (const auto& name : names_in(folder)) {
      if (name.starts_with('.') || !is_own_folder(folder / name)) continue;
      match_below(folder / name, parts, first, out);
    }
    return;
  }
  if (!has_magic(part)) {
    if (is_there(folder / part)) match_below(folder / part, parts, first + 1, out);
    return;
  }
  for (const auto& name : names_in(folder)) {
    if (fnmatch(part.c_str(), name.c_str(), FNM_PERIOD | FNM_NOESCAPE) != 0) continue;
    match_below(folder / name, parts, first + 1, out);
  }
}

void parquet_below(const fs::path& folder, std::vector<std::string>& out) {
  for (const auto& name : names_in(folder)) {
    const fs::path path = folder / name;
    if (is_own_folder(path)) {
      parquet_below(path, out);
    } else if (is_parquet_name(name) && !is_folder(path)) {
      out.push_back(path.string());
    }
  }
}

}  // namespace

bool is_pairs(const std::string& source) { return source.starts_with(kPairs); }

std::vector<std::string> matching_paths(const std::string& pattern) {
  std::vector<std::string> parts;
  for (std::size_t at = 0; at < pattern.size();) {
    const std::size_t end = std::min(pattern.find('/', at), pattern.size());
    if (end > at) parts.push_back(pattern.substr(at, end - at));
    at = end + 1;
  }
  std::vector<std::string> out;
  match_below(pattern.starts_with('/') ? "/" : "", parts, 0, out);
  sort_once(out);
  return out;
}

bool is_parquet(const std::string& source) {
  if (source.empty() || is_pairs(source)) return false;
  const auto end = source.find_last_not_of('/');
  if (is_parquet_name(std::string_view(source).substr(0, end + 1))) return true;
  if (is_folder(source)) return true;
  if (!is_pattern(source)) return false;
  return std::ranges::any_of(matching_paths(source), [](const std::string& path) {
    return is_parquet_name(path) || is_folder(path);
  });
}

std::vector<std::string> source_files(const std::string& source) {
  if (is_pairs(source)) return {source.substr(kPairs.size())};
  if (!is_parquet(source)) return {source};
  std::vector<std::string> out;
  if (is_pattern(source)) {
    for (const auto& path : matching_paths(source)) {
      if (is_folder(path)) {
        parquet_below(path, out);
      } else if (is_parquet_name(path)) {
        out.push_back(path);
      } else {
        throw UsageError(fmt::format(
            "{} also means {}, which is no Parquet file; write a pattern such as '*.parquet'.",
            in_quotes(source), in_quotes(path)));
      }
    }
    sort_once(out);
    if (!out.empty()) return out;
    throw UsageError(fmt::format("{} matches no file; check the pattern, and put it into quotes.",
                                 in_quotes(source)));
  }
  if (!is_folder(source)) return {source};
  parquet_below(source, out);
  std::ranges::sort(out);
  if (!out.empty()) return out;
  throw UsageError(fmt::format(
      "{} is a folder without Parquet files; name a file, or a folder of .parquet files.", source));
}

}  // namespace tandem
