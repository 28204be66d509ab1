// SPDX-License-Identifier: Apache-2.0
#include "ratios.h"

#include <fmt/core.h>

#include <algorithm>
#include <functional>
#include <map>
#include <optional>
#include <utility>
#include <vector>

namespace tandem::bench {

namespace {

struct Best {
  double seconds = 0.0;
  std::map<std::string, double> counters;
};
using Results = std::map<std::string, Best>;
using Line = std::function<std::optional<std::string>(const Results&)>;

std::vector<Line>& lines() {
  static std::vector<Line> all;  // filled by the declarations beside the benchmarks
  return all;
}

std::string verdict(bool good) { return good ? "" : "   <-- misses the goal"; }

double counter_of(const Best& best, const std::string& counter) {
  const auto found = best.counters.find(counter);
  return found == best.counters.end() ? 0.0 : found->second;
}

class Collector : public benchmark::ConsoleReporter {
 public:
  Collector() : ConsoleReporter(OO_None) {}
  void ReportRuns(const std::vector<Run>& runs) override {
    ConsoleReporter::ReportRuns(runs);
    for (const auto& run : runs) {
      if (run.run_type != Run::RT_Iteration || run.error_occurred) continue;
      const double seconds =
          run.real_accumulated_time / static_cast<double>(std::max<int64_t>(run.iterations, 1));
      std::string name = run.run_name.function_name;
      if (!run.run_name.args.empty()) name += "/" + run.run_name.args;
      auto [at, added] = results.try_emplace(name);
      if (added || seconds < at->second.seconds) {
        at->second.seconds = seconds;
        for (const auto& [key, counter] : run.counters) at->second.counters[key] = counter.value;
      }
    }
  }
  Results results;
};

}  // namespace

Ratio::Ratio(const std::string& title, const std::string& slow, const std::string& fast,
             double goal) {
  lines().push_back([=](const Results& results) -> std::optional<std::string> {
    if (!results.contains(slow) || !results.contains(fast)) return std::nullopt;
    const double ratio = results.at(slow).seconds / results.at(fast).seconds;
    return fmt::format("{:<68} {:9.2f}x  (goal {:g}x){}", title, ratio, goal,
                       verdict(ratio >= goal));
  });
}

Against::Against(const std::string& title, double seconds, const std::string& name, double goal) {
  lines().push_back([=](const Results& results) -> std::optional<std::string> {
    if (!results.contains(name)) return std::nullopt;
    const double ratio = seconds / results.at(name).seconds;
    return fmt::format("{:<68} {:9.2f}x  (goal {:g}x){}", title, ratio, goal,
                       verdict(ratio >= goal));
  });
}

Rate::Rate(const std::string& title, const std::string& name, const std::string& counter,
           double goal, bool at_most) {
  lines().push_back([=](const Results& results) -> std::optional<std::string> {
    if (!results.contains(name)) return std::nullopt;
    const double value = counter_of(results.at(name), counter);
    return fmt::format("{:<68} {:10.4g}  (goal {}{:g}){}", title, value, at_most ? "<= " : "", goal,
                       verdict(at_most ? value <= goal : value >= goal));
  });
}

Share::Share(const std::string& title, const std::string& numerator, const std::string& denominator,
             const std::string& counter) {
  lines().push_back([=](const Results& results) -> std::optional<std::string> {
    if (!results.contains(numerator) || !results.contains(denominator)) return std::nullopt;
    return fmt::format("{:<68} {:9.1f}%", title,
                       100.0 * counter_of(results.at(numerator), counter) /
                           counter_of(results.at(denominator), counter));
  });
}

}  // namespace tandem::bench

int main(int argc, char** argv) {
  // Interleave the repetitions, so that a slow spell of the machine hits both sides of a ratio.
  std::vector<std::string> defaults = {"--benchmark_enable_random_interleaving=true",
                                       "--benchmark_repetitions=5", "--benchmark_min_time=0.05"};
  std::vector<char*> arguments = {argv[0]};
  for (auto& argument : defaults) arguments.push_back(argument.data());
  arguments.insert(arguments.end(), argv + 1, argv + argc);
  int count = static_cast<int>(arguments.size());
  benchmark::Initialize(&count, arguments.data());
  if (benchmark::ReportUnrecognizedArguments(count, arguments.data())) return 2;

  tandem::bench::Collector collector;
  benchmark::RunSpecifiedBenchmarks(&collector);
  fmt::print("\n");
  for (const auto& line : tandem::bench::lines()) {
    if (const auto text = line(collector.results)) fmt::print("{}\n", *text);
  }
}
