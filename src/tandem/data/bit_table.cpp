// SPDX-License-Identifier: Apache-2.0
#include "tandem/data/bit_table.h"

#include <fmt/core.h>

#include <algorithm>
#include <bit>
#include <unordered_map>
#include <utility>

#include "tandem/base/check.h"
#include "tandem/base/text.h"

namespace tandem {

// ---- One column ----

BitColumn::BitColumn(std::vector<std::uint32_t> ascending, std::size_t rows)
    : ones_(ascending.size()) {
  check(std::ranges::is_sorted(ascending) && (ascending.empty() || ascending.back() < rows),
        "a column lists its rows in order");
  if (ascending.size() * sizeof(std::uint32_t) < words_of(rows) * sizeof(std::uint64_t)) {
    ascending.shrink_to_fit();
    bits_ = std::move(ascending);
    return;
  }
  std::vector<std::uint64_t> words(words_of(rows), 0);
  for (const auto row : ascending) words[row / kWordBits] |= std::uint64_t{1} << row % kWordBits;
  bits_ = std::move(words);
}

std::size_t BitColumn::bytes() const {
  return std::visit([](const auto& v) { return v.size() * sizeof(v[0]); }, bits_);
}

void BitColumn::fill(std::size_t first_word, std::span<std::uint64_t> out) const {
  if (const auto* list = std::get_if<0>(&bits_)) {
    const std::size_t first = first_word * kWordBits;
    const std::size_t end = first + out.size() * kWordBits;
    for (auto at = std::ranges::lower_bound(*list, first); at != list->end() && *at < end; ++at) {
      out[(*at - first) / kWordBits] |= std::uint64_t{1} << *at % kWordBits;
    }
    return;
  }
  const auto& words = *std::get_if<1>(&bits_);
  for (std::size_t w = 0; w < out.size() && first_word + w < words.size(); ++w) {
    out[w] |= words[first_word + w];
  }
}

// ---- Blocks ----

namespace {

class BitTableBlocks final : public IndicatorBlocks {
 public:
  BitTableBlocks(const BitTable& table, std::span<const Indicator> indicators)
      : rows_(table.rows()) {
    columns_.reserve(indicators.size());
    for (const auto& indicator : indicators) {
      columns_.push_back(table.find(indicator));
      check(columns_.back() != nullptr, "a bit table has the indicators that it is asked for");
    }
  }
  std::size_t rows() const override { return rows_; }
  void fill(std::size_t first_word, std::size_t words, std::uint64_t* out) const override {
    for (std::size_t i = 0; i < columns_.size(); ++i) {
      columns_[i]->fill(first_word, {out + i * words, words});
    }
  }

 private:
  std::size_t rows_;
  std::vector<const BitColumn*> columns_;
};

// Where the bits of each wanted code go. An array by code, or a hash table where codes are many.
class CodePlaces {
 public:
  static constexpr std::uint32_t kUnwanted = static_cast<std::uint32_t>(-1);

  CodePlaces(Code size, std::span<const Indicator> wanted, std::size_t first_place) {
    constexpr Code kMostDirect = Code{1} << 16;
    if (size <= kMostDirect) direct_.assign(size, kUnwanted);
    for (std::size_t i = 0; i < wanted.size(); ++i) {
      const auto place = static_cast<std::uint32_t>(first_place + i);
      if (direct_.empty()) {
        hashed_.emplace(wanted[i].code, place);
      } else {
        direct_[wanted[i].code] = place;
      }
    }
  }

  std::uint32_t of(Code code) const {
    if (!direct_.empty()) return direct_[code];
    const auto found = hashed_.find(code);
    return found == hashed_.end() ? kUnwanted : found->second;
  }

 private:
  std::vector<std::uint32_t> direct_;
  std::unordered_map<Code, std::uint32_t> hashed_;
};

// Indicators of one attribute, which follow each other.
struct AttributePlaces {
  AttributeId attribute;
  CodePlaces places;
};

std::vector<AttributePlaces> places_of(const Domain& domain,
                                       std::span<const Indicator> indicators) {
  check(std::ranges::is_sorted(indicators), "indicators are in order");
  std::vector<AttributePlaces> out;
  for (std::size_t i = 0; i < indicators.size();) {
    std::size_t end = i;
    while (end < indicators.size() && indicators[end].attribute == indicators[i].attribute) ++end;
    const AttributeId id = indicators[i].attribute;
    out.push_back({id, CodePlaces(domain[id].size, indicators.subspan(i, end - i), i)});
    i = end;
  }
  return out;
}

class TableBlocks final : public IndicatorBlocks {
 public:
  TableBlocks(const Table& table, std::span<const Indicator> indicators)
      : table_(table), attributes_(places_of(table.domain(), indicators)) {}

  std::size_t rows() const override { return table_.rows(); }
  void fill(std::size_t first_word, std::size_t words, std::uint64_t* out) const override {
    const std::size_t first = first_word * kWordBits;
    const std::size_t end = std::min(table_.rows(), first + words * kWordBits);
    for (const auto& named : attributes_) {
      const auto& places = named.places;
      table_.column(named.attribute).visit([&](auto codes) {
        for (std::size_t row = first; row < end; ++row) {
          const auto place = places.of(codes[row]);
          if (place == CodePlaces::kUnwanted) continue;
          out[place * words + (row - first) / kWordBits] |= std::uint64_t{1} << row % kWordBits;
        }
      });
    }
  }

