// SPDX-License-Identifier: Apache-2.0
#include "tandem/engine/draft/drafted_from.h"

#include <fmt/core.h>

#include <algorithm>

#include "tandem/base/digest.h"
#include "tandem/base/text.h"
#include "tandem/source/source_files.h"

namespace tandem {

namespace {

// Where the key's line starts, before the first table; npos where it isn't.
std::size_t find_line(std::string_view toml) {
  for (std::size_t at = 0; at < toml.size();) {
    const auto end = std::min(toml.find('\n', at), toml.size());
    const auto line = trim(toml.substr(at, end - at));
    if (line.starts_with('[')) break;
    if (line.starts_with(kDraftedFrom)) {
      const auto rest = trim(line.substr(kDraftedFrom.size()));
      if (rest.starts_with('=')) return at;
    }
    at = end + 1;
  }
  return std::string_view::npos;
}

}  // namespace

std::string drafted_from_line(std::span<const std::string> sources) {
  std::string out = fmt::format("{} = [", kDraftedFrom);
  for (const auto& source : sources) {
    for (const auto& file : source_files(source)) {
      if (!out.ends_with('[')) out += ", ";
      out += '"' + sha256_of_file(file) + '"';
    }
  }
  return out + "]\n";
}

std::vector<std::string> drafted_from(const Document& schema) {
  std::vector<std::string> out;
  if (!schema.is_object()) return out;
  const Document* digests = schema.find(kDraftedFrom);
  // In a schema of plain sizes the key is a column's name.
  if (digests == nullptr || !digests->is_array()) return out;
  for (const auto& digest : digests->as_array()) out.push_back(digest.as_string());
  return out;
}

std::string without_drafted_from(const std::string& text, const std::string& name) {
  if (text.find(kDraftedFrom) == std::string::npos) return text;
  if (!name.ends_with(".toml")) {
    const Document schema = Document::parse_json(text, name);
    if (drafted_from(schema).empty()) return text;
    Document out = Document::object();
    for (const auto& [key, value] : schema.as_object()) {
      if (key != kDraftedFrom) out.set(key, value);
    }
    return out.to_json(2) + "\n";
  }
  const std::size_t begin = find_line(text);
  if (begin == std::string::npos) return text;
  // The list holds digests alone, so the first bracket closes it.
  const std::size_t close = std::min(text.find(']', begin), text.size());
  const std::size_t end = std::min(text.find('\n', close), text.size() - 1) + 1;
  return text.substr(0, begin) + text.substr(std::min(end, text.size()));
}

}  // namespace tandem
