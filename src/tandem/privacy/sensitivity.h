// SPDX-License-Identifier: Apache-2.0
#pragma once
// How far one person can move the answer to a query: derived from the query's shape, the
// neighbouring relation and the rows a person may have. Never passed in by a mechanism.
//
// A row of the table adds one column of the query's matrix to the answer. So under add-remove the
// answer moves by a column's norm, under replace-one by the distance between two columns, or by a
// norm where a person may be absent, and with m rows a person by at most m times the larger of the
// two that apply. docs/privacy.md has the proofs.

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

}  // namespace tandem
