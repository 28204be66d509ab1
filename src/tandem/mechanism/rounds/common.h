// SPDX-License-Identifier: Apache-2.0
#pragma once
// What several mechanisms share and no lower layer needs.

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "tandem/base/error.h"
#include "tandem/mechanism/problem.h"
#include "tandem/mechanism/release.h"
#include "tandem/privacy/curator.h"
#include "tandem/query/measurement.h"

namespace tandem {

// What can't be done with a table of so few rows, and could with another: the one error that a
// rehearsal on a made-up row does not tell.
class TooFewRows : public UsageError {
 public:
  using UsageError::UsageError;
};

std::vector<LinearQuery> one_way_marginals(const Domain& domain);

// The number of rows where it is public: under replace-one with exactly one row a person. Free.
std::optional<double> public_total(Curator& curator);

inline constexpr double kShareOfTotal = 0.02;

// The number of rows n: exact and free where it is public, otherwise measured with a share of the
// budget. At least 1; a measurement is added to the release, whose total it becomes.
double measure_total(Curator& curator, Release& release, double share = kShareOfTotal);

// UsageError when every marginal of the workload is a single cell: nothing can be learnt of it.
void require_questions(const Problem& problem);

// Measures them with all that is left, in equal shares; the last takes what rounding leaves.
std::vector<Measurement> measure_to_the_end(Curator& curator, std::span<const LinearQuery> queries);
std::vector<Measurement> measure_to_the_end(Curator& curator, std::span<const LinearQuery> queries,
                                            NoiseKind noise);

// The number of rows from noisy marginals: each one's sum, weighted by its precision. At least 1.
double estimate_total(std::span<const Measurement> marginals);

// What the reader of a release should know of its public data: values it never shows, a single row.
std::vector<Warning> public_data_warnings(const Problem& problem);

}  // namespace tandem
