// SPDX-License-Identifier: Apache-2.0
// Counting conjunctions against a plain loop over rows, and best responses to what was drawn. Real
// data (KDD99, 494,021 rows and 396 indicators) where TANDEM_DATA has it, otherwise made up.

#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <numeric>

#include "ratios.h"
#include "tandem/base/rng.h"
#include "tandem/data/csv.h"
#include "tandem/optimize/max_csp.h"
#include "tandem/privacy/curator.h"
#include "tandem/privacy/private_data.h"
#include "tandem/query/conjunction_counting.h"
#include "tandem/source/memory_source.h"

namespace {

using namespace tandem;

// As skewed as KDD99: 41 columns of about ten values, of which the first are frequent.
Table made_up() {
  constexpr std::size_t kRows = 494'021;
  std::vector<Attribute> attributes;
  for (int c = 0; c < 41; ++c) attributes.push_back({"c" + std::to_string(c), 10, {}});
  Table out(Domain(std::move(attributes)), kRows);
  Rng rng(1);
  for (AttributeId id = 0; id < 41; ++id) {
    for (std::size_t r = 0; r < kRows; ++r) {
      const double u = rng.uniform();
      out.column(id).set(r, static_cast<Code>(10.0 * u * u * u * u));
    }
  }
  return out;
}

const Table& kdd99() {
  static const Table table = [] {
    const char* root = std::getenv("TANDEM_DATA");
    const std::string folder = root == nullptr ? "" : std::string(root) + "/kdd99/";
    if (!std::filesystem::exists(folder + "kdd99-binned.csv.gz")) return made_up();
    const Schema schema = Schema::read(folder + "kdd99-binned-domain.json");
    return read_csv(folder + "kdd99-binned.csv.gz", schema).table;
  }();
  return table;
}

ConjunctionSet drawn_from(const Table& table, std::size_t count, ConjunctionFamily family) {
  return random_conjunctions(table.domain(), 3, count, 7, family);
}

// Row by row through the codes, each conjunction by itself.
void plain_loop_100(benchmark::State& state) {
  const Table& table = kdd99();
  const auto set = drawn_from(table, 100, ConjunctionFamily::Signed);
  for (auto _ : state) {
    std::vector<std::int64_t> counts(set.size(), 0);
    for (std::size_t q = 0; q < set.size(); ++q) {
      for (std::size_t row = 0; row < table.rows(); ++row) {
        bool all = true;
        for (const auto literal : set.literals(q)) {
          const auto& [attribute, code] = set.indicators()[literal >> 1];
          all = all && (table.column(attribute)[row] == code) == ((literal & 1U) == 0);
          if (!all) break;
        }
        counts[q] += all ? 1 : 0;
      }
    }
    benchmark::DoNotOptimize(counts);
  }
  state.counters["per_second"] =
      benchmark::Counter(100.0, benchmark::Counter::kIsIterationInvariantRate);
}
BENCHMARK(plain_loop_100)->Unit(benchmark::kMillisecond)->UseRealTime();

void count_100(benchmark::State& state) {
  const Table& table = kdd99();
  const auto set = drawn_from(table, 100, ConjunctionFamily::Signed);
  for (auto _ : state) benchmark::DoNotOptimize(count_conjunctions(set, table));
}
BENCHMARK(count_100)->Unit(benchmark::kMillisecond)->UseRealTime();

void count_two_million(benchmark::State& state) {
  const Table& table = kdd99();
  const auto family = state.range(1) == 0 ? ConjunctionFamily::Signed : ConjunctionFamily::Positive;
  const auto set = drawn_from(table, 2'000'000, family);
  const Threads threads{static_cast<int>(state.range(0))};
  for (auto _ : state) benchmark::DoNotOptimize(count_conjunctions(set, table, threads));
  state.counters["per_second"] =
      benchmark::Counter(2e6, benchmark::Counter::kIsIterationInvariantRate);
  state.counters["seconds"] = benchmark::Counter(
      1.0, benchmark::Counter::kIsIterationInvariantRate | benchmark::Counter::kInvert);
}
BENCHMARK(count_two_million)
    ->ArgNames({"threads", "positive"})
    ->Args({1, 0})
    ->Args({2, 0})
    ->Args({2, 1})
    ->Iterations(1)
    ->Unit(benchmark::kMillisecond)
    ->UseRealTime();

// ---- Draws ----

// A round of 2 million conjunctions and their negations: 1,750 draws, counts being at hand. Of few
// rows, for those are counted once.
void draw_of_4_million(benchmark::State& state) {
  std::vector<std::size_t> first(2'000);
  std::iota(first.begin(), first.end(), std::size_t{0});
  const Table table = kdd99().select(first);
  const auto set = drawn_from(table, 2'000'000, ConjunctionFamily::Signed);
  Curator gate(PrivateData(memory_source(table), PrivacyUnit{}), Filter::zcdp(Rho(1e6)),
               std::make_unique<SystemEntropy>(), memory_transcript(),
               {.threads = Threads{static_cast<int>(state.range(0))}});
  const std::vector<double> half(set.size(), 1'000.0);
  const auto draw = [&] { return gate.sample_conjunctions({set, half, half}, 0.03, 1750); };
  draw();
  for (auto _ : state) benchmark::DoNotOptimize(draw());
  state.counters["seconds"] = benchmark::Counter(
      1.0, benchmark::Counter::kIsIterationInvariantRate | benchmark::Counter::kInvert);
}
BENCHMARK(draw_of_4_million)
    ->ArgName("threads")
    ->Arg(1)
    ->Arg(2)
    ->Unit(benchmark::kMillisecond)
    ->UseRealTime();

// ---- Best responses ----

std::vector<DrawnConjunction> draws(const ConjunctionSet& set, std::size_t count) {
  Rng rng(3);
  std::vector<DrawnConjunction> out(count);
  for (auto& draw : out) {
    draw = {static_cast<std::uint32_t>(rng.below(set.size())), rng.below(2) == 1};
  }
  return out;
}

void respond(benchmark::State& state, const ConjunctionSet& set, std::size_t drawn_count) {
  const auto drawn = draws(set, drawn_count);
  const std::vector<std::uint8_t> start(set.indicators().size(), 0);
  std::int64_t satisfied = 0;
  for (auto _ : state) satisfied = best_response(set, drawn, start, {}).satisfied;
  state.counters["satisfied"] = static_cast<double>(satisfied);
  state.counters["seconds"] = benchmark::Counter(
      1.0, benchmark::Counter::kIsIterationInvariantRate | benchmark::Counter::kInvert);
}

void respond_kdd99_1750(benchmark::State& state) {
  respond(state, drawn_from(kdd99(), 500'000, ConjunctionFamily::Signed), 1750);
}
BENCHMARK(respond_kdd99_1750)->Unit(benchmark::kMillisecond)->UseRealTime();

void respond_wide_70000(benchmark::State& state) {
  std::vector<Attribute> attributes;
  for (int c = 0; c < 512'000; ++c) attributes.push_back({"c" + std::to_string(c), 2, {}});
  const Domain domain(std::move(attributes));
  respond(state, random_conjunctions(domain, 3, 100'000, 7, ConjunctionFamily::Signed), 70'000);
}
BENCHMARK(respond_wide_70000)->Unit(benchmark::kMillisecond)->UseRealTime();

const bench::Ratio counting{"100 conjunctions of KDD99, one thread, against a loop over rows",
                            "plain_loop_100", "count_100", 10.0};
const bench::Rate two_million{"2M signed conjunctions of KDD99 on two threads, seconds",
                              "count_two_million/threads:2/positive:0", "seconds", 20.0, true};
const bench::Rate round_of_draws{"1,750 draws from 4M scores on two threads, seconds",
                                 "draw_of_4_million/threads:2", "seconds", 0.03, true};
const bench::Rate kdd99_response{"best response to 1,750 draws on KDD99, seconds",
                                 "respond_kdd99_1750", "seconds", 0.05, true};
const bench::Rate wide_response{"best response to 70,000 draws on 512,000 columns, seconds",
                                "respond_wide_70000", "seconds", 2.0, true};

}  // namespace
