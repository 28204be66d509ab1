// SPDX-License-Identifier: Apache-2.0
#pragma once
// How far one person can move the answer to a query: derived from the query's shape, the
// neighbouring relation and the rows a person may have. Never passed in by a mechanism.
//
// A row of the table adds one column of the query's matrix to the answer. So under add-remove the
// answer moves by a column's norm, under replace-one by the distance between two columns, or by a
// norm where a person may be absent, and with m rows a person by at most m times the larger of the
// two that apply. docs/privacy.md has the proofs.

#include <cstdint>
#include <span>

#include "tandem/base/parallel.h"
#include "tandem/base/units.h"
#include "tandem/data/domain.h"
#include "tandem/privacy/privacy_unit.h"
#include "tandem/query/linear_query.h"

namespace tandem {

// In units of the query's map (1 for a marginal): whole numbers, or rounded up beyond 2^53.
struct QuerySensitivity {
  L1Sensitivity l1;
  SquaredL2Sensitivity squared_l2;
  double largest = 0.0;  // of any one output
};

// Steps that comparing all columns of a map with each other may take: some seconds.
inline constexpr double kMostComparisons = 1e9;

// Privacy: for all neighbouring tables, the distance between the exact answers is at most this. An
// exact maximum for marginals and for maps whose columns can all be compared in `most_steps`;
// beyond that an upper bound, exact too where no coefficient is negative and two of the columns
// with the largest norm have no row in common.
QuerySensitivity sensitivity_of(const LinearQuery& query, const Domain& domain,
                                const PrivacyUnit& unit, double most_steps = kMostComparisons);

// Several queries measured together: noise of a query is the common one divided by its weight.
struct WeightedQuery {
  LinearQuery query;
  std::int64_t weight = 1;  // in units that are the same for all; 1 to 2^30
};

// Privacy: for all neighbouring tables, the distance between the stacks of all weight * answer,
// each answer in units of its own map. Under add-remove the sum of the queries' own sensitivities,
// which is exact where all columns of a map have one norm. Under replace-one exact for marginals,
// and for residual strategies (each map a product of maps that take out the sum) of up to 20
// columns; else a bound.
QuerySensitivity sensitivity_of(std::span<const WeightedQuery> queries, const Domain& domain,
                                const PrivacyUnit& unit, const Threads& threads = {});

}  // namespace tandem
