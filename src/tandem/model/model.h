// SPDX-License-Identifier: Apache-2.0
#pragma once
// A distribution over rows: ask it for marginals, or sample from it. How it is fitted is each
// model's own affair, so there is no virtual update.

#include <cstddef>
#include <span>
#include <vector>

#include "tandem/base/rng.h"
#include "tandem/data/table.h"
#include "tandem/query/factor.h"

namespace tandem {

class Model {
 public:
  virtual ~Model() = default;
  virtual const Domain& domain() const = 0;
  virtual Factor project(const Clique& clique) const = 0;  // expected counts
  // In the order asked; models that can share work between marginals do.
  virtual std::vector<Factor> project_all(std::span<const Clique> cliques) const {
    std::vector<Factor> factors;
    for (const auto& clique : cliques) factors.push_back(project(clique));
    return factors;
  }
  virtual Table sample(std::size_t rows, Rng& rng) const = 0;
  // Whether rows answer as the model does but for one row here and there, and must stay whole.
  virtual bool rows_are_exact() const { return false; }
};

}  // namespace tandem
