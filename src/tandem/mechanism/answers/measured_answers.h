// SPDX-License-Identifier: Apache-2.0
#pragma once
// What measurements tell of linear queries by themselves, whatever mechanism made them and whatever
// its model believes: least squares in the residual basis, with the variance that follows.
//
// Measurements that were chosen beforehand give unbiased answers and exact variances. Where later
// ones were chosen in the light of earlier ones, the variance is the one that the same list would
// have had if it had been fixed beforehand: nominal.

#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "tandem/base/parallel.h"
#include "tandem/data/domain.h"
#include "tandem/query/measurement.h"
#include "tandem/query/product_queries.h"

namespace tandem {

struct MeasuredAnswer {
  double estimate = 0.0;
  double stddev = 0.0;
  double margin95 = 0.0;  // half of a 95% interval
};

class MeasuredAnswers {
 public:
  // Public measurements are passed over. Marginals and products of column maps are fitted together;
  // of marginals with merged or single cells the most precise one answers what it counts, where
  // that is better. `public_total`: the number of rows, where all neighbours
  // have as many. Takes as long as a least-squares fit of what was measured; for Laplace noise,
  // whose intervals are found by drawing it, up to some seconds.
  MeasuredAnswers(const Domain& domain, std::vector<ProductQueries> products,
                  std::span<const Measurement> measurements, std::optional<double> public_total,
                  const Threads& threads);
  MeasuredAnswers(MeasuredAnswers&&) noexcept;
  MeasuredAnswers& operator=(MeasuredAnswers&&) noexcept;
  ~MeasuredAnswers();

  // To the queries of products[index], in the order of their rows, without the weight; nothing
  // where the measurements do not tell an answer.
  std::vector<std::optional<MeasuredAnswer>> answer(std::size_t index) const;

 private:
  struct Parts;
  std::unique_ptr<Parts> parts_;
};

}  // namespace tandem
