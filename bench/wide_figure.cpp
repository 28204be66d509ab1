// SPDX-License-Identifier: Apache-2.0
// DualQuery on very many columns, made while they are counted: figure 4 of its paper. By hand.
//
//   wide_figure COLUMNS [SEED] [ROWS] [QUERIES] [positive|signed] [default]
//
// Prints a line of comma-separated values, whose names wide_figure alone prints. The paper's rate
// and draws, with as many rounds as epsilon 1 and delta .001 pay for; or the default rule.

#include <fmt/core.h>
#include <sys/resource.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "support/generated_source.h"
#include "tandem/base/error.h"
#include "tandem/base/text.h"
#include "tandem/engine/execute.h"
#include "tandem/mechanism/registry.h"
#include "tandem/model/records_model.h"

namespace {

using namespace tandem;
using Clock = std::chrono::steady_clock;

double since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

// Counts as another source does, and keeps the time that it took.
class TimedSource final : public DataSource {
  template <class F>
  auto timed(const F& f) const {
    const auto start = Clock::now();
    auto out = f();
    seconds_ += since(start);
    return out;
  }

 public:
  TimedSource(std::unique_ptr<DataSource> source, double& seconds)
      : source_(std::move(source)), seconds_(seconds) {}
  const Domain& domain() const override { return source_->domain(); }
  std::vector<Factor> count(std::span<const Clique> cliques) const override {
    return timed([&] { return source_->count(cliques); });
  }
  std::vector<std::int64_t> count(const ConjunctionSet& conjunctions) const override {
    return timed([&] { return source_->count(conjunctions); });
  }
  std::unique_ptr<DataSource> where(AttributeId attribute, Code code) const override {
    return source_->where(attribute, code);
  }

 private:
  std::unique_ptr<DataSource> source_;
  double& seconds_;
};

// The draws that the authors took for so many columns.
int papers_draws(std::size_t columns) {
  static constexpr std::array<std::pair<std::size_t, int>, 12> kDraws = {{{50, 200},
                                                                          {250, 400},
                                                                          {500, 1000},
                                                                          {1000, 2000},
                                                                          {2000, 3000},
                                                                          {4000, 4000},
                                                                          {8000, 5500},
                                                                          {16000, 7000},
                                                                          {32000, 9000},
                                                                          {64000, 14000},
                                                                          {128000, 25000},
                                                                          {512000, 70000}}};
  for (const auto& [most, draws] : kDraws) {
    if (columns <= most) return draws;
  }
  return kDraws.back().second;
}

struct Request {
  std::size_t columns = 0;
  std::int64_t seed = 1;
  std::size_t rows = 100'000;
  std::string queries = "100000";
  std::string family = "signed";
  bool default_rule = false;
};

void run(const Request& request) {
  const auto threads = Threads::all();
  const Domain domain = test::columns_of_bits(request.columns);
  SynthSettings settings;
  settings.epsilon = 1.0;
  settings.delta = 0.001;
  settings.seed = request.seed;
  settings.mechanism = "dual-query";
  settings.workload =
      fmt::format("conjunctions:3:{}:{}:{}", request.queries, request.seed, request.family);
  if (!request.default_rule) {
    settings.parameters = {"rate=0.3", fmt::format("draws={}", papers_draws(request.columns))};
  }
  RunParts parts = parts_of(settings, find_mechanism, false);
  parts.workload = Workload::parse(domain, settings.workload);
  release_what_certifies(parts);
  const Problem problem{domain, parts.workload, {}, {}};

  const test::GeneratedBits bits{static_cast<std::uint64_t>(request.seed), request.rows};
  double counting = 0.0;
  const auto source = [&] {
    return std::make_unique<TimedSource>(test::generated_source(domain, bits, threads), counting);
  };
  Curator gate(PrivateData(source(), parts.unit), parts.filter, entropy_of(request.seed),
               memory_transcript(), {.threads = threads});
  Rng rng(static_cast<std::uint64_t>(request.seed));
  const auto start = Clock::now();
  const Release release = parts.mechanism.run(gate, problem, parts.parameters, rng);
  const double all = since(start);
  const double counted = counting;

  const auto& model = dynamic_cast<const RecordsModel&>(*release.model);
  const ConjunctionSet& queries = *parts.workload.conjunctions();
  const auto truth = source()->count(queries);
  const auto answers = model.answers(queries, threads);
  const auto n = static_cast<double>(request.rows);
  double mean = 0.0;
  for (const auto count : truth) mean += static_cast<double>(count) / n;
  mean /= static_cast<double>(truth.size());
  double largest = 0.0;
  double error = 0.0;
  double constant = 0.0;  // the error of who answers all with their mean
  for (std::size_t q = 0; q < truth.size(); ++q) {
    const double share = static_cast<double>(truth[q]) / n;
    const double off = std::abs(answers[q] / n - share);
    largest = std::max(largest, off);
    error += off;
    constant += std::abs(mean - share);
  }
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  const Document& facts = release.facts.at("dual_query");
  const auto all_queries = static_cast<double>(truth.size());
  fmt::print("{},{},{},{},{},{},{:.2f},{:.2f},{:.5f},{:.6f},{:.6f},{}\n", request.columns,
             request.seed, request.rows, truth.size(), facts.at("rounds").as_integer(),
             facts.at("draws").as_integer(), all - counted, counted, largest, error / all_queries,
             constant / all_queries, usage.ru_maxrss / 1024);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) {
    fmt::print(
        "columns,seed,rows,queries,rounds,draws,seconds,counting_seconds,max_error,mean_error,"
        "constant_mean_error,peak_mb\n");
    return 0;
  }
  const auto number = [&](int at, std::int64_t otherwise) {
    return argc > at ? parse_integer(argv[at]).value_or(0) : otherwise;
  };
  Request request{.columns = static_cast<std::size_t>(number(1, 0)),
                  .seed = number(2, 1),
                  .rows = static_cast<std::size_t>(number(3, 100'000))};
  if (argc > 4) request.queries = argv[4];
  if (argc > 5) request.family = argv[5];
  request.default_rule = argc > 6 && std::string(argv[6]) == "default";
  try {
    run(request);
  } catch (const Error& error) {
    fmt::print(stderr, "wide_figure: {}\n", error.what());
    return 1;
  }
  return 0;
}
