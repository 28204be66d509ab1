// SPDX-License-Identifier: Apache-2.0
#include "tandem/model/tables/axis_order.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "tandem/base/check.h"

namespace tandem {
namespace {

// An axis of a table that is written in another order than it is read.
struct Axis {
  std::size_t size;
  std::size_t stride;   // where it is read
  std::size_t written;  // where it is written
};

std::vector<std::size_t> strides(const Domain& domain, std::span<const AttributeId> axes,
                                 const Runs& runs) {
  std::vector<std::size_t> out(axes.size());
  std::size_t cells = 1;
  for (std::size_t i = axes.size(); i-- > 0;) {
    if (axes.size() - 1 - i == runs.inner) cells = runs.stride;
    out[i] = cells;
    cells *= domain[axes[i]].size;
  }
  return out;
}

// In squares, so that what is read once is not read again from far away.
void copy_squares(const Axis& along, const Axis& across, const double* in, double* out) {
  constexpr std::size_t kSquare = 8;
  for (std::size_t j = 0; j < along.size; j += kSquare) {
    const std::size_t to = std::min(j + kSquare, along.size);
    for (std::size_t r = 0; r < across.size; ++r) {
      const double* from = in + r * across.stride;
      double* row = out + r * across.written;
      for (std::size_t c = j; c < to; ++c) row[c] = from[c * along.stride];
    }
  }
}

// After those that are there. Axes that stay neighbours move as one; those of one code don't
// matter.
void add_axis(std::vector<Axis>& axes, const Axis& mine) {
  if (mine.size == 1) return;
  if (!axes.empty() && axes.back().stride == mine.stride * mine.size &&
      axes.back().written == mine.written * mine.size) {
    axes.back() = {axes.back().size * mine.size, mine.stride, mine.written};
  } else {
    axes.push_back(mine);
  }
}

void copy_axes(std::vector<Axis> axes, const double* in, double* out) {
  if (axes.empty() || axes.back().written != 1) axes.push_back({1, 1, 1});
  // Two axes run as plain loops: the one that is written in one piece and, where it is another, the
  // one that is read so. The rest goes on like an odometer.
  const Axis along = axes.back();
  axes.pop_back();
  Axis across{1, 0, 0};
  if (!axes.empty()) {
    auto best = std::ranges::min_element(axes, {}, &Axis::stride);
    if (best->stride > along.stride) best = axes.end() - 1;
    across = *best;
    axes.erase(best);
  }
  std::vector<std::size_t> at(axes.size(), 0);
  std::size_t read = 0;
  std::size_t write = 0;
  for (;;) {
    if (along.stride == 1) {
      for (std::size_t r = 0; r < across.size; ++r) {
        const double* piece = in + read + r * across.stride;
        double* row = out + write + r * across.written;
        for (std::size_t c = 0; c < along.size; ++c) row[c] = piece[c];
      }
    } else {
      copy_squares(along, across, in + read, out + write);
    }
    std::size_t i = axes.size();
    for (;;) {
      if (i == 0) return;
      --i;
      read += axes[i].stride;
      write += axes[i].written;
      if (++at[i] < axes[i].size) break;
      read -= axes[i].stride * axes[i].size;
      write -= axes[i].written * axes[i].size;
      at[i] = 0;
    }
  }
}

}  // namespace

AxisOrder::AxisOrder(Domain domain) : domain_(std::move(domain)), rank_(domain_.size()) {
  std::vector<AttributeId> order(domain_.size());
  std::iota(order.begin(), order.end(), AttributeId{0});
  std::ranges::stable_sort(order, {}, [&](AttributeId id) { return domain_[id].size; });
  for (std::size_t i = 0; i < order.size(); ++i) rank_[order[i]] = i;
}

std::vector<AttributeId> AxisOrder::axes(const Clique& clique) const {
  std::vector<AttributeId> out(clique.begin(), clique.end());
  std::ranges::sort(out, {}, [&](AttributeId id) { return rank_[id]; });
  return out;
}

AxisPlan AxisOrder::plan(const Clique& large, const Clique& small) const {
  check(large.contains(small), "a plan goes from a clique to one inside it");
  std::vector<std::size_t> sizes;
  std::vector<bool> kept;
  for (const auto id : axes(large)) {
    sizes.push_back(domain_[id].size);
    kept.push_back(small.contains(id));
  }
  return {sizes, kept};
}

void AxisOrder::arrange(const Clique& clique, std::span<const double> factor,
                        std::span<double> out) const {
  transpose(domain_, clique.ids(), axes(clique), factor.data(), out.data());
}

void AxisOrder::restore(const Clique& clique, std::span<const double> arranged,
                        std::span<double> out) const {
  transpose(domain_, axes(clique), clique.ids(), arranged.data(), out.data());
}

void transpose(const Domain& domain, std::span<const AttributeId> from,
               std::span<const AttributeId> to, const double* in, double* out, const Runs& read_in,
               const Runs& written_in) {
  check(from.size() == to.size(), "a transposed table has the same axes");
  const auto read_at = strides(domain, from, read_in);
  const auto written_at = strides(domain, to, written_in);
  std::vector<Axis> axes;
  for (std::size_t i = 0; i < to.size(); ++i) {
    const auto at = std::ranges::find(from, to[i]);
    check(at != from.end(), "a transposed table has the same axes");
    add_axis(axes, {domain[to[i]].size, read_at[static_cast<std::size_t>(at - from.begin())],
                    written_at[i]});
  }
  copy_axes(std::move(axes), in, out);
}

void copy_part(const Domain& domain, std::span<const AttributeId> from,
               std::span<const FixedCode> at, const double* in, double* out) {
  std::vector<AttributeId> to;
  for (const auto id : from) {
    if (std::ranges::find(at, id, &FixedCode::id) == at.end()) to.push_back(id);
  }
  const auto read_at = strides(domain, from, {});
  const auto written_at = strides(domain, to, {});
  std::vector<Axis> axes;
  for (std::size_t i = 0, next = 0; i < from.size(); ++i) {
    if (next < to.size() && from[i] == to[next]) {
      add_axis(axes, {domain[from[i]].size, read_at[i], written_at[next++]});
    } else {
      in += std::ranges::find(at, from[i], &FixedCode::id)->code * read_at[i];
    }
  }
  copy_axes(std::move(axes), in, out);
}

}  // namespace tandem
