// SPDX-License-Identifier: Apache-2.0
#pragma once
// A few records of equal weight, as DualQuery gives them: answers are multiples of one over their
// number, and a sample repeats each record equally often.
//
// Records may be of free bits, as the paper's are: any number of a column's values may hold. Then
// conjunctions are answered by the bits, and in a row a column has the first value that holds.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "tandem/base/parallel.h"
#include "tandem/model/model.h"
#include "tandem/model/record_set.h"
#include "tandem/query/conjunctions.h"

namespace tandem {

class ModelReader;

class RecordsModel final : public Model {
 public:
  RecordsModel(RecordSet records, double total);  // at least one record
  // REQUIRES: bits over indicator_domain(domain) (query/conjunctions.h).
  static RecordsModel of_bits(const Domain& domain, RecordSet bits, double total);

  const Domain& domain() const override { return records_.domain(); }
  double total() const override { return total_; }
  const RecordSet& records() const { return records_; }
  Factor project(const Clique& clique) const override;
  // The expected count of each conjunction.
  std::vector<double> answers(const ConjunctionSet& conjunctions,
                              const Threads& threads = {}) const;

  // Every record equally often to within one row, in any order. Of a wide domain a table would not
  // fit in memory; there, sample_records with write_pairs (data/pairs.h) gives the same rows.
  Table sample(std::size_t rows, Rng& rng) const override;
  std::vector<std::uint32_t> sample_records(std::size_t rows, Rng& rng) const;  // one for each row

  std::unique_ptr<Model> given(const Restriction& only) const override;
  bool write(ModelWriter& out) const override;
  static std::unique_ptr<Model> read(const ModelReader& in);
  bool rows_are_exact() const override { return true; }
  const RecordsModel* as_records() const override { return this; }

 private:
  RecordSet records_;
  std::optional<RecordSet> bits_;  // where they are free
  double total_;
};

}  // namespace tandem
