// SPDX-License-Identifier: Apache-2.0
#include "tandem/model/histogram/partial_workload.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>

#include "tandem/base/check.h"

namespace tandem {
namespace {

constexpr std::uint32_t kNone = std::numeric_limits<std::uint32_t>::max();

// The marginal's cell of each row.
std::vector<std::size_t> cells_of(const Table& rows, const Clique& marginal) {
  std::vector<std::size_t> out(rows.rows(), 0);
  for (const auto id : marginal) {
    const std::size_t size = rows.domain()[id].size;
    rows.column(id).visit([&](auto codes) {
      for (std::size_t r = 0; r < out.size(); ++r) out[r] = out[r] * size + codes[r];
    });
  }
  return out;
}

}  // namespace

PartialWorkload::PartialWorkload(const Table& rows, const Clique& marginal,
                                 std::span<const double> shares) {
  check(shares.size() == rows.domain().cells(marginal), "a marginal has a share for each cell");
  std::vector<std::uint32_t> place(shares.size());
  std::iota(place.begin(), place.end(), 0U);
  sort_rows(rows, marginal, std::move(place), shares);
}

PartialWorkload::PartialWorkload(const Table& rows, const Clique& marginal,
                                 std::span<const std::size_t> cells,
                                 std::span<const double> shares) {
  check(shares.size() == cells.size(), "each cell that was asked has a share");
  std::vector<std::uint32_t> place(rows.domain().cells(marginal), kNone);
  for (std::size_t i = 0; i < cells.size(); ++i) place[cells[i]] = static_cast<std::uint32_t>(i);
  sort_rows(rows, marginal, std::move(place), shares);
}

// `place`: of each cell of the marginal its share, or none.
void PartialWorkload::sort_rows(const Table& rows, const Clique& marginal,
                                std::vector<std::uint32_t> place, std::span<const double> shares) {
  const auto cells = cells_of(rows, marginal);
  std::vector<double> counts(shares.size(), 0.0);
  double rest = 0.0;
  for (const std::size_t cell : cells) (place[cell] == kNone ? rest : counts[place[cell]]) += 1.0;
  std::vector<std::uint32_t> occupied(shares.size(), kNone);
  for (std::size_t i = 0; i < shares.size(); ++i) {
    if (counts[i] == 0.0) {
      out_of_reach_ += std::abs(shares[i]);
      unseen_ += shares[i];
      ++unseen_cells_;
      continue;
    }
    occupied[i] = static_cast<std::uint32_t>(answers_.size());
    answers_.push_back(std::clamp(shares[i], 0.0, 1.0));
    out_of_reach_ += std::abs(shares[i] - answers_.back());
    rows_in_.push_back(counts[i]);
  }
  const auto last = static_cast<std::uint32_t>(answers_.size());
  if (rest > 0.0) rows_in_.push_back(rest);
  cell_.reserve(cells.size());
  for (const std::size_t cell : cells) {
    cell_.push_back(place[cell] == kNone ? last : occupied[place[cell]]);
  }
}

void PartialWorkload::sum(std::span<const double> weights, std::span<double> b) const {
  std::ranges::fill(b.first(cells()), 0.0);
  const std::uint32_t* cell = cell_.data();
  const double* q = weights.data();
  double* sums = b.data();
  const std::size_t rows = cell_.size();
  for (std::size_t r = 0; r < rows; ++r) sums[cell[r]] += q[r];
}

double PartialWorkload::misfit(std::span<const double> b) const {
  double out = 0.0;
  for (std::size_t j = 0; j < answers_.size(); ++j) out += std::abs(b[j] - answers_[j]);
  return out;
}

std::size_t most_cells(std::span<const PartialWorkload> workloads) {
  std::size_t most = 0;
  for (const auto& workload : workloads) most = std::max(most, workload.cells());
  return most;
}

double misfit_of(std::span<const PartialWorkload> workloads, std::span<const double> weights) {
  std::vector<double> b(most_cells(workloads));
  double out = 0.0;
  for (const auto& workload : workloads) {
    workload.sum(weights, b);
    out += workload.misfit(b);
  }
  return out;
}

double out_of_reach(std::span<const PartialWorkload> workloads) {
  double out = 0.0;
  for (const auto& workload : workloads) out += workload.out_of_reach();
  return out;
}

double relative_entropy(std::span<const double> q, std::span<const double> p) {
  double out = 0.0;
  for (std::size_t i = 0; i < q.size(); ++i) {
    if (!(q[i] > 0.0)) continue;
    if (!(p[i] > 0.0)) return std::numeric_limits<double>::infinity();
    out += q[i] * std::log(q[i] / p[i]);
  }
  return std::max(0.0, out);
}

}  // namespace tandem
