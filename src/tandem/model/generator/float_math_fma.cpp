// SPDX-License-Identifier: Apache-2.0
#include "tandem/model/generator/float_math_fma.h"

#include "tandem/base/multiversion.h"

#ifdef TANDEM_HAS_MULTIVERSION
// What Eigen includes of the standard library comes before the instructions are switched on, so
// that none of its functions is compiled with them for the rest of the program.
#include <immintrin.h>
#include <algorithm>
#include <array>
#include <cassert>
#include <cerrno>
#include <climits>
#include <cmath>
#include <complex>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <iosfwd>
#include <limits>
#include <sstream>
#include <string>
#include <type_traits>

#pragma GCC push_options
#pragma GCC target("avx2,fma")
#define EIGEN_DONT_PARALLELIZE
#define EIGEN_FAST_MATH 0  // roots by estimates differ between makers of CPUs
#define Eigen EigenFma     // names of its own: see float_math.inc
#include <Eigen/Core>

#include "tandem/model/generator/float_math.inc"

namespace tandem {
namespace {
const FloatMath* table_for_fma() { return &table(); }
}  // namespace
}  // namespace tandem
#pragma GCC pop_options

namespace tandem {

const FloatMath* float_math_fma() {
  return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") ? table_for_fma()
                                                                         : nullptr;
}

}  // namespace tandem

#else

namespace tandem {

const FloatMath* float_math_fma() { return nullptr; }

}  // namespace tandem

#endif
