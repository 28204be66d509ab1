// SPDX-License-Identifier: Apache-2.0
#include "tandem/engine/draft/drafted_from.h"

#include <fmt/core.h>
#include <fmt/format.h>

#include <algorithm>

#include "tandem/base/digest.h"
#include "tandem/base/error.h"
#include "tandem/base/text.h"
#include "tandem/data/byte_source.h"
#include "tandem/source/source_files.h"

namespace tandem {

namespace {

// Where the key's line starts, before the first table; npos where it isn't.
std::size_t find_line(std::string_view toml) {
  for (std::size_t at = 0; at < toml.size();) {
    const auto end = std::min(toml.find('\n', at), toml.size());
    const auto line = trim(toml.substr(at, end - at));
    if (line.starts_with('[')) break;
    const bool quoted = line.starts_with('"') || line.starts_with('\'');
    const auto key = quoted ? line.substr(1) : line;
    if (key.starts_with(kDraftedFrom)) {
      auto rest = key.substr(kDraftedFrom.size());
      if (quoted && rest.starts_with(line[0])) rest.remove_prefix(1);
      if (trim(rest).starts_with('=')) return at;
    }
    at = end + 1;
  }
  return std::string_view::npos;
}

}  // namespace

namespace {

constexpr std::size_t kHead = std::size_t{1} << 16;  // bytes

struct TextDigests {
  std::string head;
  std::string all;  // empty where the head was not wanted
};

// `wanted` says for a head whether the rest is worth reading.
template <class Wanted>
TextDigests digests_of_text(const std::string& file, Wanted&& wanted) {
  const auto bytes = ByteSource::open(file);
  std::string piece(kHead, '\0');
  std::size_t some = bytes->read(piece);
  TextDigests out{.head = sha256_hex(std::string_view(piece).substr(0, some))};
  if (!wanted(out.head)) return out;
  Sha256Stream all;
  while (some > 0) {
    all.add(std::string_view(piece).substr(0, some));
    some = some < kHead ? 0 : bytes->read(piece);
  }
  out.all = all.hex();
  return out;
}

std::string origin_of(const std::string& file) {
  const auto [head, all] = digests_of_text(file, [](const std::string&) { return true; });
  return head + '-' + all;
}

}  // namespace

std::string drafted_from_line(std::span<const std::string> sources,
                              std::span<const std::string> tables) {
  std::vector<std::string> origins(tables.begin(), tables.end());
  for (const auto& source : sources) {
    for (const auto& file : source_files(source)) origins.push_back(origin_of(file));
  }
  return fmt::format("{} = [\"{}\"]\n", kDraftedFrom, fmt::join(origins, "\", \""));
}

std::vector<std::string> drafted_from(const Document& schema) {
  std::vector<std::string> out;
  if (!schema.is_object()) return out;
  const Document* origins = schema.find(kDraftedFrom);
  // In a schema of plain sizes the key is a column's name.
  if (origins == nullptr || !origins->is_array()) return out;
  for (const auto& origin : origins->as_array()) out.push_back(origin.as_string());
  return out;
}

bool is_origin(const std::string& file, std::span<const std::string> origins) {
  const auto is_known = [&](const std::string& origin) {
    return std::ranges::find(origins, origin) != origins.end();
  };
  const auto is_stored_whole = [](const std::string& origin) { return is_sha256_hex(origin); };
  if (std::ranges::any_of(origins, is_stored_whole) && is_known(sha256_of_file(file))) return true;
  const auto [head, all] = digests_of_text(file, [&](const std::string& found) {
    return std::ranges::any_of(
        origins, [&](const std::string& origin) { return origin.starts_with(found + '-'); });
  });
  return !all.empty() && is_known(head + '-' + all);
}

namespace {

// TOML without its comments; a line that was one is gone.
std::string without_comments(std::string_view toml) {
  std::string out;
  std::string line;
  bool had_comment = false;
  std::string_view quote;  // that is open
  const auto end_line = [&](std::string_view end) {
    if (had_comment) {
      const auto last = line.find_last_not_of(" \t");
      line.resize(last == std::string::npos ? 0 : last + 1);
    }
    if (!had_comment || !line.empty()) out.append(line).append(end);
    line.clear();
    had_comment = false;
  };
  for (std::size_t at = 0; at < toml.size(); ++at) {
    const char c = toml[at];
    const auto rest = toml.substr(at);
    if (c == '\n') {
      end_line("\n");
    } else if (!quote.empty()) {
      const bool escapes = quote[0] == '"';
      if (escapes && c == '\\' && at + 1 < toml.size()) {
        line += c;
        if (toml[at + 1] != '\n') line += toml[++at];
      } else if (rest.starts_with(quote)) {
        // Of a run of quotes the last three close what three have opened; two before may belong to
        // it.
        const auto run = std::min(rest.find_first_not_of(c), rest.size());
        const auto taken = quote.size() == 1 ? std::size_t{1} : std::min<std::size_t>(run, 5);
        line += rest.substr(0, taken);
        at += taken - 1;
        quote = {};
      } else {
        line += c;
      }
    } else if (c == '#') {
      had_comment = true;
      at = std::min(toml.find('\n', at), toml.size()) - 1;
    } else {
      for (const std::string_view open : {"\"\"\"", "'''", "\"", "'"}) {
        if (!rest.starts_with(open)) continue;
        quote = open;
        break;
      }
      line += quote.empty() ? std::string_view(&c, 1) : quote;
      if (!quote.empty()) at += quote.size() - 1;
    }
  }
  end_line("");
  return out;
}

}  // namespace

std::string published_schema(const std::string& text, const std::string& name, Origins origins) {
  const bool toml = name.ends_with(".toml");
  const auto parsed = [&](const std::string& content) {
    return toml ? Document::parse_toml(content, name) : Document::parse_json(content, name);
  };
  const Document schema = parsed(text);
  Document wanted = schema;
  if (origins == Origins::LeftOut && !drafted_from(schema).empty()) {
    wanted = Document::object();
    for (const auto& [key, value] : schema.as_object()) {
      if (key != kDraftedFrom) wanted.set(key, value);
    }
  }
  if (!toml) return drafted_from(schema).empty() ? text : wanted.to_json(2) + "\n";
  std::string out = without_comments(text);
  const std::size_t begin = origins == Origins::LeftOut ? find_line(out) : std::string::npos;
  if (begin != std::string::npos) {
    // The list holds digests alone, so the first bracket closes it.
    const std::size_t close = std::min(out.find(']', begin), out.size());
    const std::size_t end = std::min(out.find('\n', close), out.size() - 1) + 1;
    out = out.substr(0, begin) + out.substr(std::min(end, out.size()));
  }
  if (parsed(out).to_json() != wanted.to_json()) {
    throw SchemaError(
        fmt::format("{} can't be written without its comments and its {}; put that key at its top, "
                    "on a line of "
                    "its own.",
                    name, kDraftedFrom));
  }
  return out;
}

}  // namespace tandem
