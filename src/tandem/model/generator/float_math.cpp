// SPDX-License-Identifier: Apache-2.0
#include "tandem/model/generator/float_math.h"

#define EIGEN_DONT_PARALLELIZE
#define EIGEN_FAST_MATH 0  // roots by estimates differ between makers of CPUs
#include <Eigen/Core>

#include "tandem/model/generator/float_math.inc"
#include "tandem/model/generator/float_math_fma.h"

namespace tandem {

const FloatMath& float_math() {
  static const FloatMath* const best = [] {
    const FloatMath* fma = float_math_fma();
    return fma != nullptr ? fma : &table();
  }();
  return *best;
}

}  // namespace tandem
