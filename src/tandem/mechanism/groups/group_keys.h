// SPDX-License-Identifier: Apache-2.0
#pragma once
// Groups of rows by the values of key columns, fine and coarse: which there are, how counts of all
// of them together are asked for, and how the answer falls into groups. All public.

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "tandem/mechanism/problem.h"
#include "tandem/query/axis_map.h"
#include "tandem/query/measurement.h"

namespace tandem {

struct GroupKeys {
  Domain domain;
  Clique fine;    // key columns
  Clique coarse;  // those whose values, or coarser ones of them, make the coarse groups; or none
  std::shared_ptr<const AxisMap> coarser;  // of the one column of `coarse`; none: its own values
  Clique others;                           // columns outside the key
  Domain inner;                            // of these
  std::size_t coarse_groups = 1;
  std::vector<std::size_t> coarse_of;  // of each fine group

  // Every combination of the key's values is a group, seen or not.
  std::size_t groups() const { return coarse_of.size(); }
  std::vector<Code> codes_of(std::size_t group) const;

  // A marginal of `inner` for each group, as one query of the whole table.
  LinearQuery with_fine(const Clique& marginal) const;
  LinearQuery with_coarse(const Clique& marginal) const;
};

// Whether what makes coarse groups is a file: it is neither empty nor names of columns.
bool names_a_file(const Domain& domain, const std::string& coarse);

// Names of columns, with commas; `coarse` is some of these columns, or a CSV file that names a
// value of one of the fine columns and its coarser one on each line (coarser_file.h). UsageError
// for columns that are none, a key without other columns, what is wrong with the file, and too
// many groups.
GroupKeys group_keys(const Problem& problem, const std::string& fine, const std::string& coarse);

// The same problem for the columns outside the key, with the public rows.
Problem without_keys(const Problem& problem, const GroupKeys& keys);

// Answers of with_fine() or with_coarse(), group by group: so many cells each.
std::vector<double> by_group(const GroupKeys& keys, const Measurement& y, std::size_t groups);

}  // namespace tandem
