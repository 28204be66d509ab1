// SPDX-License-Identifier: Apache-2.0
#pragma once
// From batches of typed cells in memory (Arrow) to rows of codes: what read_csv is to files.
//
// A cell of private data is never an error: what fits nowhere has a code, as in a file. What is
// refused is the shape: a column that is missing, stands twice or is nested. A row of a batch is a
// row, mended by the schema's rules by itself.

#include <memory>
#include <string>
#include <vector>

#include "tandem/base/parallel.h"
#include "tandem/data/arrow.h"
#include "tandem/data/person_key.h"
#include "tandem/data/schema.h"
#include "tandem/data/table.h"

namespace tandem {

struct CodedRows {
  Table table;
  std::vector<PersonKey> persons;  // with a person column: of each row
};

class RowEncoder {
 public:
  // `person`: the column that tells people apart, in the schema or not; empty: none.
  // REQUIRES: the schema outlives the encoder.
  RowEncoder(const Schema& schema, std::string person);
  ~RowEncoder();
  RowEncoder(RowEncoder&&) noexcept;
  RowEncoder& operator=(RowEncoder&&) noexcept;

  bool has_persons() const { return !person_.empty(); }

  // UsageError for columns that don't fit; it names them. Nothing of a row is looked at.
  void check_columns(const ArrowSchema& batches);

  // Privacy: each row by itself; errors depend on types and on lengths of buffers alone.
  CodedRows encode(const ArrowArray& batch, const ArrowSchema& schema, const Threads& threads = {});

 private:
  struct Plan;  // which column of the batches goes where, and how

  const Schema* schema_;
  std::string person_;
  std::unique_ptr<Plan> plan_;
};

}  // namespace tandem
