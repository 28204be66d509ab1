// SPDX-License-Identifier: Apache-2.0
#include "tandem/model/axis_order.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "tandem/base/check.h"

namespace tandem {

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
  struct Axis {
    std::size_t size;
    std::size_t stride;  // in `in`
  };
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
      axes.back() = {axes.back().size * size, stride};
    } else {
      axes.push_back({size, stride});
    }
  }
  while (axes.size() < 2) axes.insert(axes.begin(), {1, 0});
  // The last two run as plain loops, those further out as an odometer.
  const auto [length, step] = axes.back();
  axes.pop_back();
  const auto [rows, stride] = axes.back();
  axes.pop_back();
  std::vector<std::size_t> at(axes.size(), 0);
  std::size_t base = 0;
  for (;;) {
    for (std::size_t r = 0; r < rows; ++r, out += length) {
      const double* row = in + base + r * stride;
      if (step == 1) {
        for (std::size_t j = 0; j < length; ++j) out[j] = row[j];
      } else {
        for (std::size_t j = 0; j < length; ++j) out[j] = row[j * step];
      }
    }
    std::size_t i = axes.size();
    for (;;) {
      if (i == 0) return;
      --i;
      base += axes[i].stride;
      if (++at[i] < axes[i].size) break;
      base -= axes[i].stride * axes[i].size;
      at[i] = 0;
    }
  }
}

}  // namespace tandem
