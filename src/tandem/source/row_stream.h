// SPDX-License-Identifier: Apache-2.0
#pragma once
// Rows that come in batches of typed cells from inside this process: frames, database cursors,
// readers of Parquet. Held as codes, or counted batch by batch in as many passes as it takes.

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "tandem/base/parallel.h"
#include "tandem/data/row_encoder.h"
#include "tandem/source/data_source.h"

namespace tandem {

// Opens the rows anew, from their first. Whatever it throws goes on to its caller.
using OpenRows = std::function<OwnedStream()>;

struct RowStream {
  OpenRows open;
  std::size_t rows = 0;  // that it has, where that is known; 0: not
  // Streams whose rows follow, with the same columns, perhaps in other types.
  std::vector<OpenRows> then = {};
  std::string when_broken = "The rows could not be read to their end.";  // what an error says
};

// How the rows of a stream are looked at.
struct RowReading {
  const Schema& schema;
  std::string person;  // the column that tells people apart; empty: none
  std::int64_t rows_per_person = 1;
  Threads threads = {};
  std::function<void(std::size_t rows)> progress = {};
};

// All rows as codes, each person's share of them; nothing where these and what it takes to choose
// among people's rows would need more than so many bytes. SourceError where the rows break off.
std::optional<Table> hold_rows(const RowStream& stream, const RowReading& reading,
                               double most_bytes);

// The same rows, counted in passes. `most_bytes` may be held at a time while people's rows are
// chosen, and after that a bit for each row. SourceError, too, where a pass sees other rows than
// the first.
std::unique_ptr<DataSource> passes_source(RowStream stream, const RowReading& reading,
                                          double most_bytes);

}  // namespace tandem
