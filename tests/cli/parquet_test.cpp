// SPDX-License-Identifier: Apache-2.0
// Parquet wherever the command reads a table: the same as the CSV of it, and plain sentences.

#include "support/parquet.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "support/command.h"
#include "support/errors.h"
#include "support/files.h"
#include "tandem/base/document.h"

namespace tandem {
namespace {

namespace fs = std::filesystem;
using test::CommandResult;
using test::contains;
using test::read_file;
using test::Variable;

constexpr const char* kMarker = "XYZZYSECRET";

std::string rows_in_sql(int first, int last) {
  return "SELECT if(i % 9 = 0, NULL, i % 80) AS age, if(i % 4 = 0, 'it''s \"q\", ☃', 'plain') AS "
         "word, (i * 37 % 4000) / 4.0 AS amount, DATE '2000-01-01' + CAST(i % 900 AS INTEGER) AS "
         "day, i % 3 = 0 AS yes, 'p' || (i % 500) AS who FROM range(" +
         std::to_string(first) + ", " + std::to_string(last) + ") t(i)";
}

class ParquetCommand : public testing::Test {
 protected:
  // The same rows as one file, as a folder of two, and as CSV.
  void write_rows() const {
    test::write_parquet(dir_ / "rows.parquet", rows_in_sql(0, 3000));
    fs::create_directory(dir_ / "parts");
    test::write_parquet(dir_ / "parts/a.parquet", rows_in_sql(0, 1000));
    test::write_parquet(dir_ / "parts/b's.parquet", rows_in_sql(1000, 3000));
    DuckDb database(1);
    ASSERT_TRUE(database.run("COPY (" + rows_in_sql(0, 3000) + ") TO '" + (dir_ / "rows.csv") +
                             "' (FORMAT csv, HEADER)"));
  }

  static CommandResult tandem(std::vector<std::string> call) {
    call.insert(call.begin(), TANDEM_COMMAND);
    return test::run_command(call);
  }

  CommandResult synth(const std::string& source, const std::vector<std::string>& more = {}) const {
    std::vector<std::string> call = {"synth",      "--private", source,       "--schema",
                                     schema_,      "--epsilon", "1",          "--out",
                                     dir_ / "out", "--force",   "--workload", "all-2way"};
    call.insert(call.end(), more.begin(), more.end());
    return tandem(call);
  }

  // What a run leaves that says nothing of where its rows came from.
  std::string made_from(const std::string& source, std::vector<std::string> more = {}) const {
    more.insert(more.end(), {"--seed", "7"});
    const auto result = synth(source, more);
    EXPECT_EQ(result.exit_code, 0) << result.err;
    return read_file(dir_ / "out/synthetic.csv") + read_file(dir_ / "out/measurements.json");
  }

