// SPDX-License-Identifier: Apache-2.0
#include "tandem/data/pairs.h"

#include <fmt/core.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>
#include <string_view>
#include <utility>

#include "tandem/base/check.h"
#include "tandem/base/text.h"
#include "tandem/data/byte_source.h"

namespace tandem {

namespace {

constexpr std::size_t kReadBytes = std::size_t{1} << 20;

// Texts numbered in order of first appearance, in one piece of memory.
class TextNumbers {
 public:
  std::uint32_t number(std::string_view text) {
    if (2 * (ends_.size() + 1) > slots_.size()) grow();
    const std::uint64_t hash = hash_of(text);
    for (std::size_t at = hash & (slots_.size() - 1);; at = (at + 1) & (slots_.size() - 1)) {
      if (slots_[at] == kFree) {
        const auto next = static_cast<std::uint32_t>(size());
        check(next != kFree, "there are fewer than 2^32 users");
        slots_[at] = next;
        texts_ += text;
        ends_.push_back(texts_.size());
        return next;
      }
      if (this->text(slots_[at]) == text) return slots_[at];
    }
  }
  std::size_t size() const { return ends_.size() - 1; }

 private:
  static constexpr auto kFree = static_cast<std::uint32_t>(-1);

  static std::uint64_t hash_of(std::string_view text) {
    std::uint64_t hash = 0x9e3779b97f4a7c15ULL ^ text.size();
    while (!text.empty()) {
      std::uint64_t piece = 0;
      const std::size_t taken = std::min(text.size(), sizeof piece);
      std::memcpy(&piece, text.data(), taken);
      text.remove_prefix(taken);
      hash = (hash ^ piece) * 0xff51afd7ed558ccdULL;
      hash ^= hash >> 32;
    }
    return hash;
  }

  std::string_view text(std::uint32_t number) const {
    return std::string_view(texts_).substr(ends_[number], ends_[number + 1] - ends_[number]);
  }

  void grow() {
    slots_.assign(std::max<std::size_t>(64, 2 * slots_.size()), kFree);
    for (std::uint32_t i = 0; i < size(); ++i) {
      std::size_t at = hash_of(text(i)) & (slots_.size() - 1);
      while (slots_[at] != kFree) at = (at + 1) & (slots_.size() - 1);
      slots_[at] = i;
    }
  }

  std::string texts_;
  std::vector<std::size_t> ends_ = {0};
  std::vector<std::uint32_t> slots_;
};

// A field without white space and quotes around it.
std::string_view bare(std::string_view field, char quote) {
  field = trim(field);
  if (field.size() >= 2 && field.front() == quote && field.back() == quote) {
    field = trim(field.substr(1, field.size() - 2));
  }
  return field;
}

class PairsReader {
 public:
  PairsReader(const std::string& path, const Schema& schema, const PairsOptions& options)
      : path_(path), schema_(schema), options_(options), lists_(schema.domain().size()) {
    require_pairs(schema);
  }

  BitTable read() {
    const auto source = ByteSource::open(path_);
    std::vector<char> block(kReadBytes);
    std::string line;  // what is known of a line that goes on in the next block
    for (;;) {
      options_.cancel.check();
      const std::size_t got = source->read(block);
      std::string_view rest(block.data(), got);
      while (!rest.empty()) {
        const auto end = rest.find('\n');
        const auto piece = rest.substr(0, end);
        if (end == std::string_view::npos) {
          append(piece, line);
          break;
        }
        if (line.empty()) {
          take(piece);
        } else {
          append(piece, line);
          take(line);
          line.clear();
        }
        rest.remove_prefix(end + 1);
      }
      if (options_.progress) options_.progress(source->stored_bytes_read(), source->stored_bytes());
      if (got < block.size()) break;
    }
    if (!line.empty()) take(line);
    if (line_ == 0) take({});
    return finish();
  }

 private:
  // No more of a line is kept than shows that it is too long.
  static void append(std::string_view piece, std::string& line) {
    line += piece.substr(0, kLongestPair + 1 - std::min(line.size(), kLongestPair + 1));
  }

