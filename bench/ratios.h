// SPDX-License-Identifier: Apache-2.0
#pragma once
// Benchmarks that end in ratios: two things timed in one run, interleaved, best of the repetitions.
//
//   BENCHMARK(plain_loop); BENCHMARK(blocked);
//   const Ratio speedup{"66 pairs of 10M rows", "plain_loop", "blocked", 1.0};
//
// This library brings main(); a ratio below its goal is marked, never a failure: timings are noisy.

#include <benchmark/benchmark.h>

#include <string>

namespace tandem::bench {

// time(slow) / time(fast), wanted at or above `goal`.
struct Ratio {
  Ratio(const std::string& title, const std::string& slow, const std::string& fast, double goal);
};

// seconds / time(name): how many times faster than a time measured elsewhere (say where in title).
struct Against {
  Against(const std::string& title, double seconds, const std::string& name, double goal);
};

// A counter of a benchmark (items_per_second, bytes_per_second, or its own), wanted at or above
// `goal`; or at or below it when `at_most`.
struct Rate {
  Rate(const std::string& title, const std::string& name, const std::string& counter, double goal,
       bool at_most = false);
};

// counter(numerator) / counter(denominator), reported without a goal.
struct Share {
  Share(const std::string& title, const std::string& numerator, const std::string& denominator,
        const std::string& counter);
};

}  // namespace tandem::bench
