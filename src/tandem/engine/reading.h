// SPDX-License-Identifier: Apache-2.0
#pragma once
// How far a source is read; for a terminal alone where the source is private.

#include <cstddef>
#include <functional>
#include <string>

#include "tandem/data/csv.h"

namespace tandem {

// Bytes read and in all, of the source as stored.
using Reading = std::function<void(const std::string& source, std::size_t read, std::size_t all)>;

inline ReadProgress progress_of(const Reading& reading, const std::string& source) {
  if (!reading) return {};
  return [reading, source](std::size_t read, std::size_t all) { reading(source, read, all); };
}

}  // namespace tandem
