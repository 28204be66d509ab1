// SPDX-License-Identifier: Apache-2.0
#pragma once
// A distribution over rows: ask it for marginals, sample from it, restrict it, keep it in a file.
// How it is fitted is each model's own affair, so there is no virtual update.

#include <cstddef>
#include <memory>
#include <span>
#include <vector>

#include "tandem/base/rng.h"
#include "tandem/data/table.h"
#include "tandem/model/restriction.h"
#include "tandem/query/factor.h"

namespace tandem {

class ModelWriter;
class RecordsModel;

class Model {
 public:
  virtual ~Model() = default;
  virtual const Domain& domain() const = 0;
  virtual double total() const = 0;                        // what every projection sums to
  virtual Factor project(const Clique& clique) const = 0;  // expected counts
  // In the order asked; models that can share work between marginals do.
  virtual std::vector<Factor> project_all(std::span<const Clique> cliques) const;
  virtual Table sample(std::size_t rows, Rng& rng) const = 0;

  // The model given that rows fulfil the restriction, of the same total.
  // REQUIRES: the model gives such rows a probability above zero; model/restricted.h asks first.
  virtual std::unique_ptr<Model> given(const Restriction& only) const = 0;

  // Hands over what a file has to hold; false for a model that is not kept in one. Its reader
  // stands in model_file.cpp.
  virtual bool write(ModelWriter& out) const = 0;

  // Logarithms on cliques, from which a graphical model can start; none where it has no such form.
  virtual std::span<const Factor> potentials() const { return {}; }
  // Whether rows answer as the model does but for one row here and there, and must stay whole.
  virtual bool rows_are_exact() const { return false; }
  // The model, where it is a few records: what asks conjunctions of wide tables takes these.
  virtual const RecordsModel* as_records() const { return nullptr; }
};

}  // namespace tandem
