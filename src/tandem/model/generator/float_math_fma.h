// SPDX-License-Identifier: Apache-2.0
#pragma once
// The functions of float_math.h for CPUs with AVX2 and fused multiplication.

#include "tandem/model/generator/float_math.h"

namespace tandem {

// Nothing on a CPU that lacks them, and where the compiler can't make them (base/multiversion.h).
const FloatMath* float_math_fma();

}  // namespace tandem
