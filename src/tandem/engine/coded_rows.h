// SPDX-License-Identifier: Apache-2.0
#pragma once
// Private rows as codes for those who keep them outside this process: encoded, people's shares
// chosen, and counted, each where the rows lie. What comes out is as private as the rows.

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tandem/base/document.h"
#include "tandem/data/coded_block.h"
#include "tandem/data/row_encoder.h"
#include "tandem/query/block_counter.h"

namespace tandem {

// The schema in the text of a file, `kind` being toml or json.
Schema schema_in(const std::string& text, const std::string& kind);

struct EncoderRequest {
  std::string schema;         // the text of a schema file
  std::string kind = "toml";  // or json
  std::string person;         // the column that tells people apart; empty: none
  std::string seal;           // of their keys, while rows lie elsewhere; empty: none
};

// From batches to blocks (data/coded_block.h).
class BlockEncoder {
 public:
  // UsageError and SchemaError as for a schema file.
  explicit BlockEncoder(const EncoderRequest& request);

  // {"names", "sizes", "bytes", "bytes_per_row"}
  Document layout() const;
  // UsageError for columns that don't fit.
  std::string encode(const ArrowArray& batch, const ArrowSchema& schema);

 private:
  std::unique_ptr<Schema> schema_;  // where the encoder found it
  RowEncoder encoder_;
  std::string seal_;
};

// At most so many rows of each person, and no longer whose they are. REQUIRES: all rows of these
// people. UsageError for blocks without people. `seal` is what their keys were sealed with.
std::string within_share(std::span<const std::string_view> blocks, std::int64_t rows_per_person,
                         const std::string& seal = {});

// Counts marginals of blocks.
class BlockCounter {
 public:
  // UsageError for cliques that name other columns.
  BlockCounter(const std::vector<std::int64_t>& sizes,
               const std::vector<std::vector<std::int64_t>>& cliques, const Threads& threads);

  std::size_t cells() const { return counter_->cells(); }
  void add(std::string_view block);
  std::span<const std::int64_t> counts() { return counter_->counts(); }

 private:
  Domain domain_;
  std::unique_ptr<MarginalCounter> counter_;
};

}  // namespace tandem
