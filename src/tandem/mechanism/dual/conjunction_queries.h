// SPDX-License-Identifier: Apache-2.0
#pragma once
// A workload as conjunctions: its own, or every cell of its marginals.

#include "tandem/query/conjunctions.h"
#include "tandem/query/workload.h"

namespace tandem {

// How many there are, quickly. UsageError where they are more than can be kept.
std::size_t count_queries(const std::string& mechanism, const Workload& workload);
ConjunctionSet queries_of(const std::string& mechanism, const Workload& workload);

}  // namespace tandem
