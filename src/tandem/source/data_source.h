// SPDX-License-Identifier: Apache-2.0
#pragma once
// Where rows live. Counts come out, rows never do, so a source may be a table in memory or a
// database that counts where the data already is.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "tandem/data/domain.h"
#include "tandem/query/conjunctions.h"
#include "tandem/query/factor.h"

namespace tandem {

class DataSource {
 public:
  virtual ~DataSource() = default;
  virtual const Domain& domain() const = 0;
  // The marginals, in the order asked, in one pass where the source can.
  virtual std::vector<Factor> count(std::span<const Clique> cliques) const = 0;
  // How many rows fulfil each conjunction of a set over this domain.
  virtual std::vector<std::int64_t> count(const ConjunctionSet& conjunctions) const = 0;
  // The rows whose attribute has this code.
  virtual std::unique_ptr<DataSource> where(AttributeId attribute, Code code) const = 0;
};

}  // namespace tandem
