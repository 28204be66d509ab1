// SPDX-License-Identifier: Apache-2.0
#pragma once
// A column of numbers from 0.0 to 9.9, a code for each tenth.

#include <memory>
#include <utility>

#include "tandem/data/binned_codec.h"

namespace tandem::test {

inline std::unique_ptr<Codec> tenths_codec() {
  auto line = number_line(1);
  auto ranges = Ranges::each(*line, 0, 99, 1);
  return binned_codec(std::move(line), std::move(ranges), 1);
}

}  // namespace tandem::test
