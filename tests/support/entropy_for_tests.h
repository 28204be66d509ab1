// SPDX-License-Identifier: Apache-2.0
#pragma once
// Entropy sources that only tests may have.

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "tandem/privacy/entropy.h"

namespace tandem::test {

// Every sampler at its most likely value: noise is 0, selections take the first best candidate.
// (The samplers are written so that small words mean likely outcomes; 0 itself would be rejected
// for ever by EntropySource::below.)
class NoNoise final : public EntropySource {
 public:
  bool seeded() const override { return true; }

 private:
  std::size_t produce(std::span<std::uint64_t> words) override {
    for (auto& word : words) word = 1;
    return words.size();
  }
};

struct OutOfWords {};

// These words and no others; asking for more throws OutOfWords.
class ScriptedEntropy final : public EntropySource {
 public:
  explicit ScriptedEntropy(std::vector<std::uint64_t> script) : script_(std::move(script)) {}
  bool seeded() const override { return true; }

 private:
  std::size_t produce(std::span<std::uint64_t> words) override {
    if (used_ == script_.size()) throw OutOfWords{};
    words[0] = script_[used_++];
    return 1;
  }
  std::vector<std::uint64_t> script_;
  std::size_t used_ = 0;
};

// The number of words w (all 2^64 of them, as far as a double can say) with accepts(w), for a
// property that holds below some threshold and not above it. OutOfWords counts as false.
template <class F>
long double accepted_words(const F& accepts) {
  const auto holds = [&](std::uint64_t word) {
    try {
      return accepts(word);
    } catch (const OutOfWords&) {
      return false;
    }
  };
  if (!holds(0)) return 0.0L;
  std::uint64_t low = 0;  // holds
  for (int bit = 63; bit >= 0; --bit) {
    const std::uint64_t next = low + (std::uint64_t{1} << bit);
    if (holds(next)) low = next;
  }
  return static_cast<long double>(low) + 1.0L;
}

}  // namespace tandem::test
