// SPDX-License-Identifier: Apache-2.0
#include <fmt/core.h>

#include <algorithm>
#include <exception>
#include <utility>

#include "tandem/base/error.h"
#include "tandem/data/csv.h"
#include "tandem/data/csv_blocks.h"
#include "tandem/data/csv_columns.h"
#include "tandem/data/csv_parser.h"
#include "tandem/data/growing_table.h"

namespace tandem {

namespace {

constexpr std::size_t kBlocksPerThread = 2;

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
                        options.block_bytes, options.open);
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
    const double wanted = static_cast<double>(table.rows() + rows);
    table.reserve(rows, read > 0.0 && in_all > 0.0
                            ? static_cast<std::size_t>(1.03 * wanted * in_all / read)
                            : 0);
    for (auto& block : parsed) {
      if (const auto& problem = block.problem) {
        throw SchemaError(fmt::format("{}, line {}: {}", path, problem->first, problem->second));
      }
      table.append(block.rows, block.codes.data());
      for (std::size_t id = 0; id < block.adapted.size(); ++id) {
        out.adapted[id] += block.adapted[id];
      }
      out.keys.insert(out.keys.end(), block.keys.begin(), block.keys.end());
      for (const std::size_t line : block.broken) options.on_broken_quote(line);
      block = {};
    }
    if (batch.failure) std::rethrow_exception(batch.failure);
  }
  if (batch.failure) std::rethrow_exception(batch.failure);
  out.table = table.take();
  return out;
}

}  // namespace tandem
