// SPDX-License-Identifier: Apache-2.0
#include <fmt/core.h>

#include <algorithm>
#include <cstring>
#include <exception>
#include <unordered_map>
#include <utility>

#include "tandem/base/error.h"
#include "tandem/data/csv.h"
#include "tandem/data/csv_blocks.h"
#include "tandem/data/csv_columns.h"
#include "tandem/data/csv_parser.h"

namespace tandem {

namespace {

constexpr std::size_t kBlocksPerThread = 2;

// Numbers keys in order of first appearance; the empty key is 0.
class KeyNumbers {
 public:
  std::uint32_t number(std::string& key) {
    const auto next = static_cast<std::uint32_t>(numbers_.size());
    return numbers_.try_emplace(std::move(key), next).first->second;
  }
  std::size_t size() const { return numbers_.size(); }

 private:
  std::unordered_map<std::string, std::uint32_t> numbers_ = {{"", 0}};
};

// The columns of a table that grows block by block. Room for all rows is set aside as soon as their
// number can be guessed: untouched, it costs nothing, and codes are held once.
class GrowingTable {
 public:
  explicit GrowingTable(const Domain& domain) : domain_(domain) {
    for (const auto& attribute : domain.attributes()) {
      const std::size_t width = code_width(attribute.size);
      if (width == 1) {
        columns_.emplace_back(std::vector<std::uint8_t>());
      } else if (width == 2) {
        columns_.emplace_back(std::vector<std::uint16_t>());
      } else {
        columns_.emplace_back(std::vector<std::uint32_t>());
      }
    }
  }

  // Before rows are appended; `done`: the part of the file that has been read with them, 0 when
  // unknown.
  void reserve(std::size_t more, double done) {
    const std::size_t wanted = rows_ + more;
    const double guess = done > 0.0 ? 1.03 * static_cast<double>(wanted) / done : 0.0;
    for (auto& column : columns_) {
      std::visit(
          [&](auto& codes) {
            if (wanted <= codes.capacity()) return;
            codes.reserve(std::max(wanted + wanted / 8, static_cast<std::size_t>(guess)));
          },
          column);
    }
  }

  void append(const ParsedBlock& block) {
    rows_ += block.rows;
    const std::byte* from = block.codes.data();
    for (auto& column : columns_) {
      std::visit(
          [&]<class T>(std::vector<T>& codes) {
            codes.resize(rows_);
            const std::size_t bytes = block.rows * sizeof(T);
            if (bytes > 0) std::memcpy(codes.data() + rows_ - block.rows, from, bytes);
            from += bytes;
          },
          column);
    }
  }

  Table finish() {
    std::vector<Column> columns;
    for (auto& column : columns_) columns.emplace_back(std::move(column));
    return {domain_, std::move(columns)};
  }

 private:
  Domain domain_;
  std::vector<Column::Codes> columns_;
  std::size_t rows_ = 0;
};

// Some blocks that are parsed at the same time. An error of the file stands behind them: rows are
// blamed in the order of their lines, at any number of threads.
struct Batch {
  explicit Batch(std::size_t most) : blocks(most) {}

  std::vector<CsvBlock> blocks;
  std::size_t used = 0;
  std::exception_ptr failure;

  void fill(CsvBlockReader& reader) {
    try {
      for (used = 0; used < blocks.size(); ++used) {
        reader.next(blocks[used]);
        if (blocks[used].empty()) return;
      }
    } catch (...) {
      failure = std::current_exception();
    }
  }
};

std::vector<KnownColumn> known_columns(const Schema& schema) {
  std::vector<KnownColumn> columns;
  for (const auto& column : schema.columns()) {
    columns.push_back({column.name, column.codec->numeric()});
  }
  return columns;
}

}  // namespace

CsvTable read_csv(const std::string& path, const Schema& schema, const CsvOptions& options) {
  auto format = options.format;
  if (!format && options.policy == RowPolicy::Repair) format = schema.format();
  CsvBlockReader reader(path, options.policy, format, known_columns(schema), schema.format(),
                        options.block_bytes);
  const CsvHeader header = reader.read_header();
  const int key = find_key(path, header, options.key_column);
  auto matched = match_columns(reader, header, schema.domain(), options.policy);
  const BlockParser parser(schema, std::move(matched.attributes), key, options.policy,
                           reader.format(), options.on_broken_quote != nullptr);

  CsvTable out;
  out.format = reader.format();
  out.ignored_columns = std::move(matched.ignored);
  if (key != kIgnoredColumn) std::erase(out.ignored_columns, options.key_column);
  if (options.policy == RowPolicy::MustFit) out.adapted.resize(schema.columns().size());
  GrowingTable table(schema.domain());
  KeyNumbers keys;

  const auto at_once =
      kBlocksPerThread * static_cast<std::size_t>(std::max(1, options.threads.count));
  Batch batch(at_once);
  Batch ahead(at_once);
  for (batch.fill(reader); batch.used > 0; std::swap(batch, ahead)) {
    const auto read = static_cast<double>(reader.stored_bytes_read());
    const auto in_all = static_cast<double>(reader.stored_bytes());
    if (options.progress) options.progress(reader.stored_bytes_read(), reader.stored_bytes());
    // While these blocks are parsed, the next are read.
    std::vector<ParsedBlock> parsed(batch.used);
    parallel_for(batch.used + 1, options.threads, [&](std::size_t i) {
      if (i == 0) {
        if (!batch.failure) ahead.fill(reader);
      } else {
        parsed[i - 1] = parser.parse(batch.blocks[i - 1]);
      }
    });
    std::size_t rows = 0;
    for (const auto& block : parsed) rows += block.rows;
    table.reserve(rows, in_all > 0.0 ? read / in_all : 0.0);
    for (auto& block : parsed) {
      if (const auto& problem = block.problem) {
        throw SchemaError(fmt::format("{}, line {}: {}", path, problem->first, problem->second));
      }
      table.append(block);
      for (std::size_t id = 0; id < block.adapted.size(); ++id) {
        out.adapted[id] += block.adapted[id];
      }
      for (auto& text : block.keys) out.keys.push_back(keys.number(text));
      for (const std::size_t line : block.broken) options.on_broken_quote(line);
      block = {};
    }
    if (batch.failure) std::rethrow_exception(batch.failure);
  }
  if (batch.failure) std::rethrow_exception(batch.failure);
  out.table = table.finish();
  out.distinct_keys = keys.size();
  return out;
}

}  // namespace tandem
