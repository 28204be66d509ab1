// SPDX-License-Identifier: Apache-2.0
#pragma once
// Running a mechanism on a table in memory, and what tests of several mechanisms ask of a run.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <string>
#include <utility>

#include "support/entropy_for_tests.h"
#include "tandem/base/error.h"
#include "tandem/engine/release/release_text.h"
#include "tandem/eval/metrics.h"
#include "tandem/mechanism/registry.h"
#include "tandem/privacy/accountant.h"
#include "tandem/privacy/private_data.h"
#include "tandem/query/counting.h"
#include "tandem/source/memory_source.h"

namespace tandem::test {

struct Outcome {
  Release release;
  Filter filter;
};

struct RunSettings {
  Filter filter = Filter::zcdp(rho_of(Epsilon(1.0), Delta(1e-9)));
  PrivacyUnit unit = {};
  std::uint64_t seed = 1;
  bool noise = true;
};

inline Outcome run_mechanism(const std::string& name, const Parameters& parameters,
                             const Table& table, const Problem& problem,
                             const RunSettings& settings = {}) {
  std::unique_ptr<EntropySource> entropy = std::make_unique<NoNoise>();
  if (settings.noise) entropy = std::make_unique<SeededEntropy>(settings.seed);
  Curator curator(PrivateData(memory_source(table), settings.unit), settings.filter,
                  std::move(entropy), memory_transcript(), {.threads = {}, .progress = {}});
  Rng rng(settings.seed);
  Release release = find_mechanism(name).run(curator, problem, parameters, rng);
  return {std::move(release), curator.filter()};
}

inline std::vector<std::string> plan_mechanism(const std::string& name,
                                               const Parameters& parameters, const Problem& problem,
                                               const RunSettings& settings = {},
                                               double rows_expected = 0.0) {
  const Curator curator(PrivateData(memory_source(Table(problem.domain, 0)), settings.unit),
                        settings.filter, std::make_unique<SystemEntropy>(), memory_transcript(),
                        {.threads = {}, .progress = {}});
  std::vector<std::string> sentences;
  for (const auto& step : find_mechanism(name).plan(curator, problem, parameters, rows_expected)) {
    sentences.push_back(step.sentence);
  }
  return sentences;
}

inline Effort effort_of(const std::string& name, const Problem& problem) {
  const Curator curator(PrivateData(memory_source(Table(problem.domain, 0)), PrivacyUnit{}),
                        RunSettings{}.filter, std::make_unique<SystemEntropy>(),
                        memory_transcript(), {.threads = {}, .progress = {}});
  return find_mechanism(name).effort(curator, problem, {}, 0.0);
}

inline double max_error(const Problem& problem, const Table& truth, const Model& model) {
  return evaluate_workload(problem.workload, CountedTable(truth), model).max_error;
}

// Charges add up to what was spent, which is within the budget; all is finite.
inline void expect_sound(const Outcome& outcome, const Problem& problem) {
  Cost sum;
  for (const auto& charge : outcome.filter.charges()) sum = sum + charge.cost;
  EXPECT_EQ(sum, outcome.filter.spent());
  EXPECT_LE(outcome.filter.spent(), outcome.filter.total());
  ASSERT_NE(outcome.release.model, nullptr);
  EXPECT_GE(outcome.release.total, 1.0);
  for (const auto& [clique, weight] : problem.workload.cliques()) {
    for (const double value : outcome.release.model->project(clique).values) {
      ASSERT_TRUE(std::isfinite(value));
      ASSERT_GE(value, 0.0);
    }
  }
  Rng rng(1);
  EXPECT_EQ(outcome.release.model->sample(100, rng).rows(), 100U);
}

inline bool mentions(const std::vector<std::string>& sentences, const std::string& part) {
  for (const auto& sentence : sentences) {
    if (sentence.find(part) != std::string::npos) return true;
  }
  return false;
}

inline bool mentions(const std::vector<Warning>& warnings, const std::string& part) {
  return std::ranges::any_of(
      warnings, [&](const auto& warning) { return warning.text.find(part) != std::string::npos; });
}

inline std::vector<std::string> notes_of(const Release& release) {
  return sentences_of(release.facts);
}

// Skewed columns that go together. `bias` moves the share of a's first value.
inline Table skewed_rows(std::size_t rows, double bias, std::uint64_t seed) {
  Table table(Domain({{"a", 2, {}}, {"b", 3, {}}, {"c", 4, {}}, {"d", 2, {}}}), rows);
  Rng rng(seed);
  for (std::size_t r = 0; r < rows; ++r) {
    const Code a = rng.uniform() < 0.6 + bias ? 0 : 1;
    const auto b = static_cast<Code>(a == 0 ? rng.below(2) : rng.below(3));
    const auto c = static_cast<Code>(rng.uniform() < 0.7 ? b : rng.below(4));
    table.column(0).set(r, a);
    table.column(1).set(r, b);
    table.column(2).set(r, c);
    table.column(3).set(r, static_cast<Code>(rng.below(5) == 0 ? 1 : 0));
  }
  return table;
}

inline Problem skewed_problem(const Table& public_rows) {
  const Domain domain = skewed_rows(0, 0.0, 0).domain();
  return {domain, Workload::all_k_way(domain, 2), {{{"public.csv", public_rows}}}};
}

constexpr PrivacyUnit kReplaceOne{};
constexpr PrivacyUnit kAddRemove{.neighbors = Neighbors::AddRemove, .rows_per_person = 1};
constexpr PrivacyUnit kThreeRows{.neighbors = Neighbors::ReplaceOne, .rows_per_person = 3};

}  // namespace tandem::test
