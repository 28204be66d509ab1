// SPDX-License-Identifier: Apache-2.0
// Columns as the world has them: every raw value has a code, and code, value and code agree.

#include <fmt/core.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "support/codecs.h"
#include "support/command.h"
#include "support/files.h"
#include "tandem/data/schema.h"

namespace tandem {
namespace {

// The fields of a file that quotes nothing, row by row; the first row is the header.
std::vector<std::vector<std::string>> read_fields(const std::string& path) {
  std::vector<std::vector<std::string>> out;
  const auto content = test::read_file(path);
  EXPECT_EQ(content.find('"'), std::string::npos);
  for (auto line : split(content, '\n')) {
    if (line.ends_with('\r')) line.remove_suffix(1);
    if (line.empty()) continue;
    out.emplace_back();
    for (const auto field : split(line, ',')) out.back().emplace_back(field);
  }
  return out;
}

// Codes by row and the schema's columns. Every text must fit exactly and read back.
std::vector<std::vector<Code>> encode_all(const Schema& schema, const std::string& path) {
  const auto rows = read_fields(path);
  std::vector<std::vector<Code>> out(rows.size() - 1);
  for (const auto& column : schema.columns()) {
    const auto at =
        static_cast<std::size_t>(std::ranges::find(rows[0], column.name) - rows[0].begin());
    if (at == rows[0].size()) {
      ADD_FAILURE() << path << " has no " << column.name;
      continue;
    }
    std::map<std::string, Code> codes;  // of the different texts
    for (std::size_t r = 1; r < rows.size(); ++r) {
      const auto& text = rows[r][at];
      const auto [known, added] = codes.try_emplace(text, 0);
      if (added) {
        const auto encoded = column.codec->encode(text);
        EXPECT_EQ(encoded.fit, Fit::Exact) << column.name << ' ' << text;
        EXPECT_EQ(test::broken_by_text(*column.codec, text), "") << column.name;
        known->second = encoded.code;
      }
      out[r - 1].push_back(known->second);
    }
  }
  return out;
}

Schema from_toml(const std::string& text) {
  return Schema::from_document(Document::parse_toml(text, "s.toml"));
}

constexpr const char* kPopulation = R"toml(
[[column]]
name = "age"
kind = "integer"
min = 0
max = 94
edges = [15, 20, 25, 30, 35, 45, 55, 65, 75]
[[column]]
name = "sex"
values = ["F", "M"]
[[column]]
name = "region"
values = ["Alvessa", "Brennick", "Corvane", "Dursk", "Eldomar", "Fenrith", "Gostry", "Halvora"]
[[column]]
name = "origin"
values = ["native", "elsewhere", "abroad"]
[[column]]
name = "education"
kind = "ordinal"
values = ["none", "basic", "trade", "college", "degree"]
null = ""
[[column]]
name = "marital"
values = ["single", "married", "divorced", "widowed"]
[[column]]
name = "household"
kind = "integer"
min = 1
max = 7
edges = [2, 3, 4, 5, 6]
[[column]]
name = "occupation"
values = ["none", "farming", "building", "factory", "transport", "retail", "hospitality", "office",
          "care", "teaching", "technology", "management"]
[[column]]
name = "remote"
kind = "boolean"
null = ""
[[column]]
name = "commute_km"
kind = "real"
min = 0.0
max = 120.0
edges = [2, 5, 10, 20, 40]
decimals = 1
null = ""
[[column]]
name = "income"
kind = "integer"
min = 0
max = 250000
edges = [5000, 10000, 15000, 20000, 30000, 40000, 60000]
special = "N"
null = ""
[[column]]
name = "moved_in"
kind = "date"
min = "1920-01-01"
max = "2020-12-31"
edges = ["1980-01-01", "1990-01-01", "2000-01-01", "2008-01-01", "2015-07-02"]
null = ""
[[rule]]
if = "age < 15"
then = "education = none and marital = single and occupation = none and income = N"
[[rule]]
if = "age >= 15"
then = "education != none and income != N"
[[rule]]
if = "marital = married"
then = "household >= 2"
[[rule]]
if = "occupation = none"
then = "remote = '' and commute_km = ''"
[[rule]]
if = "occupation != none"
then = "remote != ''"
)toml";

TEST(RealColumns, TheSampleHasTheCodesThatItsScriptGivesIt) {
  const test::TempDir dir;
  const std::string script = TANDEM_SOURCE_DIR "/examples/population/make_population.py";
  const auto made = test::run_command(
      {"/usr/bin/env", "python3", script, "--out", dir.path().string(), "--rows", "4000"});
  if (made.exit_code == 127) GTEST_SKIP() << "there is no python3";
  ASSERT_EQ(made.exit_code, 0) << made.err;
  const auto schema = from_toml(kPopulation);
  for (const std::string wave : {"private", "public"}) {
    const auto codes = encode_all(schema, dir / (wave + ".csv"));
    const auto coded = read_fields(dir / (wave + "-coded.csv"));
    ASSERT_EQ(codes.size() + 1, coded.size());
    for (std::size_t r = 0; r < codes.size(); ++r) {
      for (std::size_t c = 0; c < codes[r].size(); ++c) {
        ASSERT_EQ(std::to_string(codes[r][c]), coded[r + 1][c]) << coded[0][c] << ", row " << r;
      }
    }
    auto table = Table::from_rows(schema.domain(), codes);
    EXPECT_EQ(mend_rows(schema.rules(), table), 0U) << "its structural zeros are zeros";
  }
}

TEST(RealColumns, TheCensusSurveyFitsWithoutRepair) {
  TANDEM_REAL_DATA(folder, "acs");
  // What the codebook says of numbers, by hand; its lists of values as they stand there.
  const std::map<std::string, std::string> numbers = {
      {"AGEP", "kind = 'integer'\nmin = 0\nmax = 99\n"},
      {"NOC", "kind = 'integer'\nmin = 0\nmax = 19\nspecial = 'N'\n"},
      {"NPF", "kind = 'integer'\nmin = 2\nmax = 20\nspecial = 'N'\n"},
      {"DENSITY", "kind = 'real'\nmin = 16.3\nmax = 52864.7\nbins = 20\n"},
      {"INDP", "kind = 'integer'\nmin = 0\nmax = 9999\nspecial = 'N'\n"},
      {"PINCP",
       "kind = 'integer'\nmin = -9000\nmax = 1341000\nedges = [0, 1, 10000, 50000]\n"
       "decimals = 1\nstep = 10\nspecial = 'N'\n"},
      {"POVPIP", "kind = 'integer'\nmin = 0\nmax = 500\nbins = 10\nspecial = ['N', 501]\n"},
      {"WGTP", "kind = 'integer'\nmin = 0\nmax = 9999\nbins = 50\n"},
      {"PWGTP", "kind = 'integer'\nmin = 1\nmax = 9999\nedges = [10, 100, 1000]\n"}};
  std::string text;
  const auto codebook = Document::read(folder + "/data_dictionary.json");
  for (const auto& [name, entry] : codebook.as_object()) {
    text += fmt::format("[[column]]\nname = '{}'\n", name);
    if (const auto found = numbers.find(name); found != numbers.end()) {
      text += found->second;
      continue;
    }
    text += "values = [";
    for (const auto& [value, label] : entry.at("values").as_object()) {
      text += fmt::format("'{}', ", value);
    }
    text += "]\n";
  }
  text +=
      "[[rule]]\nif = 'AGEP < 15'\nthen = 'MSP = N and PINCP = N and PINCP_DECILE = N'\n"
      "[[rule]]\nif = 'AGEP < 5'\nthen = 'DPHY = N and DREM = N'\n";
  const auto schema = from_toml(text);
  EXPECT_EQ(schema.columns().size(), 24U);
  for (const char* name : {"ma2018", "ma2019", "national2019"}) {
    const auto codes = encode_all(schema, folder + '/' + name + ".csv");
    auto table = Table::from_rows(schema.domain(), codes);
    EXPECT_EQ(mend_rows(schema.rules(), table), 0U) << name;
  }
}

TEST(RealColumns, AdultFitsItsDomain) {
  TANDEM_REAL_DATA(folder, "adult");
  const auto schema = Schema::read(folder + "/adult-domain.json");
  EXPECT_EQ(encode_all(schema, folder + "/adult.csv").size(), 48813U);
}

}  // namespace
}  // namespace tandem
