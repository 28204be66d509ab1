// SPDX-License-Identifier: Apache-2.0
#pragma once
// L-BFGS for planners: from a start to a point where the gradient is small.

#include <span>
#include <vector>

#include "tandem/base/parallel.h"
#include "tandem/optimize/lbfgs.h"

namespace tandem {

// Moves x downhill until the gradient's largest entry is below `tolerance` or the evaluations are
// used up. Returns the value there. Without a curvature, all coordinates are taken to be as steep
// as the last step was.
double search_minimum(const Lbfgs::Function& function, std::vector<double>& x, int evaluations,
                      double tolerance, const Threads& threads,
                      const Lbfgs::Curvature& curvature = {});

}  // namespace tandem
