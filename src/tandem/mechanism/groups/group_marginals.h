// SPDX-License-Identifier: Apache-2.0
#pragma once
// Which marginals are measured of groups, and how far each group's noisy answers are to be trusted.

#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "tandem/mechanism/groups/group_keys.h"
#include "tandem/mechanism/groups/group_rows.h"
#include "tandem/model/histogram/partial_workload.h"
#include "tandem/privacy/curator.h"

namespace tandem {

inline constexpr const char* kColumns = "columns";

// What a level of groups has to spend, and how large its groups are.
struct GroupBudget {
  Cost cost;
  NoiseKind noise = NoiseKind::None;
  double rows = 1.0;  // of a group, on average
};

double mean_rows(std::span<const double> rows);  // over groups with any; at least 1

// Marginals that an option names, such as age+sex,region; none for the words below. UsageError for
// names that are missing, unknown or in the key.
std::optional<std::vector<Clique>> named_marginals(const GroupKeys& keys, const std::string& wanted,
                                                   const std::string& option);

// W_S, as marginals of the columns outside the key. public-cliques: those of two or three columns
// that a model of public data takes up, in its order of gain, while
//   gain_{k+1} n > E|noise|_1 of k+1 together - E|noise|_1 of k
// and every other column by itself; columns: each by itself; or a list such as age+sex,region.
std::vector<Clique> choose_coarse(const Curator& curator, const Problem& inner,
                                  const GroupKeys& keys, const std::string& wanted,
                                  const GroupBudget& budget);
// W_G. columns: by themselves, those of few cells first, as many as can be told from their noise.
std::vector<Clique> choose_fine(const Curator& curator, const Problem& inner, const GroupKeys& keys,
                                const std::string& wanted, const GroupBudget& budget);

// How many rows each group has, by everything that was measured of it: the cells of a marginal add
// up to them, too. Weighted by their precision.
GroupTotals group_totals(const GroupKeys& keys, std::span<const Measurement> y, std::size_t groups);

// One marginal of all groups of a level.
class GroupTable {
 public:
  GroupTable(const Table& support, const Clique& marginal, std::vector<double> y, double sigma);
  // A group's counts as shares, on the support.
  PartialWorkload workload(std::span<const double> shares) const { return {sorted_, shares}; }
  // Counts of a group as shares of its n rows.
  std::vector<double> shares(std::size_t group, double n) const;
  // The marginal of weights on the support that sum to 1.
  std::vector<double> marginal_of(std::span<const double> weights) const;
  // b + s (y/n - b): b is the marginal of the estimate above, s = n^2 phi b / (n^2 phi b + sigma^2)
  // what is known of each cell, where cells of groups differ from b by a variance of phi b.
  std::vector<double> trusted(std::size_t group, double n, std::span<const double> b,
                              double phi) const;
  // phi by moments over all groups that have rows: at least 0.
  double spread(std::span<const double> rows, const std::vector<std::vector<double>>& above,
                std::span<const std::size_t> which) const;
  // Exponents of the cells that rows are in, as those of all cells: 0 elsewhere.
  void add_exponents(std::span<const double> occupied, std::vector<double>& out) const;

 private:
  std::shared_ptr<const SortedRows> sorted_;  // of all groups' workloads
  std::vector<double> y_;
  double sigma_ = 0.0;
};

}  // namespace tandem