 private:
  const Table& table_;
  std::vector<AttributePlaces> attributes_;
};

}  // namespace

std::unique_ptr<IndicatorBlocks> table_blocks(const Table& table,
                                              std::span<const Indicator> indicators) {
  return std::make_unique<TableBlocks>(table, indicators);
}

// ---- The table ----

BitTable::BitTable(Domain domain, std::size_t rows, std::vector<Indicator> indicators,
                   std::vector<BitColumn> columns)
    : domain_(std::move(domain)),
      rows_(rows),
      indicators_(std::move(indicators)),
      columns_(std::move(columns)) {
  check(rows_ < std::size_t{1} << 32, "a table in memory has fewer than 2^32 rows");
  check(indicators_.size() == columns_.size(), "each indicator has a column");
  check(std::ranges::is_sorted(indicators_), "indicators are in order");
  for (const auto& [attribute, code] : indicators_) {
    const Code size = domain_[attribute].size;
    check(code < size && (size != 2 || code == 1), "an indicator is one of its domain's");
  }
}

std::vector<Indicator> all_indicators(const Domain& domain, std::size_t most) {
  std::vector<Indicator> out;
  for (AttributeId id = 0; id < domain.size(); ++id) {
    const Code size = domain[id].size;
    if (size > most || out.size() > most - size) {
      throw UsageError(fmt::format("The columns have more than {} values together; take fewer.",
                                   with_commas(most)));
    }
    for (Code code = size == 2 ? 1 : 0; code < size; ++code) out.push_back({id, code});
  }
  return out;
}

BitTable BitTable::of(const Table& table, std::span<const Indicator> wanted) {
  std::vector<std::vector<std::uint32_t>> lists(wanted.size());
  for (const auto& named : places_of(table.domain(), wanted)) {
    const auto& places = named.places;
    table.column(named.attribute).visit([&](auto codes) {
      for (std::size_t row = 0; row < codes.size(); ++row) {
        const auto place = places.of(codes[row]);
        if (place != CodePlaces::kUnwanted) lists[place].push_back(static_cast<std::uint32_t>(row));
      }
    });
  }
  std::vector<BitColumn> columns;
  columns.reserve(lists.size());
  for (auto& list : lists) columns.emplace_back(std::exchange(list, {}), table.rows());
  return {table.domain(), table.rows(), {wanted.begin(), wanted.end()}, std::move(columns)};
}

BitTable BitTable::of(const Table& table) { return of(table, all_indicators(table.domain())); }

std::size_t BitTable::bytes() const {
  std::size_t bytes = indicators_.size() * sizeof(Indicator) + columns_.size() * sizeof(BitColumn);
  for (const auto& column : columns_) bytes += column.bytes();
  return bytes;
}

const BitColumn* BitTable::find(const Indicator& indicator) const {
  const auto at = std::ranges::lower_bound(indicators_, indicator);
  if (at == indicators_.end() || *at != indicator) return nullptr;
  return &columns_[static_cast<std::size_t>(at - indicators_.begin())];
}

std::unique_ptr<IndicatorBlocks> BitTable::blocks(std::span<const Indicator> indicators) const {
  return std::make_unique<BitTableBlocks>(*this, indicators);
}

Column BitTable::codes(AttributeId attribute) const {
  const Code size = domain_[attribute].size;
  Column out(size, rows_);
  const auto begin = std::ranges::lower_bound(indicators_, attribute, {}, &Indicator::attribute);
  const auto end = std::ranges::upper_bound(indicators_, attribute, {}, &Indicator::attribute);
  check(end - begin + 1 >= static_cast<std::ptrdiff_t>(size),
        "a bit table has the attributes that it is asked for");
  // Rows that no indicator claims have the code that has none.
  Code missing = 0;
  for (auto at = begin; at != end && at->code == missing; ++at) ++missing;
  out.visit([&](auto codes) {
    using C = typename decltype(codes)::value_type;
    std::ranges::fill(codes, static_cast<C>(missing < size ? missing : 0));
    for (auto at = begin; at != end; ++at) {
      columns_[static_cast<std::size_t>(at - indicators_.begin())].for_each(
          [&](std::size_t row) { codes[row] = static_cast<C>(at->code); });
    }
  });
  return out;
}

BitTable BitTable::select(std::span<const std::size_t> rows) const {
  constexpr auto kDropped = static_cast<std::uint32_t>(-1);
  std::vector<std::uint32_t> becomes(rows_, kDropped);
  for (std::size_t i = 0; i < rows.size(); ++i) becomes[rows[i]] = static_cast<std::uint32_t>(i);
  std::vector<BitColumn> columns;
  columns.reserve(columns_.size());
  for (const auto& column : columns_) {
    std::vector<std::uint32_t> kept;
    column.for_each([&](std::size_t row) {
      if (becomes[row] != kDropped) kept.push_back(becomes[row]);
    });
    columns.emplace_back(std::move(kept), rows.size());
  }
  return {domain_, rows.size(), indicators_, std::move(columns)};
}

}  // namespace tandem