  test::TempDir dir_;
  std::string schema_ = dir_.write(
      "schema.toml",
      "[[column]]\nname = 'age'\nkind = 'integer'\nmin = 0\nmax = 94\nbins = 10\nnull = true\n"
      "[[column]]\nname = 'word'\nvalues = ['plain', \"it's \\\"q\\\", ☃\"]\n"
      "[[column]]\nname = 'amount'\nkind = 'real'\nmin = 0.0\nmax = 1000.0\nbins = 12\n"
      "decimals = 2\ninside = 'public'\n"
      "[[column]]\nname = 'day'\nkind = 'date'\nmin = '2000-01-01'\nmax = '2002-12-31'\n"
      "bins = 'quarter'\n"
      "[[column]]\nname = 'yes'\nkind = 'boolean'\n");
};

TEST_F(ParquetCommand, GivesTheReleaseOfTheSameCsv) {
  TANDEM_NEEDS_DUCKDB();
  write_rows();
  const auto wanted = made_from(dir_ / "rows.csv");
  for (const char* source : {"rows.parquet", "parts", "parts/*.parquet", "p*/**/*.parquet"}) {
    EXPECT_TRUE(made_from(dir_ / source) == wanted) << source;
  }
  const auto release = Document::read(dir_ / "out/release.json");
  EXPECT_EQ(release.at("guarantee").at("records").as_string(), "quoted");
  EXPECT_FALSE(contains(read_file(dir_ / "out/release.json"), "parquet"));
}

TEST_F(ParquetCommand, APersonsShareIsThatOfTheCsv) {
  TANDEM_NEEDS_DUCKDB();
  write_rows();
  const std::vector<std::string> persons = {"--person", "who", "--rows-per-person", "2"};
  EXPECT_TRUE(made_from(dir_ / "parts", persons) == made_from(dir_ / "rows.csv", persons));
}

TEST_F(ParquetCommand, PublicDataMayBeParquet) {
  TANDEM_NEEDS_DUCKDB();
  write_rows();
  const auto with = [&](const std::string& source) {
    return made_from(dir_ / "private.csv", {"--public", source});
  };
  dir_.write("private.csv", "age,word,amount,day,yes\n1,plain,2,2000-02-02,true\n");
  const auto wanted = with(dir_ / "rows.csv");
  EXPECT_TRUE(with(dir_ / "rows.parquet") == wanted);
  EXPECT_TRUE(with(dir_ / "parts/") == wanted);
  const auto release = Document::read(dir_ / "out/release.json");
  const auto& named = release.at("public").as_array().at(0);
  EXPECT_EQ(named.at("name").as_string(), "parts");
  EXPECT_EQ(named.at("sha256").as_string().size(), 64U);
}

TEST_F(ParquetCommand, OtherCommandsReadItToo) {
  TANDEM_NEEDS_DUCKDB();
  write_rows();
  const auto same = [&](const std::vector<std::string>& call, const std::string& flag) {
    std::vector<std::string> out;
    for (const char* source : {"rows.csv", "rows.parquet", "parts"}) {
      auto words = call;
      words.insert(words.end(), {flag, dir_ / source, "--quiet"});
      const auto result = tandem(words);
      EXPECT_EQ(result.exit_code, 0) << result.err;
      out.push_back(result.out);
    }
    EXPECT_EQ(out[1], out[0]) << call[0];
    EXPECT_EQ(out[2], out[0]) << call[0];
  };
  ASSERT_EQ(synth(dir_ / "rows.csv", {"--seed", "1"}).exit_code, 0);
  same({"evaluate", "--schema", schema_, "--json", "--synthetic", dir_ / "out/synthetic.csv"},
       "--real");
  same({"evaluate", "--schema", schema_, "--json", "--real", dir_ / "rows.csv"}, "--synthetic");
  same({"schema", "--schema", schema_, "--json"}, "--public");
  const auto checked = tandem({"check", "--schema", schema_, "--private", dir_ / "parts",
                               "--person", "who", "--rows-per-person", "6"});
  EXPECT_EQ(checked.exit_code, 0) << checked.out;
  EXPECT_TRUE(contains(checked.out, "3,000 rows, read as Parquet")) << checked.out;
  for (const char* source : {"rows.csv", "rows.parquet"}) {
    const auto compared =
        tandem({"compare", "--private", dir_ / source, "--schema", schema_, "--mechanisms",
                "independent", "--epsilons", "1", "--seeds", "1", "--workload", "all-2way", "--out",
                dir_ / (std::string("of ") + source)});
    EXPECT_EQ(compared.exit_code, 0) << compared.err;
  }
  EXPECT_EQ(read_file(dir_ / "of rows.csv/yardsticks.csv"),
            read_file(dir_ / "of rows.parquet/yardsticks.csv"));
  const auto answered =
      tandem({"answer", "--private", dir_ / "parts", "--schema", schema_, "--epsilon", "1",
              "--workload", "all-2way", "--seed", "2", "--out", dir_ / "answers"});
  EXPECT_EQ(answered.exit_code, 0) << answered.err;
}

// The draft but for what it says of the file itself.
std::string draft_of(const std::string& path) {
  const std::string text = read_file(path);
  const std::string columns = text.substr(text.find("[[column]]"));
  return columns.substr(0, columns.find("drafted_from"));
}

TEST_F(ParquetCommand, ADraftOfParquetIsThatOfTheCsv) {
  TANDEM_NEEDS_DUCKDB();
  write_rows();
  const auto drafted = [&](const std::string& source) {
    const auto result =
        tandem({"schema", "--public", dir_ / source, "--out", dir_ / "draft.toml", "--force"});
    EXPECT_EQ(result.exit_code, 0) << result.err;
    return draft_of(dir_ / "draft.toml");
  };
  const auto wanted = drafted("rows.csv");
  EXPECT_EQ(drafted("rows.parquet"), wanted);
  EXPECT_EQ(drafted("parts"), wanted);
  // Each of its files counts as what the schema was drafted from.
  const auto checked = tandem(
      {"check", "--schema", dir_ / "draft.toml", "--private", dir_ / "parts/a.parquet", "--json"});
  EXPECT_TRUE(contains(checked.out, "drafted-from-it")) << checked.out;
}

TEST_F(ParquetCommand, TheFileItselfIsNoPublicData) {
  TANDEM_NEEDS_DUCKDB();
  write_rows();
  fs::create_symlink(dir_ / "parts/a.parquet", dir_ / "link.pq");
  for (const char* source : {"parts", "parts/a*.parquet", "link.pq"}) {
    const auto result = synth(dir_ / "parts", {"--public", dir_ / source});
    EXPECT_EQ(result.exit_code, 2);
    EXPECT_TRUE(contains(result.err, "is the private file itself")) << result.err;
  }
}

TEST_F(ParquetCommand, WhatIsWrongIsFoundBeforeTheLedgerHearsOfIt) {
  TANDEM_NEEDS_DUCKDB();
  write_rows();
  const std::string ledger = dir_ / "register.ledger";
  ASSERT_EQ(tandem({"budget", "create", "--ledger", ledger, "--dataset", "x", "--epsilon", "5"})
                .exit_code,
            0);
  fs::create_directory(dir_ / "empty");
  dir_.write("csv.parquet", read_file(dir_ / "rows.csv"));
  const std::string whole = read_file(dir_ / "rows.parquet");
  dir_.write("cut.parquet", whole.substr(0, whole.size() / 2));
  const auto changed = [&](const std::string& name, const std::string& columns) {
    test::write_parquet(dir_ / name, "SELECT " + columns + " FROM (" + rows_in_sql(0, 10) + ")");
  };
  changed("lacks.parquet", "* EXCLUDE (day)");
  changed("nested.parquet", "* REPLACE ([age] AS age)");
  changed("bytes.parquet", "* REPLACE (encode(word) AS word)");
  struct Case {
    const char* source;
    int exit_code;
    const char* sentence;
  };
  for (const auto& [source, exit_code, sentence] : std::vector<Case>{
           {"csv.parquet", 1, "csv.parquet can't be read as Parquet"},
           {"cut.parquet", 1, "cut.parquet can't be read as Parquet"},
           {"empty", 2, "empty is a folder without Parquet files"},
           {"none-*.parquet", 2, "none-*.parquet' matches no file"},
           {"no.parquet", 2, "no.parquet can't be opened"},
           {"lacks.parquet", 2, "lacks.parquet has no column 'day', which the schema names"},
           {"nested.parquet", 2, "nested.parquet holds lists"},
           {"bytes.parquet", 2, "bytes.parquet holds bytes"}}) {
    const auto result = synth(dir_ / source, {"--ledger", ledger});
    EXPECT_EQ(result.exit_code, exit_code) << source;
    EXPECT_TRUE(contains(result.err, sentence)) << result.err;
    EXPECT_FALSE(fs::exists(dir_ / "out"));
  }
  auto result = synth(dir_ / "parts", {"--ledger", ledger, "--person", "nobody"});
  EXPECT_TRUE(contains(result.err, "parts has no column 'nobody', named as the person column"));
  result = synth(dir_ / "parts", {"--ledger", ledger, "--records", "lines"});
  EXPECT_TRUE(contains(result.err, "--records of Parquet can only be quoted"));
  const auto shown = tandem({"budget", "show", "--ledger", ledger});
  EXPECT_FALSE(contains(shown.out, "reserved at")) << shown.out;
}

TEST_F(ParquetCommand, WhatBreaksOffGivesTheBudgetBackAndQuotesNothing) {
  TANDEM_NEEDS_DUCKDB();
  const std::string ledger = dir_ / "register.ledger";
  ASSERT_EQ(tandem({"budget", "create", "--ledger", ledger, "--dataset", "x", "--epsilon", "5"})
                .exit_code,
            0);
  const std::string schema =
      dir_.write("one.toml", "[[column]]\nname = 'a'\nvalues = ['x', 'y']\n");
  test::write_parquet(dir_ / "rows.parquet",
                      std::string("SELECT '") + kMarker + "' || random() AS a FROM range(50000)");
  std::string damaged = read_file(dir_ / "rows.parquet");
  for (std::size_t i = damaged.size() / 3; i < damaged.size() / 2; ++i) {
    damaged[i] = static_cast<char>(~damaged[i]);
  }
  dir_.write("rows.parquet", damaged);
  const auto result = tandem({"synth", "--private", dir_ / "rows.parquet", "--schema", schema,
                              "--epsilon", "1", "--out", dir_ / "out", "--ledger", ledger,
                              "--mechanism", "independent", "--workload", "all-1way"});
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_TRUE(contains(result.err, "rows.parquet can't be read")) << result.err;
  EXPECT_FALSE(contains(result.err, kMarker));
  EXPECT_FALSE(fs::exists(dir_ / "out"));
  EXPECT_TRUE(contains(tandem({"budget", "show", "--ledger", ledger}).out, "Together  nothing"));
}

TEST_F(ParquetCommand, APlanNeedsNoRows) {
  const auto result = synth(dir_ / "later.parquet", {"--plan"});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_TRUE(contains(result.out, "Every record of the private file is a row")) << result.out;
}

TEST_F(ParquetCommand, WithoutTheLibraryOneSentenceSaysHowToAddIt) {
  const Variable none("TANDEM_DUCKDB", "/no/such/libduckdb.so");
  const auto path = dir_.write("rows.parquet", "PAR1 looks like a file of it PAR1");
  for (const auto& result :
       {synth(path), tandem({"check", "--schema", schema_, "--private", path}),
        tandem({"schema", "--public", path}),
        tandem({"evaluate", "--schema", schema_, "--real", path, "--synthetic", path})}) {
    EXPECT_EQ(result.exit_code, 2);
    EXPECT_TRUE(contains(result.err, "/no/such/libduckdb.so is no DuckDB library")) << result.err;
    EXPECT_TRUE(contains(result.err, "in Python")) << result.err;
  }
}

}  // namespace
}  // namespace tandem
