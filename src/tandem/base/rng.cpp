// SPDX-License-Identifier: Apache-2.0
#include "tandem/base/rng.h"

#include <bit>

#include "tandem/base/check.h"
#include "tandem/base/int128.h"

namespace tandem {

Rng::Rng(std::uint64_t seed) {
  for (auto& word : state_) {  // SplitMix64
    seed += 0x9e3779b97f4a7c15ULL;
    std::uint64_t z = seed;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
    word = z ^ (z >> 31);
  }
}

std::uint64_t Rng::next() {
  const std::uint64_t result = std::rotl(state_[1] * 5, 7) * 9;
  const std::uint64_t t = state_[1] << 17;
  state_[2] ^= state_[0];
  state_[3] ^= state_[1];
  state_[1] ^= state_[2];
  state_[0] ^= state_[3];
  state_[2] ^= t;
  state_[3] = std::rotl(state_[3], 45);
  return result;
}

std::uint64_t Rng::below(std::uint64_t bound) {
  check(bound > 0, "Rng::below needs a positive bound");
  // Lemire's multiply-and-reject (2019).
  UInt128 product = static_cast<UInt128>(next()) * bound;
  if (static_cast<std::uint64_t>(product) < bound) {
    const std::uint64_t threshold = (0 - bound) % bound;
    while (static_cast<std::uint64_t>(product) < threshold) {
      product = static_cast<UInt128>(next()) * bound;
    }
  }
  return static_cast<std::uint64_t>(product >> 64);
}

double Rng::uniform() { return static_cast<double>(next() >> 11) * 0x1.0p-53; }

}  // namespace tandem
