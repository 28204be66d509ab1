// SPDX-License-Identifier: Apache-2.0
#include "tandem/model/axis_order.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "tandem/base/check.h"

namespace tandem {
namespace {

// An axis of a table that is written in another order than it is read.
struct Axis {
  std::size_t size;
  std::size_t stride;       // where it is read
  std::size_t written = 0;  // where it is written
};

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
               std::span<const AttributeId> to, const double* in, double* out) {
  transpose(domain, from, to, from.size() + 1, 1, in, out);  // no gaps
}

void transpose(const Domain& domain, std::span<const AttributeId> from,
               std::span<const AttributeId> to, std::size_t inner, std::size_t runs_stride,
               const double* in, double* out) {
  check(from.size() == to.size(), "a transposed table has the same axes");
  // Axes that stay neighbours move as one; those of one code don't matter.
  std::vector<Axis> axes;
  for (const auto id : to) {
    std::size_t stride = inner == 0 ? runs_stride : 1;
    std::size_t at = from.size();
    while (at > 0 && from[at - 1] != id) {
      stride *= domain[from[--at]].size;
      if (from.size() - at == inner) stride = runs_stride;
    }
    check(at > 0, "a transposed table has the same axes");
    const std::size_t size = domain[id].size;
    if (size == 1) continue;
    if (!axes.empty() && axes.back().stride == stride * size) {
      axes.back() = {axes.back().size * size, stride, 0};
    } else {
      axes.push_back({size, stride, 0});
    }
  }
  if (axes.empty()) axes.push_back({1, 1, 0});
  std::size_t cells = 1;
  for (std::size_t i = axes.size(); i-- > 0;) {
    axes[i].written = cells;
    cells *= axes[i].size;
  }
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

}  // namespace tandem
