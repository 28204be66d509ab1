// SPDX-License-Identifier: Apache-2.0
#include "tandem/model/pgm/propagation_slices.h"

#include <algorithm>
#include <limits>
#include <unordered_map>
#include <utility>

namespace tandem {
namespace {

constexpr auto kWhole = std::numeric_limits<std::size_t>::max();
// As many as fit into 32 kB with room for others; but no fewer than make the loops worth it.
constexpr std::size_t kSliceCells = 2048;
constexpr std::size_t kFewCells = 256;

}  // namespace

PropagationSlices::PropagationSlices(const AxisOrder& order, const Clique& clique,
                                     std::span<const Clique> pieces) {
  const Domain& domain = order.domain();
  const auto axes = order.axes(clique);
  std::size_t outer = axes.size();
  while (outer > 0 &&
         (slice_cells_ < kFewCells || slice_cells_ * domain[axes[outer - 1]].size <= kSliceCells)) {
    slice_cells_ *= domain[axes[--outer]].size;
  }
  const Clique inside(
      std::vector<AttributeId>(axes.begin() + static_cast<std::ptrdiff_t>(outer), axes.end()));
  for (std::size_t a = 0; a < outer; ++a) slices_ *= domain[axes[a]].size;

  struct Within {
    Clique clique;
    std::size_t position;
  };
  std::vector<Within> within;
  for (std::size_t p = 0; p < pieces.size(); ++p)
    within.push_back({intersect(pieces[p], inside), p});
  std::ranges::stable_sort(within, {}, [&](const Within& w) {
    return std::pair(domain.cells(w.clique), w.clique.size());
  });
  of_list_.resize(pieces.size());
  for (std::size_t i = 0; i < within.size(); ++i) {
    const auto& [mine, position] = within[i];
    Piece piece;
    piece.position = position;
    piece.into = kWhole;
    for (std::size_t j = i + 1; j < within.size() && piece.into == kWhole; ++j) {
      if (within[j].clique.contains(mine)) piece.into = j;
    }
    piece.plan = order.plan(piece.into == kWhole ? inside : within[piece.into].clique, mine);
    piece.from_slice = order.plan(inside, mine);
    piece.offsets.push_back(0);
    std::size_t stride = domain.cells(mine);
    for (std::size_t a = outer; a-- > 0;) {  // from the inside, so that the last runs fastest
      const bool kept = pieces[position].contains(axes[a]);
      const std::size_t so_far = piece.offsets.size();
      for (std::size_t code = 1; code < domain[axes[a]].size; ++code) {
        for (std::size_t s = 0; s < so_far; ++s) {
          piece.offsets.push_back(piece.offsets[s] + (kept ? code * stride : 0));
        }
      }
      if (kept) stride *= domain[axes[a]].size;
    }
    of_list_[position] = i;
    pieces_.push_back(std::move(piece));
  }
  for (auto& piece : pieces_) {
    if (piece.into == kWhole) continue;
    piece.first = !pieces_[piece.into].holds;
    pieces_[piece.into].holds = true;
  }
  for (auto& piece : pieces_) {
    if (!piece.holds) continue;
    piece.scratch = scratch_cells_;
    scratch_cells_ += piece.plan.small_cells();
  }
}

template <class Combine>
void PropagationSlices::combine(std::size_t slice, const double* from,
                                std::span<const double* const> tables, double* out, double* scratch,
                                Combine&& plan) const {
  const double* whole = from;
  const auto table = [&](const Piece& piece) {
    return tables[piece.position] + piece.offsets[slice];
  };
  // Small pieces come first: when one's turn comes, all that folds into it is there.
  for (const auto& piece : pieces_) {
    const double* mine = piece.holds ? scratch + piece.scratch : table(piece);
    if (piece.into == kWhole) {
      plan(piece.plan, whole, mine, out);
      whole = out;
    } else {
      const Piece& into = pieces_[piece.into];
      double* there = scratch + into.scratch;
      plan(piece.plan, piece.first ? table(into) : there, mine, there);
    }
  }
  if (whole != out) std::copy_n(whole, slice_cells_, out);
}

void PropagationSlices::multiply(std::size_t slice, const double* from,
                                 std::span<const double* const> tables, double* out,
                                 double* scratch) const {
  combine(slice, from, tables, out, scratch,
          [](const AxisPlan& plan, const double* large, const double* small, double* to) {
            plan.multiply(large, small, to);
          });
}

void PropagationSlices::add(std::size_t slice, const double* from,
                            std::span<const double* const> tables, double* out,
                            double* scratch) const {
  combine(slice, from, tables, out, scratch,
          [](const AxisPlan& plan, const double* large, const double* small, double* to) {
            plan.add(large, small, to);
          });
}

void PropagationSlices::add_sums(std::size_t slice, const double* from,
                                 std::span<double* const> tables, double* scratch) const {
  for (std::size_t i = pieces_.size(); i-- > 0;) {
    const Piece& piece = pieces_[i];
    const double* larger = piece.into == kWhole ? from : scratch + pieces_[piece.into].scratch;
    double* table = tables[piece.position] + piece.offsets[slice];
    if (!piece.holds) {
      piece.plan.add_sum(larger, table);
      continue;
    }
    double* mine = scratch + piece.scratch;
    piece.plan.sum(larger, mine);
    for (std::size_t c = 0; c < piece.plan.small_cells(); ++c) table[c] += mine[c];
  }
}

void PropagationSlices::raise(std::size_t slice, const double* from,
                              std::span<double* const> tables) const {
  for (const auto& piece : pieces_) {
    piece.from_slice.raise(from, tables[piece.position] + piece.offsets[slice]);
  }
}

bool PropagationSlices::shared(std::size_t piece, std::span<const std::size_t> bounds) const {
  const auto& offsets = pieces_[of_list_[piece]].offsets;
  std::unordered_map<std::size_t, std::size_t> side_of;
  std::size_t side = 0;
  for (std::size_t s = 0; s < slices_; ++s) {
    while (side < bounds.size() && s >= bounds[side]) ++side;
    const auto [at, fresh] = side_of.emplace(offsets[s], side);
    if (!fresh && at->second != side) return true;
  }
  return false;
}

}  // namespace tandem
