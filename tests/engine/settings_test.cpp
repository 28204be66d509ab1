// SPDX-License-Identifier: Apache-2.0
#include "tandem/engine/settings.h"

#include <gtest/gtest.h>

#include <set>
#include <string>
#include <vector>

#include "support/errors.h"
#include "support/files.h"
#include "tandem/base/error.h"

namespace tandem {
namespace {

using test::contains;
using test::error_of;

bool keep_none(std::string_view /*setting*/) { return false; }

SynthSettings from_toml(const std::string& text) {
  SynthSettings settings;
  apply(Document::parse_toml(text, "tandem.toml"), settings, keep_none);
  return settings;
}

std::string refusal(const std::string& toml) {
  return error_of<UsageError>([&] { from_toml(toml); });
}

constexpr const char* kEverything = R"(
private = "people.csv"
public = ["a.csv", "b.csv"]
schema = "schema.toml"
records = "quoted"
epsilon = 2
delta = 1e-6
neighbors = "add-remove"
rows-per-person = 3
person = "name"
mechanism = "independent"
workload = "all-2way"
param = ["rounds=30", "share=0.5"]
rows = 1000
format = "csv"
out = "result"
ledger = "people.ledger"
seed = 7
memory-limit = "1GB"
)";

void expect_everything(const SynthSettings& s) {
  EXPECT_EQ(s.private_source, "people.csv");
  EXPECT_EQ(s.public_sources, (std::vector<std::string>{"a.csv", "b.csv"}));
  EXPECT_EQ(s.schema, "schema.toml");
  EXPECT_EQ(s.text.records, "quoted");
  EXPECT_EQ(s.epsilon, 2.0);
  EXPECT_EQ(s.delta, 1e-6);
  EXPECT_EQ(s.neighbors, "add-remove");
  EXPECT_EQ(s.rows_per_person, 3);
  EXPECT_EQ(s.person, "name");
  EXPECT_EQ(s.mechanism, "independent");
  EXPECT_EQ(s.workload, "all-2way");
  EXPECT_EQ(s.parameters, (std::vector<std::string>{"rounds=30", "share=0.5"}));
  EXPECT_EQ(s.rows, 1000);
  EXPECT_EQ(s.format, "csv");
  EXPECT_EQ(s.out, "result");
  EXPECT_EQ(s.ledger, "people.ledger");
  EXPECT_EQ(s.seed, 7);
  EXPECT_EQ(s.memory_limit, "1GB");
}

TEST(Settings, AreReadFromToml) { expect_everything(from_toml(kEverything)); }

TEST(Settings, AreReadFromJsonWithTheSameKeys) {
  SynthSettings settings;
  const std::string json = to_document(from_toml(kEverything)).to_json(2);
  apply(Document::parse_json(json, "tandem.json"), settings, keep_none);
  expect_everything(settings);
}

TEST(Settings, ThatAreNotNamedKeepTheirDefaults) {
  const SynthSettings s = from_toml("epsilon = 0.5\n");
  EXPECT_EQ(s.epsilon, 0.5);
  EXPECT_EQ(s.delta, 1e-9);
  EXPECT_EQ(s.neighbors, "replace-one");
  EXPECT_EQ(s.rows_per_person, 1);
  EXPECT_EQ(s.mechanism, "auto");
  EXPECT_EQ(s.workload, "all-3way");
  EXPECT_EQ(s.rows, 0);
  EXPECT_EQ(s.out, "release");
  EXPECT_EQ(s.seed, -1);
}

TEST(Settings, OfTheCommandLineWinOverTheFile) {
  SynthSettings settings;
  settings.epsilon = 9.0;
  settings.parameters = {"rounds=1"};
  apply(Document::parse_toml(kEverything, "tandem.toml"), settings,
        [](std::string_view name) { return name == "epsilon" || name == "param"; });
  EXPECT_EQ(settings.epsilon, 9.0);
  EXPECT_EQ(settings.parameters, std::vector<std::string>{"rounds=1"});
  EXPECT_EQ(settings.delta, 1e-6);
}

TEST(Settings, ParametersMayBeATableOrOneText) {
  const auto table = from_toml("[param]\nrounds = 30\nshare = 0.5\naverage = true\nkind = 'x'\n");
  EXPECT_EQ(table.parameters,
            (std::vector<std::string>{"rounds=30", "share=0.5", "average=true", "kind=x"}));
  EXPECT_EQ(from_toml("param = 'rounds=3'\n").parameters, std::vector<std::string>{"rounds=3"});
  EXPECT_EQ(from_toml("public = 'a.csv'\n").public_sources, std::vector<std::string>{"a.csv"});
  EXPECT_TRUE(contains(refusal("[param]\nrounds = [1]\n"), "tandem.toml: param.rounds"));
}

TEST(Settings, AnUnknownKeyIsRefusedWithTheNearestOne) {
  EXPECT_EQ(refusal("epsilom = 1\n"),
            "tandem.toml has an unknown key 'epsilom'; did you mean 'epsilon'?");
  EXPECT_TRUE(contains(refusal("colour = 'red'\n"), "'colour'"));
}

TEST(Settings, AValueOfTheWrongTypeIsRefusedWhereItStands) {
  EXPECT_EQ(refusal("epsilon = 'one'\n"), "tandem.toml: epsilon is a string; expected a number.");
  EXPECT_EQ(refusal("rows = 1.5\n"), "tandem.toml: rows is a number; expected a whole number.");
  EXPECT_EQ(refusal("out = 3\n"), "tandem.toml: out is a whole number; expected a string.");
  EXPECT_TRUE(contains(refusal("public = [1]\n"), "tandem.toml: public[1]"));
  SynthSettings settings;
  EXPECT_THROW(apply(Document::parse_json("[]", "a"), settings, keep_none), UsageError);
}

TEST(Settings, ReadBackAsTheyWereWritten) {
  SynthSettings settings = from_toml(kEverything);
  settings.epsilon = 1.0 / 3.0;
  settings.delta = 5e-324;
  settings.seed = std::int64_t{1} << 62;
  const Document written = to_document(settings);
  SynthSettings again;
  apply(Document::parse_json(written.to_json(), "a"), again, keep_none);
  EXPECT_EQ(to_document(again).to_json(), written.to_json());
  EXPECT_EQ(again.epsilon, settings.epsilon);
  EXPECT_EQ(again.delta, settings.delta);
  EXPECT_EQ(again.seed, settings.seed);
}

TEST(Settings, StateAFormatOverTheSchemas) {
  FormatSettings stated;
  EXPECT_EQ(stated_format(stated, {.records = Records::Quoted}).records, Records::Quoted);
  stated.records = "lines";
  EXPECT_EQ(stated_format(stated, {.records = Records::Quoted}).records, Records::Lines);
  stated.records = "quoted";
  EXPECT_EQ(stated_format(stated, {}).records, Records::Quoted);
  stated.records = "rfc4180";
  EXPECT_EQ(error_of<UsageError>([&] { stated_format(stated, {}); }),
            "--records is 'rfc4180'; choose lines or quoted.");
}

TEST(Settings, HaveOneNameEachAndSomeHelp) {
  SynthSettings settings;
  std::set<std::string> names;
  for_each_setting(settings, [&](const std::string& name, auto&, const std::string& help) {
    EXPECT_TRUE(names.insert(name).second) << name;
    EXPECT_FALSE(help.empty()) << name;
  });
  EXPECT_EQ(names.size(), to_document(settings).as_object().size());
}

}  // namespace
}  // namespace tandem
