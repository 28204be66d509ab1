// SPDX-License-Identifier: Apache-2.0
#pragma once
// check(condition, "why"): a promise between parts of tandem, kept in release builds too.

#include "tandem/base/error.h"

namespace tandem {

inline void check(bool condition, const char* why) {
  if (!condition) throw InternalError(why);
}

}  // namespace tandem
