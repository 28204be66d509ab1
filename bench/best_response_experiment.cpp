// SPDX-License-Identifier: Apache-2.0
// Best responses by local search against CBC's, on problems made from seeds: 50 to 2,000 draws of
// signed or positive conjunctions, on columns of two or of several values. By hand.
//
//   best_response_experiment [PROBLEMS] [SECONDS] [SEED]
//
// CBC gets SECONDS a problem, or as long as the search took where that is more, and starts from
// nothing; the search has no limit but its moves.

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <ctime>
#include <string>
#include <vector>

#include "tandem/base/rng.h"
#include "tandem/base/text.h"
#include "tandem/optimize/max_csp.h"

namespace {

using namespace tandem;
// Of this process: as CBC's limit, it is processor time.
double seconds_so_far() { return static_cast<double>(std::clock()) / CLOCKS_PER_SEC; }

Domain columns(std::size_t count, Code largest, Rng& rng) {
  std::vector<Attribute> attributes;
  for (std::size_t i = 0; i < count; ++i) {
    attributes.push_back({.name = "c" + std::to_string(i),
                          .size = static_cast<Code>(2 + rng.below(largest - 1)),
                          .labels = {}});
  }
  return Domain(std::move(attributes));
}

double argument(int argc, char** argv, int at, double otherwise) {
  if (argc <= at) return otherwise;
  const auto number = parse_number(argv[at]);
  if (!number) {
    fmt::print(stderr, "usage: best_response_experiment [PROBLEMS] [SECONDS] [SEED]\n");
    std::exit(2);
  }
  return *number;
}

}  // namespace

int main(int argc, char** argv) {
  const auto problems = static_cast<std::size_t>(argument(argc, argv, 1, 300.0));
  const double seconds = argument(argc, argv, 2, 0.5);
  const auto seed = static_cast<std::uint64_t>(argument(argc, argv, 3, 1.0));
  if (!has_exact_solver()) {
    fmt::print(stderr, "There is no cbc to compare with (scripts/install.sh solvers).\n");
    return 1;
  }
  std::size_t as_good = 0;
  std::size_t better = 0;
  std::size_t proven = 0;
  std::size_t proven_alone = 0;
  std::size_t failed = 0;
  std::size_t proven_as_good = 0;
  std::int64_t worst = 0;
  double gain = 0.0;
  double slowest = 0.0;
  double all = 0.0;
  for (std::size_t i = 0; i < problems; ++i) {
    Rng rng(seed * 1'000'003 + i);
    const bool several = rng.below(2) == 1;
    const Domain domain =
        several ? columns(10 + rng.below(40), 20, rng) : columns(50 + rng.below(400), 2, rng);
    const auto family = rng.below(2) == 1 ? ConjunctionFamily::Positive : ConjunctionFamily::Signed;
    const auto set = random_conjunctions(domain, 3, 20'000, rng.next(), family);
    const auto draws = static_cast<std::size_t>(50.0 * std::pow(2000.0 / 50.0, rng.uniform()));
    std::vector<DrawnConjunction> drawn(draws);
    for (auto& draw : drawn) {
      draw = {static_cast<std::uint32_t>(rng.below(set.size())), rng.below(2) == 1};
    }
    const MaxCsp problem(set, drawn);
    const std::vector<std::uint8_t> nothing(problem.bits(), 0);
    const double start = seconds_so_far();
    const auto local = search_tabu(problem, nothing, {.seed = i});
    const double took = seconds_so_far() - start;
    // No bits at all may be no record; the exact solver needs one to start from.
    const auto first =
        search_tabu(problem, nothing, {.seed = i, .moves_per_bit = 0, .least_moves = 0});
    const auto exact =
        solve_exactly(problem, first.bits,
                      {.seconds = std::max(seconds, took), .grace = 600.0, .nodes = 1'000'000'000});
    const std::int64_t difference = local.satisfied - exact.satisfied;
    as_good += difference >= 0 ? 1 : 0;
    better += difference > 0 ? 1 : 0;
    proven += exact.optimal ? 1 : 0;
    proven_alone += local.optimal ? 1 : 0;
    failed += exact.failed ? 1 : 0;
    all += took;
    proven_as_good += exact.optimal && difference >= 0 ? 1 : 0;
    worst = std::min(worst, difference);
    gain += static_cast<double>(difference);
    slowest = std::max(slowest, took);
    if (difference < 0) {
      fmt::print("problem {}: {} {} draws, {} bits, {} against {}{}\n", i, draws,
                 family == ConjunctionFamily::Positive ? "positive" : "signed", problem.bits(),
                 local.satisfied, exact.satisfied, exact.optimal ? " (proven)" : "");
    }
  }
  const auto share = [&](std::size_t n) {
    return 100.0 * static_cast<double>(n) / static_cast<double>(problems);
  };
  fmt::print(
      "{} problems, CBC {} s each: as good in {:.1f}%, better in {:.1f}%, worst {}, mean {:.2f}\n",
      problems, seconds, share(as_good), share(better), worst,
      gain / static_cast<double>(problems));
  fmt::print(
      "proven by CBC: {}, of which the search found {}; by the search alone: {}; CBC failed in "
      "{}\n",
      proven, proven_as_good, proven_alone, failed);
  fmt::print("search: {:.4f} s on average, {:.3f} s at most\n", all / static_cast<double>(problems),
             slowest);
  return 0;
}
