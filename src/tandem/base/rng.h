// SPDX-License-Identifier: Apache-2.0
#pragma once
// Seedable random numbers for post-processing and public choices: the same on every machine.
//
// Never for privacy noise: that comes from the trusted core's entropy source.
// xoshiro256** (Blackman and Vigna 2018), seeded by SplitMix64.

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>

namespace tandem {

class Rng {
 public:
  explicit Rng(std::uint64_t seed);

  std::uint64_t next();
  std::uint64_t below(std::uint64_t bound);     // uniform on 0 .. bound-1, without bias; bound > 0
  double uniform();                             // uniform on [0, 1), 53 bits
  bool operator==(const Rng&) const = default;  // the same numbers follow

  template <class T>
  void shuffle(std::span<T> items) {
    for (std::size_t i = items.size(); i > 1; --i) std::swap(items[i - 1], items[below(i)]);
  }

 private:
  std::array<std::uint64_t, 4> state_;
};

}  // namespace tandem
