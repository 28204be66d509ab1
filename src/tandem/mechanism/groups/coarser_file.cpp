// SPDX-License-Identifier: Apache-2.0
#include "tandem/mechanism/groups/coarser_file.h"

#include <fmt/core.h>

#include <algorithm>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "tandem/base/document.h"
#include "tandem/base/error.h"
#include "tandem/base/text.h"

namespace tandem {
namespace {

constexpr std::size_t kNone = static_cast<std::size_t>(-1);
constexpr std::string_view kByteOrderMark = "\xef\xbb\xbf";

struct Line {
  std::string value;
  std::string coarser;
};

// Takes the first field off a line: up to a comma, or to the quote that closes it. False for one
// that is quoted and goes on behind its quotes, or is never closed.
bool take_field(std::string_view& line, std::string& out) {
  line = trim(line);
  if (!line.starts_with('"')) {
    const auto end = std::min(line.find(','), line.size());
    out = trim(line.substr(0, end));
    line.remove_prefix(std::min(end + 1, line.size()));
    return true;
  }
  std::size_t at = 1;
  for (; at < line.size(); ++at) {
    if (line[at] == '"' && (at + 1 == line.size() || line[at + 1] != '"')) break;
    if (line[at] == '"') ++at;
    out += line[at];
  }
  if (at >= line.size()) return false;
  line = trim(line.substr(at + 1));
  if (line.empty()) return true;
  const bool closed = line.front() == ',';
  line.remove_prefix(1);
  return closed;
}

std::vector<Line> read_lines(const std::string& path) {
  const std::string text = read_text_file(path);
  std::string_view rest = text;
  if (rest.starts_with(kByteOrderMark)) rest.remove_prefix(kByteOrderMark.size());
  std::vector<Line> out;
  std::size_t number = 0;
  for (const auto raw : split(rest, '\n')) {
    ++number;
    auto line = trim(raw);
    if (line.empty()) continue;
    Line& next = out.emplace_back();
    const bool two = line.find(',') != std::string_view::npos && take_field(line, next.value) &&
                     take_field(line, next.coarser) && line.empty();
    if (!two || next.value.empty() || next.coarser.empty()) {
      throw UsageError(fmt::format(
          "{}: line {} is not two fields; write a value of a key column, a comma and its coarser "
          "one.",
          path, number));
    }
  }
  return out;
}

// Without labels, a code is its own.
std::unordered_map<std::string, std::size_t> codes_of(const Attribute& column) {
  std::unordered_map<std::string, std::size_t> out;
  for (std::size_t code = 0; code < column.size; ++code) {
    out.try_emplace(column.labels.empty() ? std::to_string(code) : column.labels[code], code);
  }
  return out;
}

}  // namespace

CoarserValues read_coarser_values(const Domain& domain, const Clique& key,
                                  const std::string& path) {
  auto lines = read_lines(path);
  CoarserValues out;
  std::unordered_map<std::string, std::size_t> codes;
  std::ptrdiff_t most = -1;
  for (const auto id : key) {
    auto mine = codes_of(domain[id]);
    const auto known =
        std::ranges::count_if(lines, [&](const Line& line) { return mine.contains(line.value); });
    if (known <= most) continue;
    most = known;
    out.column = id;
    codes = std::move(mine);
  }
  const std::string& name = domain[out.column].name;
  if (!lines.empty() && !codes.contains(lines.front().value) &&
      (lines.front().value == "fine" || lines.front().value == name)) {
    lines.erase(lines.begin());
  }
  if (lines.empty()) {
    throw UsageError(fmt::format(
        "{} names no values; write a value of a key column, a comma and its coarser one on each "
        "line.",
        path));
  }
  std::unordered_map<std::string, std::size_t> numbers;
  std::vector<const Line*> said(domain[out.column].size, nullptr);
  out.groups.assign(said.size(), kNone);
  for (const auto& line : lines) {
    const auto found = codes.find(line.value);
    if (found == codes.end()) {
      throw UsageError(
          fmt::format("{}: {} is no value of {}; take it out, or add it to the schema.", path,
                      in_quotes(line.value), in_quotes(name)));
    }
    const Line*& former = said[found->second];
    if (former != nullptr && former->coarser != line.coarser) {
      throw UsageError(fmt::format("{}: {} is in {} and in {}; leave one of them.", path,
                                   in_quotes(line.value), in_quotes(former->coarser),
                                   in_quotes(line.coarser)));
    }
    former = &line;
    out.groups[found->second] = numbers.try_emplace(line.coarser, numbers.size()).first->second;
  }
  out.count = numbers.size();
  if (std::ranges::find(out.groups, kNone) != out.groups.end()) {
    std::ranges::replace(out.groups, kNone, out.count++);
  }
  return out;
}

}  // namespace tandem
