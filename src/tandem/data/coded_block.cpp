// SPDX-License-Identifier: Apache-2.0
#include "tandem/data/coded_block.h"

#include <fmt/core.h>

#include <algorithm>
#include <bit>
#include <cstring>

#include "tandem/base/check.h"
#include "tandem/base/error.h"
#include "tandem/data/growing_table.h"

namespace tandem {

namespace {

static_assert(std::endian::native == std::endian::little, "blocks are little endian");

constexpr std::string_view kMagic = "TDB1";
constexpr std::size_t kFixed = 4 + 4 + 8;

std::size_t padded(std::size_t bytes) { return (bytes + 7) / 8 * 8; }

[[noreturn]] void no_block() {
  throw UsageError(
      "A block of coded rows is damaged, or of another version; encode the rows again.");
}

}  // namespace

std::size_t block_bytes(const Domain& domain, std::size_t rows, bool with_persons) {
  std::size_t out = padded(kFixed + domain.size() + 1);
  for (const auto& attribute : domain.attributes())
    out += padded(rows * code_width(attribute.size));
  return out + (with_persons ? rows * sizeof(PersonKey) : 0);
}

std::string to_block(const CodedRows& rows, bool with_persons) {
  const Domain& domain = rows.table.domain();
  const auto columns = static_cast<std::uint32_t>(domain.size());
  const std::uint64_t count = rows.table.rows();
  check(!with_persons || rows.persons.size() == count, "each row has a person's key");
  std::string out;
  out.reserve(block_bytes(domain, count, with_persons));
  const auto put = [&](const void* from, std::size_t bytes) {
    if (bytes > 0) out.append(static_cast<const char*>(from), bytes);
  };
  out += kMagic;
  put(&columns, sizeof columns);
  put(&count, sizeof count);
  for (const auto& attribute : domain.attributes()) {
    out += static_cast<char>(code_width(attribute.size));
  }
  out += with_persons ? '\1' : '\0';
  out.resize(padded(out.size()), '\0');
  for (AttributeId id = 0; id < columns; ++id) {
    rows.table.column(id).visit([&](auto codes) { put(codes.data(), codes.size_bytes()); });
    out.resize(padded(out.size()), '\0');
  }
  if (!with_persons) return out;
  for (const auto& person : rows.persons) put(&person.high, sizeof person.high);
  for (const auto& person : rows.persons) put(&person.low, sizeof person.low);
  return out;
}

CodedBlock::CodedBlock(std::string_view bytes) {
  if (bytes.size() < kFixed || !bytes.starts_with(kMagic)) no_block();
  std::uint32_t columns = 0;
  std::uint64_t rows = 0;
  std::memcpy(&columns, bytes.data() + 4, sizeof columns);
  std::memcpy(&rows, bytes.data() + 8, sizeof rows);
  if (bytes.size() - kFixed < std::size_t{columns} + 1) no_block();
  if (rows > bytes.size() && columns > 0) no_block();
  rows_ = rows;
  const auto* widths = reinterpret_cast<const std::uint8_t*>(bytes.data() + kFixed);
  widths_.assign(widths, widths + columns);
  const std::uint8_t persons = widths[columns];
  std::size_t at = padded(kFixed + columns + 1);
  for (const std::uint8_t width : widths_) {
    if (width != 1 && width != 2 && width != 4) no_block();
    columns_.push_back(bytes.data() + at);
    at += padded(rows * width);
    if (at > bytes.size()) no_block();
  }
  if (persons > 1) no_block();
  has_persons_ = persons == 1;
  if (has_persons_) {
    persons_ = bytes.data() + at;
    at += rows * 2 * sizeof(std::uint64_t);
  }
  if (at != bytes.size()) no_block();
}

Table CodedBlock::table(const Domain& domain) const {
  if (domain.size() != widths_.size()) no_block();
  std::vector<Column> columns;
  for (AttributeId id = 0; id < domain.size(); ++id) {
    const Code size = domain[id].size;
    if (code_width(size) != widths_[id]) no_block();
    Column column(size, rows_);
    column.visit([&](auto codes) {
      if (rows_ > 0) std::memcpy(codes.data(), columns_[id], codes.size_bytes());
      Code largest = 0;
      for (const Code code : codes) largest = std::max(largest, code);
      if (largest >= size && rows_ > 0) no_block();
    });
    columns.push_back(std::move(column));
  }
  return {domain, std::move(columns)};
}

std::vector<PersonKey> CodedBlock::persons() const {
  std::vector<PersonKey> out(has_persons_ ? rows_ : 0);
  for (std::size_t r = 0; r < out.size(); ++r) {
    std::memcpy(&out[r].high, persons_ + r * sizeof(std::uint64_t), sizeof out[r].high);
    std::memcpy(&out[r].low, persons_ + (rows_ + r) * sizeof(std::uint64_t), sizeof out[r].low);
  }
  return out;
}

CodedRows joined_rows(std::span<const std::string_view> blocks) {
  CodedRows out;
  if (blocks.empty()) return out;
  std::vector<CodedBlock> parts;
  for (const auto bytes : blocks) parts.emplace_back(bytes);
  std::vector<Attribute> attributes;
  for (const std::uint8_t width : parts[0].widths()) {
    const Code size = width == 1 ? Code{1} << 8 : width == 2 ? Code{1} << 16 : ~Code{0};
    attributes.push_back({fmt::format("{}", attributes.size()), size, {}});
  }
  const Domain domain(std::move(attributes));
  GrowingTable table(domain);
  for (const auto& part : parts) {
    if (!std::ranges::equal(part.widths(), parts[0].widths()) ||
        part.has_persons() != parts[0].has_persons()) {
      no_block();
    }
    table.append(part.table(domain));
    const auto persons = part.persons();
    out.persons.insert(out.persons.end(), persons.begin(), persons.end());
  }
  out.table = table.take();
  return out;
}

}  // namespace tandem
