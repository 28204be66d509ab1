// SPDX-License-Identifier: Apache-2.0
#pragma once
// People's keys as numbers in order of appearance; nobody is 0.

#include <cstdint>
#include <map>
#include <span>
#include <vector>

#include "tandem/data/person_key.h"

namespace tandem::test {

inline std::vector<std::uint32_t> numbered(std::span<const PersonKey> keys) {
  std::map<PersonKey, std::uint32_t> numbers = {{PersonKey{}, 0}};
  std::vector<std::uint32_t> out;
  for (const auto& key : keys) {
    const auto next = static_cast<std::uint32_t>(numbers.size());
    out.push_back(numbers.try_emplace(key, next).first->second);
  }
  return out;
}

}  // namespace tandem::test
