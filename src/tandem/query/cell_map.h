// SPDX-License-Identifier: Apache-2.0
#pragma once
// Walking the cells of a marginal together with the cells of a smaller one they fall into.

#include <cstddef>
#include <vector>

#include "tandem/data/clique.h"
#include "tandem/data/domain.h"

namespace tandem {

// Calls f(cell of `from`, cell of `onto`) for every cell of `from`, in order; onto is a subset.
template <class F>
void for_each_cell(const Domain& domain, const Clique& from, const Clique& onto, F&& f) {
  const std::size_t depth = from.size();
  if (depth == 0) {
    f(std::size_t{0}, std::size_t{0});
    return;
  }
  // Stride of each attribute of `from` within `onto`; 0 where it is summed out.
  std::vector<std::size_t> stride(depth, 0);
  std::vector<std::size_t> size(depth);
  std::size_t running = 1;
  for (std::size_t i = depth; i-- > 0;) {
    size[i] = domain[from[i]].size;
    if (onto.contains(from[i])) {
      stride[i] = running;
      running *= size[i];
    }
  }
  std::vector<std::size_t> at(depth, 0);
  const std::size_t last = depth - 1;
  std::size_t cell = 0;
  std::size_t base = 0;
  for (;;) {
    for (std::size_t v = 0; v < size[last]; ++v) f(cell++, base + v * stride[last]);
    std::size_t i = last;
    for (;;) {  // the next combination of all attributes but the last
      if (i == 0) return;
      --i;
      base += stride[i];
      if (++at[i] < size[i]) break;
      base -= stride[i] * size[i];
      at[i] = 0;
    }
  }
}

}  // namespace tandem
