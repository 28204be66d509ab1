// SPDX-License-Identifier: Apache-2.0
// as=paper and as=authors: one word for the settings of a printed algorithm.
#include <map>

#include "mechanism/run_mechanism.h"
#include "support/errors.h"

namespace tandem::test {
namespace {

using Settings = std::map<std::string, std::string>;

Settings resolved(const std::string& name, const Parameters& parameters) {
  const auto all = find_mechanism(name).resolve(parameters);
  return {all.begin(), all.end()};
}

// What a word changes, beside saying so.
Settings changed_by(const std::string& name, const std::string& word) {
  const auto before = resolved(name, {});
  Settings out;
  for (const auto& [key, value] : resolved(name, {{"as", word}})) {
    if (key != "as" && before.at(key) != value) out[key] = value;
  }
  return out;
}

TEST(AsPrinted, SetsWhatItsPagesSay) {
  EXPECT_EQ(changed_by("mwem", "paper"), (Settings{{"rounds", "10"},
                                                   {"variant", "original"},
                                                   {"candidates", "all"},
                                                   {"step", "0.5"},
                                                   {"repeats", "replace"},
                                                   {"output", "average"}}));
  EXPECT_EQ(changed_by("mwem", "authors"), (Settings{{"rounds", "200"},
                                                     {"candidates", "all"},
                                                     {"step", "0.5"},
                                                     {"replay", "largest"},
                                                     {"repeats", "never"}}));
  EXPECT_EQ(changed_by("mw-pub", "paper"), (Settings{{"rounds", "100"},
                                                     {"selection", "permute-and-flip"},
                                                     {"select-share", "0.5"},
                                                     {"candidates", "all"},
                                                     {"output", "average"}}));
  EXPECT_EQ(changed_by("mw-pub", "authors"), (Settings{{"rounds", "100"},
                                                       {"selection", "permute-and-flip"},
                                                       {"select-share", "0.5"},
                                                       {"candidates", "all"},
                                                       {"replay", "stale"},
                                                       {"repeats", "replace"},
                                                       {"output", "average"}}));
  EXPECT_EQ(changed_by("mwem-pub", "paper"),
            (Settings{{"accounting", "advanced"}, {"clip", "false"}}));
  EXPECT_EQ(changed_by("mst", "paper"),
            (Settings{{"merged-noise", "all"}, {"max-model-mb", "80"}}));
  EXPECT_EQ(changed_by("aim", "paper"), (Settings{{"growth", "with"}, {"max-model-mb", "80"}}));
  EXPECT_EQ(changed_by("jam-pgm", "paper"),
            (Settings{{"rounds", "30"}, {"selection", "paper"}, {"max-model-mb", "80"}}));
  EXPECT_EQ(changed_by("jam-pgm", "authors"),
            (Settings{{"rounds", "30"}, {"selection", "2024"}, {"max-model-mb", "80"}}));
  EXPECT_EQ(changed_by("dual-query", "paper"),
            (Settings{{"accounting", "theorem"}, {"one-hot", "false"}, {"free", "zero"}}));
  EXPECT_EQ(changed_by("dual-query", "authors"),
            (Settings{{"accounting", "advanced"}, {"one-hot", "false"}, {"free", "zero"}}));
  EXPECT_EQ(changed_by("ide", "paper"),
            (Settings{{"order", "random"}, {"sweeps", "2"}, {"damping", "false"}}));
  EXPECT_EQ(changed_by("grouped", "paper"), (Settings{{"shares", "1,1,1,1"},
                                                      {"totals", "independent"},
                                                      {"trust", "full"},
                                                      {"small-groups", "keep"},
                                                      {"order", "random"},
                                                      {"sweeps", "2"},
                                                      {"damping", "false"}}));
  auto gem = changed_by("gem", "paper");
  EXPECT_EQ(gem.at("hidden"), "512,1024,1024");
  EXPECT_EQ(gem.at("final-steps"), "0");
  EXPECT_EQ(gem.at("alpha"), "0.67");
  EXPECT_EQ(gem.at("averaging"), "0.1");
  EXPECT_EQ(gem.at("afresh"), "true");
  gem["public-steps"] = "5000";
  gem["public-rate"] = "0.0005";
  gem["public-cells"] = "10000";
  EXPECT_EQ(changed_by("gem-pub", "paper"), gem);
}

TEST(AsPrinted, WhatIsGivenAsWellWins) {
  for (const auto& order : {Parameters{{"as", "paper"}, {"rounds", "7"}},
                            Parameters{{"rounds", "7"}, {"as", "paper"}}}) {
    const auto all = resolved("mw-pub", order);
    EXPECT_EQ(all.at("rounds"), "7");
    EXPECT_EQ(all.at("candidates"), "all");
    EXPECT_EQ(all.at("as"), "paper");
  }
}

TEST(AsPrinted, ResolvedParametersStayWhatTheyAre) {
  for (const auto& mechanism : all_mechanisms()) {
    if (mechanism.options.empty() || mechanism.options.front().name != "as") continue;
    const auto once = mechanism.resolve({{"as", "paper"}});
    EXPECT_EQ(mechanism.resolve(once), once) << mechanism.name;
  }
}

TEST(AsPrinted, RefusesOtherWordsAndMechanismsWithoutAPaper) {
  EXPECT_EQ(error_of<UsageError>([] {
              resolved("aim", {{"as", "printed"}});
            }),
            "--param as is 'printed'; expected one of default, paper.");
  for (const char* name : {"independent", "perturb", "tandem", "hdmm", "private-pgm", "mre"}) {
    EXPECT_THROW(resolved(name, {{"as", "paper"}}), UsageError) << name;
  }
}

// What a mechanism needs to run quickly on the small table, and for its words to matter there.
Parameters small(const std::string& name) {
  if (name == "mst") return {{"merge-below", "30"}};  // so that there is something to merge
  if (name == "aim") return {{"max-model-mb", "0.001"}};
  if (name == "grouped") return {{"fine", "a"}};
  if (name == "ide") return {{"marginals", "workload"}};
  if (name == "mwem-pub") return {{"delta", "1e-09"}};
  if (name.starts_with("gem")) {
    return {{"rows", "20"}, {"hidden", "8"}, {"rounds", "3"}, {"inputs", "4"}};
  }
  return {};
}

// The words reach the runs: answers are others than by default, and than by another word.
TEST(AsPrinted, RunsAreOthersThanByDefault) {
  const Table table = skewed_rows(5000, 0.0, 1);
  const Problem problem = skewed_problem(skewed_rows(200, 0.2, 2));
  for (const auto& mechanism : all_mechanisms()) {
    if (mechanism.options.empty() || mechanism.options.front().name != kAs) continue;
    std::vector<std::vector<double>> seen;
    for (const std::string word : {"default", "paper", "authors"}) {
      if (mechanism.options.front().type.find(word) == std::string::npos) continue;
      auto parameters = small(mechanism.name);
      parameters.emplace_back(kAs, word);
      const auto outcome = run_mechanism(mechanism.name, parameters, table, problem);
      expect_sound(outcome, problem);
      std::vector<double> answers;
      for (const auto& [clique, weight] : problem.workload.cliques()) {
        const auto values = outcome.release.model->project(clique).values;
        answers.insert(answers.end(), values.begin(), values.end());
      }
      EXPECT_EQ(std::ranges::count(seen, answers), 0) << mechanism.name << " as " << word;
      seen.push_back(std::move(answers));
    }
    EXPECT_GT(seen.size(), 1U) << mechanism.name;
  }
}

TEST(AsPrinted, JamPgmOffersPublicMarginalsInItsLastRoundToo) {
  const Table table = skewed_rows(500, 0.0, 1);
  const Problem problem = skewed_problem(skewed_rows(5000, 0.0, 2));
  const auto last = [&](const Parameters& parameters) {
    const auto outcome =
        run_mechanism("jam-pgm", parameters, table, problem, {.filter = Filter::zcdp(Rho(1e-3))});
    return outcome.release.measurements.back().origin;
  };
  EXPECT_EQ(last({{"as", "paper"}, {"rounds", "1"}}), Origin::Public);
}

TEST(AsPrinted, AimOpensMoreOfTheSizeLimit) {
  const Table table = skewed_rows(5000, 0.0, 1);
  const Problem problem = skewed_problem(skewed_rows(200, 0.2, 2));
  const auto model_with = [&](const char* growth) {
    const auto outcome =
        run_mechanism("aim", {{"growth", growth}, {"max-model-mb", "0.001"}}, table, problem);
    return outcome.release.model->project(problem.domain.all()).values;
  };
  EXPECT_NE(model_with("before"), model_with("with"));
}

}  // namespace
}  // namespace tandem::test
