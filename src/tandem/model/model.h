// SPDX-License-Identifier: Apache-2.0
#pragma once
// A distribution over rows: ask it for marginals, or sample from it. How it is fitted is each
// model's own affair, so there is no virtual update.

#include <cstddef>

#include "tandem/base/rng.h"
#include "tandem/data/table.h"
#include "tandem/query/factor.h"

namespace tandem {

class Model {
 public:
  virtual ~Model() = default;
  virtual const Domain& domain() const = 0;
  virtual Factor project(const Clique& clique) const = 0;  // expected counts
  virtual Table sample(std::size_t rows, Rng& rng) const = 0;
};

}  // namespace tandem
