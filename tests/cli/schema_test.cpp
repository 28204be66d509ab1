// SPDX-License-Identifier: Apache-2.0
// tandem schema, from public files to a schema that loads their relatives.

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "support/command.h"
#include "support/errors.h"
#include "support/files.h"
#include "tandem/base/document.h"
#include "tandem/data/csv.h"
#include "tandem/data/schema.h"

namespace tandem {
namespace {

using test::contains;
using test::read_file;
using test::TempDir;

test::CommandResult tandem(std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(), TANDEM_COMMAND);
  return test::run_command(arguments);
}

// The different texts of each column of a file.
std::map<std::string, std::set<std::string>> texts_of(const std::string& path) {
  std::map<std::string, std::set<std::string>> out;
  std::vector<std::string> header;
  scan_csv(
      path, {},
      [&](std::span<const std::string> names, const TextFormat&) {
        header.assign(names.begin(), names.end());
      },
      [&](std::span<const std::string_view> fields, std::size_t) {
        for (std::size_t i = 0; i < fields.size(); ++i) out[header[i]].emplace(fields[i]);
      });
  return out;
}

// Every text of the file: to its code, to a text, and to the same code again.
void expect_round_trip(const Schema& schema, const std::string& path) {
  Rng rng(1);
  const auto texts = texts_of(path);
  for (const auto& column : schema.columns()) {
    for (const auto& text : texts.at(column.name)) {
      const Code code = column.codec->encode(text).code;
      std::string back;
      column.codec->decode(code, rng, back);
      ASSERT_EQ(column.codec->encode(back), Encoded{code})
          << column.name << ": " << text << " became " << back;
    }
  }
}

class SchemaCommand : public testing::Test {
 protected:
  TempDir dir_;
  std::string out_ = dir_ / "schema.toml";
};

TEST_F(SchemaCommand, DraftsASchemaThatSaysWhatItChose) {
  std::string rows = "id;age;city;joined;paid\n";
  for (int i = 0; i < 400; ++i) {
    const int age = i % 70;
    rows += std::to_string(10000 + i) + ";" + std::to_string(age) + ";" +
            (age < 15     ? "none"
             : i % 3 == 0 ? "Zürich"
                          : "Genève") +
            ";0" + std::to_string(1 + i % 9) + ".11.20" + std::to_string(10 + i % 10) + ";" +
            (i % 7 == 0 ? "" : std::to_string(i) + "," + std::to_string(i % 10)) + "\n";
  }
  const auto file = dir_.write("public.csv", rows);
  const auto result = tandem({"schema", "--public", file, "--out", out_});
  ASSERT_EQ(result.exit_code, 0) << result.err;
  EXPECT_TRUE(contains(result.err, "Unclear: id: Left out"));
  EXPECT_TRUE(contains(result.err, "age 0 to 78 (public numbers 0 to 69)"));
  const std::string toml = read_file(out_);
  EXPECT_TRUE(contains(toml, "delimiter = \";\""));
  EXPECT_TRUE(contains(toml, "decimal = \",\""));
  EXPECT_TRUE(contains(toml, "pattern = \"%d.%m.%Y\""));
  EXPECT_TRUE(contains(toml, "# if = \"age < 15\"\n# then = \"city = none\""));

  // It loads what it was made from, and a rule that is confirmed holds there.
  std::string confirmed = toml;
  const auto rule = confirmed.find("# [[rule]]");
  for (auto at = rule; at != std::string::npos; at = confirmed.find("\n# ", at)) {
    confirmed.erase(at + (at == rule ? 0 : 1), 2);
  }
  const auto checked = tandem(
      {"schema", "--schema", dir_.write("confirmed.toml", confirmed), "--public", file, "--json"});
  ASSERT_EQ(checked.exit_code, 0) << checked.err;
  const auto json = Document::parse_json(checked.out, "stdout");
  EXPECT_EQ(json.at("rows").as_integer(), 400);
  EXPECT_EQ(json.at("mended_rows").as_integer(), 0);
  EXPECT_EQ(json.at("ignored_columns").to_json(), R"(["id"])");
  expect_round_trip(Schema::read(out_), file);
}

TEST_F(SchemaCommand, ChoosesQuotedRecordsWhereTheFileHasSuch) {
  const std::string rows = "a,b,note\n1,x,fine\n2,y,\"call\nme\"\n1,x,\n2,y,\n";
  const auto plain = dir_.write("plain.csv", "a,b,note\n1,x,fine\n2,y,\"call me\"\n1,x,\n2,y,\n");
  const auto quoted = dir_.write("quoted.csv", rows);
  const auto drafted = [&](std::vector<std::string> files) {
    std::vector<std::string> call = {"schema", "--out", out_, "--force"};
    for (const auto& file : files) call.insert(call.end(), {"--public", file});
    EXPECT_EQ(tandem(call).exit_code, 0);
    return Schema::read(out_).format();
  };
  EXPECT_EQ(drafted({plain}), TextFormat{});
  EXPECT_EQ(drafted({quoted}), TextFormat{.records = Records::Quoted});
  EXPECT_EQ(drafted({plain, quoted}).records, Records::Quoted);
  EXPECT_TRUE(contains(read_file(out_), "records = \"quoted\""));
  // In a column that is left out, and in the header, too.
  EXPECT_EQ(drafted({dir_.write("left.csv", "a,\n1,\"x\ny\"\n2,\n1,\n")}).records, Records::Quoted);
  EXPECT_EQ(drafted({dir_.write("head.csv", "a,\"b\nc\"\n1,x\n2,y\n1,x\n")}).records,
            Records::Quoted);
}

TEST_F(SchemaCommand, NeverReplacesAFileUnasked) {
  const auto file = dir_.write("public.csv", "a\n1\n2\n");
  dir_.write("schema.toml", "mine");
  EXPECT_EQ(tandem({"schema", "--public", file, "--out", out_}).exit_code, 2);
  EXPECT_EQ(read_file(out_), "mine");
  EXPECT_EQ(tandem({"schema", "--public", file, "--out", out_, "--force"}).exit_code, 0);
  EXPECT_TRUE(contains(read_file(out_), "name = \"a\""));
  EXPECT_EQ(tandem({"schema", "--public", file, "--out", dir_ / "no/schema.toml"}).exit_code, 1);
}

TEST_F(SchemaCommand, SynthDraftsOneFromPublicDataWhenNoneIsGiven) {
  std::string rows = "age,town\n";
  for (int i = 0; i < 200; ++i) {
    rows += std::to_string(i % 60) + (i % 3 == 0 ? ",Ys\n" : ",Is\n");
  }
  const auto file = dir_.write("public.csv", rows);
  const auto hidden = dir_.write("private.csv", "town,age\nYs,3\nXanadu,200\n,\n");
  const auto result = tandem({"synth", "--private", hidden, "--public", file, "--epsilon", "5",
                              "--workload", "all-1way", "--seed", "1", "--out", dir_ / "r"});
  ASSERT_EQ(result.exit_code, 0) << result.err;
  EXPECT_TRUE(contains(result.err, "without --schema"));
  EXPECT_EQ(result.err.find("Xanadu"), std::string::npos);
  const std::string written = read_file(dir_ / "r/synthetic.csv");
  EXPECT_TRUE(written.starts_with("age,town\n"));
  EXPECT_EQ(std::ranges::count(written, '\n'), 4);
  EXPECT_EQ(written.find("Xanadu"), std::string::npos);
  EXPECT_EQ(read_file(dir_ / "r/schema.toml").find("Xanadu"), std::string::npos);
}

TEST_F(SchemaCommand, TheSampleIsCodedAsItsOwnScriptDoes) {
  ASSERT_EQ(
      test::run_command({"/usr/bin/env", "python3",
                         std::string(TANDEM_SOURCE_DIR) + "/examples/population/make_population.py",
                         "--out", dir_.path().string()})
          .exit_code,
      0);
  const auto schema =
      Schema::read(std::string(TANDEM_SOURCE_DIR) + "/examples/population/schema.toml");
  const auto codes = Schema::read(dir_ / "domain.json");
  for (const std::string name : {"public", "private"}) {
    Table raw = read_csv(dir_ / (name + ".csv"), schema).table;
    EXPECT_EQ(mend_rows(schema.rules(), raw), 0U) << "no row breaks a rule";
    const Table coded = read_csv(dir_ / (name + "-coded.csv"), codes).table;
    ASSERT_EQ(raw.rows(), coded.rows());
    for (AttributeId id = 0; id < codes.domain().size(); ++id) {
      EXPECT_EQ(raw.column(id), coded.column(id)) << codes.domain()[id].name;
    }
    expect_round_trip(schema, dir_ / (name + ".csv"));
  }
}

// ---- Real data ----

TEST_F(SchemaCommand, RealDataAcsLoadsOtherYearsAndPlaces) {
  TANDEM_REAL_DATA(acs, "acs");
  const auto result = tandem({"schema", "--public", acs + "/national2019.csv", "--codebook",
                              acs + "/data_dictionary.json", "--out", out_});
  ASSERT_EQ(result.exit_code, 0) << result.err;
  const auto schema = Schema::read(out_);
  EXPECT_EQ(schema.columns().size(), 24U);
  for (const std::string name : {"/national2019.csv", "/ma2019.csv", "/ma2018.csv"}) {
    const auto checked = tandem({"schema", "--schema", out_, "--public", acs + name, "--json"});
    ASSERT_EQ(checked.exit_code, 0) << checked.err;
    const auto json = Document::parse_json(checked.out, "stdout");
    for (const auto& column : json.at("columns").as_array()) {
      if (column.at("name").as_string() == "INDP") continue;
      EXPECT_EQ(column.at("adapted").as_integer(), 0) << column.to_json();
    }
    expect_round_trip(schema, acs + name);
  }
}

TEST_F(SchemaCommand, RealDataAdultRoundTrips) {
  TANDEM_REAL_DATA(adult, "adult");
  const auto draft = tandem({"schema", "--public", adult + "/adult.csv", "--out", out_});
  ASSERT_EQ(draft.exit_code, 0) << draft.err;
  expect_round_trip(Schema::read(out_), adult + "/adult.csv");
  expect_round_trip(Schema::read(adult + "/mw-pub-split/domain.json"),
                    adult + "/mw-pub-split/priv.csv");
}

}  // namespace
}  // namespace tandem
