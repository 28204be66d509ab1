// SPDX-License-Identifier: Apache-2.0
#pragma once
// A condition on one column: only these codes are wanted.

#include <vector>

#include "tandem/data/attribute.h"

namespace tandem {

struct Restriction {
  AttributeId attribute = 0;
  std::vector<Code> allowed;

  // Whether each code of a column of this size is wanted.
  std::vector<bool> mask(Code size) const {
    std::vector<bool> out(size, false);
    for (const auto code : allowed) out[code] = true;
    return out;
  }
};

}  // namespace tandem
