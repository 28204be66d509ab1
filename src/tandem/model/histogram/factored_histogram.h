// SPDX-License-Identifier: Apache-2.0
#pragma once
// Groups of columns that know nothing of each other, with a histogram of rows for each group.

#include <span>
#include <vector>

#include "tandem/model/histogram/support_histogram.h"

namespace tandem {

class ModelReader;

// The attributes of a group as a domain of their own, in order; and a clique inside the group in
// that domain's numbers.
Domain domain_of_group(const Domain& domain, const Clique& group);
Clique within_group(const Clique& clique, const Clique& group);

class FactoredHistogram final : public Model {
 public:
  struct Part {
    Clique group;
    SupportHistogram histogram;  // over domain_of_group; all of one total
  };
  // Groups are disjoint and cover the domain.
  FactoredHistogram(Domain domain, std::vector<Part> parts);

  const Domain& domain() const override { return domain_; }
  double total() const override { return parts_.front().histogram.total(); }
  Factor project(const Clique& clique) const override;
  // Every group has its rows to within one; they are shuffled apart.
  Table sample(std::size_t rows, Rng& rng) const override;
  std::unique_ptr<Model> given(const Restriction& only) const override;
  bool write(ModelWriter& out) const override;
  // Of one group or of several: a SupportHistogram or a FactoredHistogram.
  static std::unique_ptr<Model> read(const ModelReader& in);

  std::span<const Part> parts() const { return parts_; }

 private:
  Domain domain_;
  std::vector<Part> parts_;
};

}  // namespace tandem
