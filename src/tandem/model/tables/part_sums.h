// SPDX-License-Identifier: Apache-2.0
#pragma once
// Sums of tables onto many of their parts, with few passes over the large ones.
//
// Parts that leave out the same attribute are summed from a table without it: all triples of eight
// attributes take eight passes over the whole table, not fifty-six, and many over small ones.

#include <cstddef>
#include <functional>
#include <span>
#include <utility>
#include <vector>

#include "tandem/base/parallel.h"
#include "tandem/model/tables/axis_order.h"
#include "tandem/model/tables/contraction.h"

namespace tandem {

// A part of a table that somebody wants, and whose turn it is then.
struct WantedSum {
  std::size_t table = 0;
  Clique onto;
  std::size_t number = 0;
};

// Calls use(number, sum) once for each of `wanted`, in any order and on any thread. What it gets is
// gone when it returns.
using UseSum = std::function<void(std::size_t number, const TableView& sum)>;
void share_sums(const AxisOrder& order, const std::function<TableView(std::size_t)>& table,
                std::vector<WantedSum> wanted, Threads threads, const UseSum& use);

}  // namespace tandem
