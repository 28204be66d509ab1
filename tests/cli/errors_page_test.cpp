// SPDX-License-Identifier: Apache-2.0
// docs/errors.md: what people get wrong, and what tandem says. The page is made here, from the
// command's own answers; a message that changes makes the page stale and fails the test. With
// TANDEM_UPDATE_DOCS set, the page is written anew.

#include <fmt/core.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <string>
#include <utility>
#include <vector>

#include "support/command.h"
#include "support/files.h"
#include "support/parquet.h"

namespace tandem {
namespace {

using Files = std::vector<std::pair<std::string, std::string>>;

struct Case {
  std::string situation;
  Files files;
  std::vector<std::string> call;
  std::string shown = {};  // what is wrong with the files
};

struct Section {
  std::string title;
  std::vector<Case> cases;
};

const std::string kSchema = R"(format = 1
[[column]]
name = "age"
kind = "integer"
min = 0
max = 99
[[column]]
name = "sex"
values = ["F", "M"]
)";

const std::vector<std::string> kCheck = {"schema", "--schema", "schema.toml", "--public",
                                         "public.csv"};

Files with(const std::string& name, const std::string& content) {
  Files files = {{"schema.toml", kSchema},
                 {"people.csv", "age,sex\n31,F\n64,M\n"},
                 {"public.csv", "age,sex\n30,F\n60,M\n"}};
  std::erase_if(files, [&](const auto& file) { return file.first == name; });
  files.emplace_back(name, content);
  return files;
}

std::vector<std::string> synth(std::vector<std::string> more = {}) {
  std::vector<std::string> call = {
      "synth",       "--private",  "people.csv", "--public",  "public.csv", "--schema",
      "schema.toml", "--workload", "all-1way",   "--epsilon", "1"};
  call.insert(call.end(), more.begin(), more.end());
  return call;
}

std::vector<std::string> parquet(const std::string& source) {
  return {"synth", "--private", source, "--schema", "schema.toml", "--epsilon", "1"};
}

Case column(const std::string& situation, const std::string& keys) {
  return {situation,
          {{"schema.toml", "[[column]]\nname = \"age\"\n" + keys}, {"public.csv", "age\n1\n"}},
          kCheck,
          keys};
}

Case rule(const std::string& situation, const std::string& when, const std::string& then) {
  return {situation,
          with("schema.toml",
               kSchema + fmt::format("[[rule]]\nif = \"{}\"\nthen = \"{}\"\n", when, then)),
          kCheck, fmt::format("if = \"{}\"\nthen = \"{}\"\n", when, then)};
}

Case public_file(const std::string& situation, const std::string& content) {
  return {
      situation, with("public.csv", content), kCheck,
      std::ranges::all_of(content, [](char c) { return c >= ' ' || c == '\n'; }) ? content : ""};
}

std::vector<Section> sections() {
  return {
      {"Making a schema",
       {{"from private data", {}, {"schema", "--private", "people.csv"}},
        {"from nothing", {}, {"schema", "--out", "schema.toml"}},
        {"to hold private data against it",
         {},
         {"schema", "--private", "people.csv", "--schema", "schema.toml"}},
        {"from a file that isn't there", {}, {"schema", "--public", "nowhere.csv"}},
        {"from a table without rows",
         {{"public.csv", "age,sex\n"}},
         {"schema", "--public", "public.csv"}},
        {"over a file that exists",
         with("draft.toml", "mine"),
         {"schema", "--public", "public.csv", "--out", "draft.toml"}},
        {"with a codebook that is none",
         with("book.json", "[1, 2]"),
         {"schema", "--public", "public.csv", "--codebook", "book.json"}},
        {"with a codebook that is cut off",
         with("book.json", "{\"age\": {"),
         {"schema", "--public", "public.csv", "--codebook", "book.json"}},
        {"with half a range in the codebook",
         with("book.json", R"({"age": {"values": {"min": 0}}})"),
         {"schema", "--public", "public.csv", "--codebook", "book.json"}}}},
      {"Columns of a schema",
       {column("an unknown kind", "kind = \"number\"\n"),
        column("a key that belongs elsewhere", "kind = \"boolean\"\nmin = 0\n"),
        column("neither values nor a size", ""),
        column("a value twice", "values = [\"a\", \"b\", \"a\"]\n"),
        column("no bounds", "kind = \"integer\"\nmin = 0\n"),
        column("bounds the wrong way round", "kind = \"integer\"\nmin = 9\nmax = 0\n"),
        column("a bound that isn't whole", "kind = \"integer\"\nmin = 0\nmax = 9.5\n"),
        column("more digits than decimals",
               "kind = \"real\"\nmin = 0.25\nmax = 1\ndecimals = 1\nbins = 2\n"),
        column("no ranges", "kind = \"real\"\nmin = 0\nmax = 1\n"),
        column("too many values for a code each", "kind = \"integer\"\nmin = 0\nmax = 9999999\n"),
        column("edges out of order", "kind = \"integer\"\nmin = 0\nmax = 9\nedges = [5, 3]\n"),
        column("an edge beyond the bounds", "kind = \"integer\"\nmin = 0\nmax = 9\nedges = [12]\n"),
        column("more ranges than values", "kind = \"integer\"\nmin = 0\nmax = 9\nbins = 20\n"),
        column("both edges and bins",
               "kind = \"integer\"\nmin = 0\nmax = 9\nbins = 2\nedges = [5]\n"),
        column("a special value inside the range",
               "kind = \"integer\"\nmin = 0\nmax = 9\nspecial = [\"5\"]\n"),
        column("null and special the same",
               "kind = \"integer\"\nmin = 0\nmax = 9\nspecial = [\"N\"]\nnull = [\"N\"]\n"),
        column("a date against its pattern",
               "kind = \"date\"\nmin = \"1.1.2000\"\nmax = \"2020-01-01\"\nbins = \"year\"\n"),
        column("a pattern that can't be used",
               "kind = \"date\"\npattern = \"%y-%m\"\nmin = \"00-01\"\nmax = \"20-01\"\n"),
        column("ranges finer than the pattern",
               "kind = \"date\"\npattern = \"%Y\"\nmin = \"2000\"\nmax = \"2020\"\nbins = "
               "\"month\"\n"),
        column("three texts for a boolean",
               "kind = \"boolean\"\nvalues = [\"0\", \"1\", \"2\"]\n")}},
      {"Rules",
       {rule("a column that isn't there", "ago < 15", "sex = F"),
        rule("a value that isn't there", "age < 15", "sex = X"),
        rule("an order that isn't there", "sex < M", "age = 3"),
        rule("no comparison", "age", "sex = F"),
        rule("a word instead of a number", "age < young", "sex = F"),
        rule("a quote left open", "age < 15", "sex = 'F"),
        rule("nothing that fulfils it", "sex = F", "age > 200")}},
      {"Files",
       {public_file("a value that doesn't fit", "age,sex\n30,F\n31,X\n"),
        public_file("not a number", "age,sex\nthirty,F\n"),
        public_file("a row too short", "age,sex\n30,F\n31\n"),
        public_file("a column missing", "age,gender\n30,F\n"),
        public_file("a column twice", "age,sex,age\n30,F,30\n"),
        public_file("a quote left open", "age,sex\n30,\"F\n31,M\n"),
        public_file("an empty file", ""),
        public_file("not a text file", std::string("\x7f"
                                                   "ELF\x02\x01\x01\0\0\n",
                                                   10)),
        {"a schema's encoding that can't hold its values",
         with("schema.toml",
              "[csv]\nencoding = \"latin-1\"\n[[column]]\nname = \"city\"\nvalues = "
              "[\"Łódź\"]\n"),
         synth()},
        {"an unknown encoding",
         with("schema.toml", "[csv]\nencoding = \"ebcdic\"\n" + kSchema.substr(11)), synth()},
        {"an unknown delimiter", with("schema.toml", kSchema), synth({"--delimiter", "::"})},
        {"an unknown kind of record", with("schema.toml", kSchema), synth({"--records", "rows"})},
        {"a pattern that matches nothing", with("schema.toml", kSchema), parquet("part-*.parquet")},
        {"Parquet, and a TANDEM_DUCKDB that names no library",
         with("people.parquet", "PAR1 looks like a whole file PAR1"), parquet("people.parquet")}}},
      {"A release",
       {{"no schema and no public data",
         with("people.csv", "age,sex\n1,F\n"),
         {"synth", "--private", "people.csv", "--epsilon", "1"}},
        {"no budget",
         with("people.csv", "age,sex\n1,F\n"),
         {"synth", "--private", "people.csv", "--schema", "schema.toml"}},
        {"a column missing in the private file", with("people.csv", "age\n1\n"), synth()},
        {"a private file that isn't there",
         with("schema.toml", kSchema),
         {"synth", "--private", "nobody.csv", "--schema", "schema.toml", "--workload", "all-1way",
          "--epsilon", "1"}},
        {"an unknown mechanism", with("schema.toml", kSchema), synth({"--mechanism", "magic"})},
        {"an unknown parameter", with("schema.toml", kSchema), synth({"--param", "speed=9"})},
        {"a workload of columns that aren't there",
         with("w.json", R"({"marginals": [["ago"]]})"),
         {"synth", "--private", "people.csv", "--schema", "schema.toml", "--workload", "w.json",
          "--epsilon", "1"}},
        {"a ledger that isn't there", with("schema.toml", kSchema),
         synth({"--ledger", "none.ledger"})}}}};
}

std::string shown_call(const std::vector<std::string>& call) {
  std::string out = "tandem";
  for (const auto& word : call) {
    const bool plain = word.find_first_of(" ;:'\"") == std::string::npos;
    out += plain ? " " + word : " '" + word + "'";
  }
  return out;
}

std::string indented(const std::string& text) {
  std::string out;
  bool line_start = true;
  for (const char c : text) {
    if (line_start) out += "    ";
    out += c;
    line_start = c == '\n';
  }
  return out;
}

std::string page() {
  const test::Variable library("TANDEM_DUCKDB", "/opt/nothing/libduckdb.so");
  std::string out =
      "# What tandem says when something is wrong\n\n"
      "An error is one sentence on standard error: what is wrong, where, and what to do. Exit code "
      "2:\n"
      "the call, a schema or a public file is wrong; 1: the run failed; 3: the ledger refuses. "
      "Nothing\n"
      "is written then, and nothing is spent. Messages never quote a private row.\n\n"
      "This page is made by the tests from the command's own answers.\n";
  for (const auto& [title, cases] : sections()) {
    out += fmt::format("\n## {}\n", title);
    std::string last_call;
    for (const auto& [situation, files, call, shown] : cases) {
      test::TempDir dir;
      for (const auto& [name, content] : files) dir.write(name, content);
      std::vector<std::string> arguments = {"/usr/bin/env", "-C", dir.path().string(),
                                            TANDEM_COMMAND};
      arguments.insert(arguments.end(), call.begin(), call.end());
      const auto result = test::run_command(arguments);
      EXPECT_EQ(result.exit_code, 2) << situation << ": " << result.out << result.err;
      EXPECT_EQ(std::ranges::count(result.err, '\n'), 1) << situation << ": " << result.err;
      EXPECT_EQ(result.out, "") << situation;
      EXPECT_TRUE(result.err.ends_with(".\n") || result.err.ends_with("?\n")) << result.err;
      EXPECT_EQ(result.err.find(dir.path().string()), std::string::npos) << result.err;
      out += fmt::format("\n**{}**\n\n", situation);
      if (shown_call(call) != last_call) out += fmt::format("    $ {}\n", shown_call(call));
      last_call = shown_call(call);
      out += indented(shown) + indented(result.err);
    }
  }
  return out;
}

TEST(ErrorsPage, IsWhatTheCommandSays) {
  const std::string path = std::string(TANDEM_SOURCE_DIR) + "/docs/errors.md";
  const std::string fresh = page();
  if (std::getenv("TANDEM_UPDATE_DOCS") != nullptr) {
    std::ofstream(path, std::ios::binary) << fresh;
    return;
  }
  EXPECT_EQ(test::read_file(path), fresh)
      << "docs/errors.md is stale; set TANDEM_UPDATE_DOCS=1 and run this test once.";
}

}  // namespace
}  // namespace tandem
