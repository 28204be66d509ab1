// SPDX-License-Identifier: Apache-2.0
#include "tandem/privacy/door.h"

#include <fmt/core.h>
#include <sys/stat.h>

#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include "tandem/base/error.h"
#include "tandem/base/text.h"
#include "tandem/source/open.h"
#include "tandem/source/parquet.h"

namespace tandem {

Door Door::file(const std::string& source) {
  Door out;
  out.text_ = text_size(source);
  out.files_ = source_files(source);
  out.open_ = [source](const Schema& schema, const PrivateSourceOptions& options,
                       double /*most_bytes*/) { return open_private(source, schema, options); };
  return out;
}

Door Door::hidden_text(const std::string& path, std::optional<double> rows) {
  Door out = file(path);
  out.text_ = std::nullopt;
  out.files_.clear();
  // As of a stream: which way the rows of a frame come can depend on a cell, and what is refused
  // must not.
  out.holds_ = false;
  out.rows_ = rows;
  return out;
}

namespace {

// The columns of a table that a run reads.
std::vector<std::string> columns_read(const ParquetTable& table, const std::string& source,
                                      const Schema& schema, const std::string& person) {
  std::vector<std::string> out;
  for (const auto& attribute : schema.domain().attributes()) out.push_back(attribute.name);
  if (person.empty() || schema.domain().find(person)) return out;
  if (std::ranges::find(table.names(), person) == table.names().end()) {
    throw SchemaError(
        fmt::format("{} has no column {}, named as the person column; check its name.", source,
                    in_quotes(person)));
  }
  out.push_back(person);
  return out;
}

}  // namespace

// Rows of Parquet come as those of a frame do: in batches of typed cells, each of which is a row.
Door Door::parquet(const std::string& source, const Threads& threads) {
  const auto table = std::make_shared<const ParquetTable>(source, threads);
  Door out;
  out.rows_ = static_cast<double>(table->rows());
  out.decoder_ = table->decoder();
  out.files_ = source_files(source);
  out.holds_ = false;
  out.check_ = [table, source](const Schema& schema, const std::string& person,
                               const ConjunctionSet* /*conjunctions*/) {
    table->rows_of(columns_read(*table, source, schema, person));
  };
  out.open_ = [table, source](const Schema& schema, const PrivateSourceOptions& options,
                              double most_bytes) {
    const auto columns = columns_read(*table, source, schema, options.person);
    return open_private(table->rows_of(columns), schema, options, HowToCount::ByMemory, most_bytes);
  };
  return out;
}

Door Door::stream(RowStream rows, HowToCount how, std::vector<std::string> files) {
  Door out;
  out.files_ = std::move(files);
  if (rows.rows > 0) out.rows_ = static_cast<double>(rows.rows);
  out.holds_ = false;
  out.open_ = [rows = std::move(rows), how](
                  const Schema& schema, const PrivateSourceOptions& options, double most_bytes) {
    return open_private(rows, schema, options, how, most_bytes);
  };
  return out;
}

Door Door::counted(CountCliques count, double rows, std::int64_t most_made) {
  Door out;
  if (rows > 0.0) out.rows_ = rows;
  out.holds_ = false;
  out.most_made_ = most_made;
  out.check_ = [](const Schema& /*schema*/, const std::string& /*person*/,
                  const ConjunctionSet* conjunctions) {
    if (conjunctions != nullptr) require_countable(*conjunctions);
  };
  out.open_ = [count = std::move(count)](const Schema& schema, const PrivateSourceOptions& options,
                                         double /*most_bytes*/) {
    return counted_private(schema.domain(), count, options);
  };
  return out;
}

SourceFacts Door::facts(const PrivacyUnit& unit) const {
  return {.rows = unit.keeps_rows() ? rows_ : std::nullopt, .text = text_, .decoder = decoder_};
}

std::vector<std::string> Door::pins() const {
  std::vector<std::string> out;
  for (const auto& file : files_) {
    struct stat status {};
    if (stat(file.c_str(), &status) != 0 || !S_ISREG(status.st_mode)) continue;
    out.push_back(fmt::format("{} bytes, {}.{:09}", status.st_size, status.st_mtim.tv_sec,
                              status.st_mtim.tv_nsec));
  }
  return out;
}

void Door::check(const Schema& schema, const std::string& person,
                 const ConjunctionSet* conjunctions) const {
  if (check_) check_(schema, person, conjunctions);
}

PrivateData Door::open(const Schema& schema, const PrivateSourceOptions& options,
                       double most_bytes) const {
  return open_(schema, options, most_bytes);
}

}  // namespace tandem
