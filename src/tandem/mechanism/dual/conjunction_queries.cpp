// SPDX-License-Identifier: Apache-2.0
#include "tandem/mechanism/dual/conjunction_queries.h"

#include <fmt/core.h>

#include <vector>

#include "tandem/base/error.h"
#include "tandem/base/text.h"

namespace tandem {

std::size_t count_queries(const std::string& mechanism, const Workload& workload) {
  if (const auto* conjunctions = workload.conjunctions()) return conjunctions->size();
  if (workload.queries() > kMostConjunctions) {
    throw UsageError(fmt::format(
        "{} keeps every query by itself, at most {}, and the workload has {} cells; choose a "
        "smaller " TANDEM_SETTING("workload") ", such as conjunctions:3:20000:1.",
        mechanism, with_commas(kMostConjunctions), with_commas(workload.queries())));
  }
  return workload.queries();
}

ConjunctionSet queries_of(const std::string& mechanism, const Workload& workload) {
  count_queries(mechanism, workload);
  if (const auto* conjunctions = workload.conjunctions()) return *conjunctions;
  std::vector<Clique> cliques;
  for (const auto& [clique, weight] : workload.cliques()) cliques.push_back(clique);
  return cell_conjunctions(workload.domain(), cliques);
}

}  // namespace tandem