  void take(std::string_view line) {
    ++line_;
    if (line.size() > kLongestPair) {
      if (options_.policy == RowPolicy::MustFit) fail("is longer than a pair may be.");
      line = line.substr(0, kLongestPair);
    }
    if (line.ends_with('\r')) line.remove_suffix(1);
    const char delimiter = schema_.format().delimiter;
    const auto first = line.find(delimiter);
    const bool parted = first != std::string_view::npos;
    const auto user = bare(line.substr(0, first), schema_.format().quote);
    auto item = parted ? line.substr(first + 1) : std::string_view();
    item = bare(item.substr(0, item.find(delimiter)), schema_.format().quote);
    if (line_ == 1) {
      if (user == "user" && item == "item") return;
      throw UsageError(
          fmt::format("{} does not begin with the line 'user{}item', as a list of pairs does; add "
                      "it.",
                      path_, delimiter));
    }
    if (trim(line).empty()) return;
    if (options_.policy == RowPolicy::MustFit) {
      if (!parted) fail(fmt::format("is no pair: {} is missing.", in_quotes({&delimiter, 1})));
      if (user.empty()) fail("names no user.");
    }
    if (user.empty()) return;
    const std::uint32_t row = users_.number(user);
    if (item.empty()) return;
    const auto id = schema_.domain().find(item);
    if (!id) {
      if (options_.policy == RowPolicy::Repair) return;
      fail(fmt::format("has the item {}, which is not a column of the schema.", in_quotes(item)));
    }
    auto& rows = lists_[*id];
    if (rows.empty() || rows.back() != row) rows.push_back(row);
  }

  BitTable finish() {
    const std::size_t rows = users_.size();
    std::vector<Indicator> indicators;
    std::vector<BitColumn> columns;
    indicators.reserve(lists_.size());
    columns.reserve(lists_.size());
    for (AttributeId id = 0; id < lists_.size(); ++id) {
      auto list = std::exchange(lists_[id], {});
      std::ranges::sort(list);
      list.erase(std::unique(list.begin(), list.end()), list.end());
      indicators.push_back({id, 1});
      columns.emplace_back(std::move(list), rows);
    }
    return {schema_.domain(), rows, std::move(indicators), std::move(columns)};
  }

  [[noreturn]] void fail(const std::string& problem) const {
    throw UsageError(fmt::format("{}, line {} {}", path_, with_commas(line_), problem));
  }

  const std::string& path_;
  const Schema& schema_;
  const PairsOptions& options_;
  TextNumbers users_;
  std::vector<std::vector<std::uint32_t>> lists_;  // rows with each item
  std::size_t line_ = 0;
};

}  // namespace

void require_pairs(const Schema& schema) {
  const TextFormat& format = schema.format();
  for (const auto& attribute : schema.domain().attributes()) {
    if (attribute.size != 2) {
      throw SchemaError(
          fmt::format("Column {} has {} values, and a list of pairs knows two, without and with; "
                      "give it size = 2.",
                      in_quotes(attribute.name), with_commas(attribute.size)));
    }
    const std::string& name = attribute.name;
    if (bare(name, format.quote) != name || name.find(format.delimiter) != std::string::npos ||
        name.find_first_of("\r\n") != std::string::npos) {
      throw SchemaError(
          fmt::format("Column {} can't be told from what is around it in a list of pairs; rename "
                      "it.",
                      in_quotes(name)));
    }
  }
  if (format.encoding != Encoding::Utf8) {
    throw SchemaError("A list of pairs is UTF-8; leave out the schema's encoding.");
  }
}

BitTable read_pairs(const std::string& path, const Schema& schema, const PairsOptions& options) {
  return PairsReader(path, schema, options).read();
}

void write_pairs(const std::string& path, const Schema& schema, std::size_t rows,
                 const ItemsOfRow& items_of) {
  require_pairs(schema);
  const char delimiter = schema.format().delimiter;
  const auto failed = [&] {
    return SourceError(fmt::format("{} can't be written ({}).", path, std::strerror(errno)));
  };
  struct Close {
    void operator()(std::FILE* file) const { std::fclose(file); }
  };
  std::unique_ptr<std::FILE, Close> file(std::fopen(path.c_str(), "wb"));
  if (file == nullptr) throw failed();
  std::string text = fmt::format("user{}item\n", delimiter);
  std::vector<AttributeId> items;
  const auto flush = [&] {
    if (std::fwrite(text.data(), 1, text.size(), file.get()) != text.size()) throw failed();
    text.clear();
  };
  for (std::size_t row = 0; row < rows; ++row) {
    items.clear();
    items_of(row, items);
    if (items.empty()) text += fmt::format("{}{}\n", row, delimiter);
    for (const auto id : items) {
      const std::string& name = schema.domain()[id].name;
      text += fmt::format("{}{}", row, delimiter);
      text += name;
      text += '\n';
      if (text.size() >= kReadBytes) flush();
    }
  }
  flush();
  if (std::fclose(file.release()) != 0) throw failed();
}

}  // namespace tandem
