// SPDX-License-Identifier: Apache-2.0
#pragma once
// TANDEM_MULTIVERSION before a function: compiled for this CPU's family and for AVX2, chosen when
// the program starts. One binary then runs everywhere and is fast where it can be.
// TANDEM_MULTIVERSION_FMA likewise, with a multiplication and an addition in one instruction where
// its file is compiled with -ffp-contract=fast: twice the speed of long sums of products, and the
// last digit depends on the CPU.
// TANDEM_MULTIVERSION_POPCOUNT likewise, where bits are counted: with an instruction that the
// oldest CPUs lack.
//
// Off under the sanitizers, whose start-up comes after that choice, and with Clang; where it is on,
// TANDEM_HAS_MULTIVERSION is defined.

#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__) && !defined(TANDEM_SANITIZED)
#define TANDEM_HAS_MULTIVERSION
#define TANDEM_MULTIVERSION __attribute__((target_clones("default", "avx2")))
#define TANDEM_MULTIVERSION_FMA __attribute__((target_clones("default", "fma")))
#define TANDEM_MULTIVERSION_POPCOUNT __attribute__((target_clones("default", "popcnt")))
#else
#define TANDEM_MULTIVERSION
#define TANDEM_MULTIVERSION_FMA
#define TANDEM_MULTIVERSION_POPCOUNT
#endif
