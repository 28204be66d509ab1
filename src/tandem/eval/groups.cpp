// SPDX-License-Identifier: Apache-2.0
#include "tandem/eval/groups.h"

#include <fmt/core.h>

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

#include "tandem/base/error.h"
#include "tandem/base/text.h"
#include "tandem/eval/metrics.h"
#include "tandem/query/counting.h"

namespace tandem {

namespace {

constexpr std::size_t kMostGroups = 10'000;
constexpr std::size_t kMostGroupCells = 2'000'000'000;  // cells of all groups' marginals together

struct Members {
  std::vector<std::size_t> reference;
  std::vector<std::size_t> estimate;
};

void gather(const Table& table, std::span<const AttributeId> by,
            std::map<std::vector<Code>, Members>& groups, std::vector<std::size_t> Members::*rows) {
  std::vector<Code> key(by.size());
  for (std::size_t r = 0; r < table.rows(); ++r) {
    for (std::size_t i = 0; i < by.size(); ++i) key[i] = table.column(by[i])[r];
    (groups[key].*rows).push_back(r);
    if (groups.size() > kMostGroups) {
      throw UsageError(
          fmt::format(TANDEM_SETTING("group-by") " makes more than {} groups; name columns with "
                                                 "fewer values.",
                      with_commas(kMostGroups)));
    }
  }
}

// Pairs of columns that make no group, or such a column alone.
std::vector<WeightedClique> marginals_within(const Domain& domain,
                                             std::span<const AttributeId> by) {
  std::vector<AttributeId> others;
  for (AttributeId id = 0; id < domain.size(); ++id) {
    if (std::ranges::find(by, id) == by.end()) others.push_back(id);
  }
  std::vector<WeightedClique> out;
  const auto add = [&](const Clique& clique) {
    const auto cells = domain.try_cells(clique);
    if (cells && *cells <= kMostCellsOfMarginal) out.push_back({clique});
  };
  if (others.size() == 1) add({others[0]});
  for (std::size_t a = 0; a < others.size(); ++a) {
    for (std::size_t b = a + 1; b < others.size(); ++b) add({others[a], others[b]});
  }
  return out;
}

}  // namespace

std::vector<GroupError> group_errors(const Table& reference, const Table& estimate,
                                     std::span<const AttributeId> by, const Threads& threads) {
  std::map<std::vector<Code>, Members> groups;
  gather(reference, by, groups, &Members::reference);
  gather(estimate, by, groups, &Members::estimate);
  const Workload within(reference.domain(), "", marginals_within(reference.domain(), by));
  if (within.queries() * groups.size() > kMostGroupCells) {
    throw UsageError(
        fmt::format(TANDEM_SETTING("group-by") " makes {} groups, too many to compare all pairs of "
                                               "columns in; name columns with fewer values.",
                    with_commas(groups.size())));
  }
  std::vector<GroupError> out(groups.size());
  std::vector<const Members*> members;
  std::size_t next = 0;
  for (const auto& [codes, rows] : groups) {
    out[next++] = {codes, rows.reference.size(), rows.estimate.size(), std::nullopt};
    members.push_back(&rows);
  }
  parallel_for(out.size(), threads, [&](std::size_t i) {
    if (within.size() == 0) return;
    if (members[i]->reference.empty() || members[i]->estimate.empty()) {
      out[i].error = 2.0;
      return;
    }
    out[i].error = evaluate_workload(within, CountedTable(reference.select(members[i]->reference)),
                                     CountedTable(estimate.select(members[i]->estimate)))
                       .avg_workload_error;
  });
  std::ranges::stable_sort(out, {}, [](const GroupError& group) {
    return std::tuple(group.small(), -group.error.value_or(0.0));
  });
  return out;
}

}  // namespace tandem
