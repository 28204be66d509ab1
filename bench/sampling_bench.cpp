// SPDX-License-Identifier: Apache-2.0
// The samplers of the trusted core. The first argument is sigma or the number of candidates.
#include <cstdint>
#include <vector>

#include "ratios.h"
#include "tandem/privacy/bernoulli_exp.h"
#include "tandem/privacy/discrete_gaussian.h"
#include "tandem/privacy/discrete_laplace.h"
#include "tandem/privacy/selection.h"

namespace tandem::bench {
namespace {

constexpr std::size_t kCandidates = 1'000'000;
constexpr std::size_t kDraws = 1'000'000;

void entropy_words(benchmark::State& state) {
  SystemEntropy entropy;
  for (auto _ : state) benchmark::DoNotOptimize(entropy.word());
  state.SetBytesProcessed(8 * static_cast<std::int64_t>(state.iterations()));
}
BENCHMARK(entropy_words);

template <class Sampler, class Parameter>
void sample_many(benchmark::State& state) {
  SystemEntropy entropy;
  const Sampler sampler(Parameter(static_cast<double>(state.range(0)) * 1.1));
  std::vector<std::int64_t> noise(1000);
  for (auto _ : state) {
    sampler.fill(noise, entropy);
    benchmark::DoNotOptimize(noise.data());
  }
  state.SetItemsProcessed(static_cast<std::int64_t>(noise.size() * state.iterations()));
}
void gaussian(benchmark::State& state) { sample_many<DiscreteGaussian, Sigma>(state); }
void laplace(benchmark::State& state) { sample_many<DiscreteLaplace, Scale>(state); }
BENCHMARK(gaussian)->Arg(1)->Arg(30)->Arg(1000)->Arg(1'000'000);
BENCHMARK(laplace)->Arg(1)->Arg(1'000'000);

// A comparison that 64 bits do not settle: what the slow path costs.
void undecided_coin(benchmark::State& state) {
  SystemEntropy entropy;
  for (auto _ : state) {
    benchmark::DoNotOptimize(below_exp_exactly(entropy.word(), {355, 113}, entropy));
  }
  state.SetItemsProcessed(static_cast<std::int64_t>(state.iterations()));
}
BENCHMARK(undecided_coin);

// Scores like those of a run: most candidates within a few thousand counts of the best.
std::vector<std::int64_t> scores() {
  SeededEntropy entropy(1);
  std::vector<std::int64_t> result(kCandidates);
  for (auto& score : result) score = static_cast<std::int64_t>(entropy.below(20'000));
  return result;
}

void select_exponential(benchmark::State& state) {
  SystemEntropy entropy;
  const auto candidates = scores();
  const Threads threads{static_cast<int>(state.range(0))};
  for (auto _ : state) {
    benchmark::DoNotOptimize(exponential_draw(candidates, {1, 1000}, entropy, threads));
  }
  state.counters["ms"] =
      benchmark::Counter(static_cast<double>(state.iterations()) / 1e3,
                         benchmark::Counter::kIsRate | benchmark::Counter::kInvert);
}
BENCHMARK(select_exponential)->Arg(1)->Arg(2)->UseRealTime();

void select_permute_and_flip(benchmark::State& state) {
  SystemEntropy entropy;
  const auto candidates = scores();
  const Threads threads{static_cast<int>(state.range(0))};
  for (auto _ : state) {
    benchmark::DoNotOptimize(permute_and_flip_draw(candidates, {1, 1000}, entropy, threads));
  }
  state.counters["ms"] =
      benchmark::Counter(static_cast<double>(state.iterations()) / 1e3,
                         benchmark::Counter::kIsRate | benchmark::Counter::kInvert);
}
BENCHMARK(select_permute_and_flip)->Arg(1)->Arg(2)->UseRealTime();

void select_many(benchmark::State& state) {
  SystemEntropy entropy;
  const ExponentialTable table(scores(), {1, 1000});
  std::vector<std::size_t> draws(kDraws);
  for (auto _ : state) {
    table.draw_many(draws, entropy);
    benchmark::DoNotOptimize(draws.data());
  }
  state.counters["ms"] =
      benchmark::Counter(static_cast<double>(state.iterations()) / 1e3,
                         benchmark::Counter::kIsRate | benchmark::Counter::kInvert);
}
BENCHMARK(select_many)->UseRealTime();

const Rate kSmallSigma{"discrete Gaussian, sigma 1, samples/s", "gaussian/1", "items_per_second",
                       4e6};
const Rate kMiddleSigma{"discrete Gaussian, sigma 1000, samples/s", "gaussian/1000",
                        "items_per_second", 4e6};
const Rate kLargeSigma{"discrete Gaussian, sigma 1,000,000, samples/s", "gaussian/1000000",
                       "items_per_second", 4e6};
const Rate kLaplace{"discrete Laplace, scale 1,000,000, samples/s", "laplace/1000000",
                    "items_per_second", 4e6};
const Rate kUndecided{"coins decided by big integers, coins/s", "undecided_coin",
                      "items_per_second", 1e5};
const Rate kSelect{"exponential mechanism, 1M candidates, 2 threads, ms", "select_exponential/2",
                   "ms", 20.0, true};
const Rate kFlip{"permute-and-flip, 1M candidates, 2 threads, ms", "select_permute_and_flip/2",
                 "ms", 20.0, true};
const Rate kMany{"exponential mechanism, 1M draws from 1M candidates, ms", "select_many", "ms",
                 2000.0, true};

}  // namespace
}  // namespace tandem::bench
