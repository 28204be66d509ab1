// SPDX-License-Identifier: Apache-2.0
#include "tandem/model/histogram/partial_workload.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <utility>

#include "tandem/base/check.h"

namespace tandem {
namespace {

// Up to so many cells are summed in several lanes, so that additions to one cell need not wait for
// each other; more cells seldom meet.
constexpr std::size_t kMostInLanes = 512;
constexpr std::size_t kLanes = 4;

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

SortedRows::SortedRows(const Table& rows, const Clique& marginal) {
  const auto cells = cells_of(rows, marginal);
  std::vector<double> counts(rows.domain().cells(marginal), 0.0);
  for (const std::size_t at : cells) counts[at] += 1.0;
  occupied.assign(counts.size(), kNowhere);
  for (std::size_t i = 0; i < counts.size(); ++i) {
    if (counts[i] == 0.0) continue;
    occupied[i] = static_cast<std::uint32_t>(rows_in.size());
    rows_in.push_back(counts[i]);
  }
  cell.reserve(cells.size());
  for (const std::size_t at : cells) cell.push_back(occupied[at]);
}

SortedRows::SortedRows(const Table& rows, const Clique& marginal,
                       std::span<const std::size_t> asked) {
  std::vector<std::uint32_t> place(rows.domain().cells(marginal), kNowhere);
  for (std::size_t i = 0; i < asked.size(); ++i) place[asked[i]] = static_cast<std::uint32_t>(i);
  const auto cells = cells_of(rows, marginal);
  std::vector<double> counts(asked.size(), 0.0);
  double rest = 0.0;
  for (const std::size_t at : cells) (place[at] == kNowhere ? rest : counts[place[at]]) += 1.0;
  occupied.assign(asked.size(), kNowhere);
  for (std::size_t i = 0; i < counts.size(); ++i) {
    if (counts[i] == 0.0) continue;
    occupied[i] = static_cast<std::uint32_t>(rows_in.size());
    rows_in.push_back(counts[i]);
  }
  const auto last = static_cast<std::uint32_t>(rows_in.size());
  if (rest > 0.0) rows_in.push_back(rest);
  cell.reserve(cells.size());
  for (const std::size_t at : cells) {
    cell.push_back(place[at] == kNowhere ? last : occupied[place[at]]);
  }
}

PartialWorkload::PartialWorkload(const Table& rows, const Clique& marginal,
                                 std::span<const double> shares)
    : PartialWorkload(std::make_shared<const SortedRows>(rows, marginal), shares) {}

PartialWorkload::PartialWorkload(const Table& rows, const Clique& marginal,
                                 std::span<const std::size_t> cells, std::span<const double> shares)
    : PartialWorkload(std::make_shared<const SortedRows>(rows, marginal, cells), shares) {}

PartialWorkload::PartialWorkload(std::shared_ptr<const SortedRows> sorted,
                                 std::span<const double> shares)
    : sorted_(std::move(sorted)) {
  check(shares.size() == sorted_->occupied.size(), "each cell that was asked has a share");
  for (std::size_t i = 0; i < shares.size(); ++i) {
    if (sorted_->occupied[i] == SortedRows::kNowhere) {
      out_of_reach_ += std::abs(shares[i]);
      unseen_ += shares[i];
      ++unseen_cells_;
      continue;
    }
    answers_.push_back(std::clamp(shares[i], 0.0, 1.0));
    out_of_reach_ += std::abs(shares[i] - answers_.back());
  }
}

void PartialWorkload::sum(std::span<const double> weights, std::span<double> b) const {
  const std::uint32_t* cell = sorted_->cell.data();
  const double* q = weights.data();
  const std::size_t rows = sorted_->cell.size();
  const std::size_t few = cells();
  std::ranges::fill(b.first(few), 0.0);
  double* sums = b.data();
  std::size_t r = 0;
  if (few <= kMostInLanes) {
    std::array<double, kMostInLanes * kLanes> lanes;
    std::fill_n(lanes.begin(), few * kLanes, 0.0);
    for (; r + kLanes <= rows; r += kLanes) {
      for (std::size_t lane = 0; lane < kLanes; ++lane) {
        lanes[cell[r + lane] * kLanes + lane] += q[r + lane];
      }
    }
    for (std::size_t j = 0; j < few; ++j) {
      const double* lane = lanes.data() + j * kLanes;
      sums[j] = (lane[0] + lane[1]) + (lane[2] + lane[3]);
    }
  }
  for (; r < rows; ++r) sums[cell[r]] += q[r];
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
