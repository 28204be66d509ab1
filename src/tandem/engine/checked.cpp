// SPDX-License-Identifier: Apache-2.0
#include "tandem/engine/checked.h"

#include <sys/stat.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <optional>

#include "tandem/base/digest.h"
#include "tandem/base/document.h"
#include "tandem/base/error.h"
#include "tandem/engine/draft/drafted_from.h"
#include "tandem/source/source_files.h"

namespace tandem {

namespace {

constexpr int kFormat = 1;
constexpr std::size_t kMostEntries = 100;  // the oldest go first

std::string stamp_of(const std::string& schema) { return schema + ".checked"; }

// What is remembered of a check; null when a file can't be looked at.
Document entry_of(const std::string& schema, const std::string& file) try {
  std::error_code failed;
  const auto path = std::filesystem::weakly_canonical(file, failed);
  if (failed) return {};
  std::int64_t size = 0;
  std::int64_t modified = 0;  // the last of all its files
  for (const auto& one : source_files(file)) {
    struct stat status {};
    if (stat(one.c_str(), &status) != 0) return {};
    size += status.st_size;
    modified = std::max(modified, std::int64_t{status.st_mtim.tv_sec} * 1'000'000'000 +
                                      std::int64_t{status.st_mtim.tv_nsec});
  }
  const auto text = published_schema(read_text_file(schema), schema);
  return Document::object({{"file", path.string()},
                           {"size", size},
                           {"modified", modified},
                           {"schema_sha256", sha256_hex(text)}});
} catch (const Error&) {
  return {};
}

// The entries of the stamp; none when it isn't there, or is no such file.
Document::Array entries_in(const std::string& stamp) {
  try {
    return Document::parse_json(read_text_file(stamp), stamp).at("checked").as_array();
  } catch (const Error&) {
    return {};
  }
}

}  // namespace

bool remember_check(const std::string& schema, const std::string& private_file) {
  const Document entry = entry_of(schema, private_file);
  if (entry.is_null()) return false;
  const std::string stamp = stamp_of(schema);
  Document::Array entries;
  for (auto& old : entries_in(stamp)) {
    const Document* file = old.is_object() ? old.find("file") : nullptr;
    const bool same =
        file == nullptr || !file->is_string() || file->as_string() == entry.at("file").as_string();
    if (!same) entries.push_back(std::move(old));
  }
  if (entries.size() >= kMostEntries) entries.erase(entries.begin());
  entries.push_back(entry);
  const Document document = Document::object(
      {{"format", kFormat},
       {"note", "Written by 'tandem check': which private files were held against this schema."},
       {"checked", Document::array(std::move(entries))}});
  const std::string beside = stamp + ".part";  // it is whole or absent
  std::ofstream out(beside, std::ios::binary | std::ios::trunc);
  out << document.to_json(2) << '\n';
  out.close();
  std::error_code failed;
  using std::filesystem::perms;  // it knows where a private file is
  std::filesystem::permissions(beside, perms::owner_read | perms::owner_write, failed);
  if (out) std::filesystem::rename(beside, stamp, failed);
  const bool written = out && !failed;
  if (!written) std::filesystem::remove(beside, failed);
  return written;
}

bool was_checked(const std::string& schema, const std::string& private_file) {
  const Document entry = entry_of(schema, private_file);
  if (entry.is_null()) return false;
  for (const auto& known : entries_in(stamp_of(schema))) {
    if (known.to_json() == entry.to_json()) return true;
  }
  return false;
}

}  // namespace tandem
