// SPDX-License-Identifier: Apache-2.0
#pragma once
// Four doubles at once, for inner loops that compilers don't vectorise by themselves. The compiler
// makes one AVX instruction of an operation where it may, and two SSE ones elsewhere.
//
// Passed by reference only: by value they would change the calling convention with the CPU.

#include <cstdint>
#include <cstring>

namespace tandem {

using Four = double __attribute__((vector_size(32)));
using FourInts = std::int64_t __attribute__((vector_size(32)));

[[gnu::always_inline]] inline void load(const double* from, Four& to) {
  std::memcpy(&to, from, sizeof to);
}
[[gnu::always_inline]] inline void store(const Four& from, double* to) {
  std::memcpy(to, &from, sizeof from);
}
[[gnu::always_inline]] inline double sum_of(const Four& four) {
  return (four[0] + four[2]) + (four[1] + four[3]);
}

}  // namespace tandem
