// SPDX-License-Identifier: Apache-2.0
#include "tandem/data/column_schema.h"

#include <fmt/core.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "support/codecs.h"
#include "support/errors.h"
#include "tandem/base/error.h"

namespace tandem {
namespace {

using test::broken_by_code;
using test::broken_by_text;
using test::decoded;
using test::error_of;

// A column "x" with these TOML lines.
ColumnSchema column(const std::string& lines) {
  return read_column(Document::parse_toml("name = 'x'\n" + lines, "s.toml"));
}

struct Expected {
  const char* text;
  Code code;
  Fit fit = Fit::Exact;
};

void expect_codes(const std::string& lines, Code size, const std::vector<Expected>& expected) {
  const auto x = column(lines);
  EXPECT_EQ(x.codec->size(), size) << lines;
  for (const auto& [text, code, fit] : expected) {
    EXPECT_EQ(x.codec->encode(text), (Encoded{code, fit})) << lines << '\n' << text;
  }
  for (const auto& text : test::odd_texts()) {
    EXPECT_EQ(broken_by_text(*x.codec, text), "") << lines;
  }
  for (Code code = 0; code < std::min<Code>(size, 300); ++code) {
    EXPECT_EQ(broken_by_code(*x.codec, code, code), "") << lines;
  }
}

TEST(ColumnSchema, ReadsEveryKind) {
  using enum Fit;
  expect_codes("values = ['a', 2]", 2, {{"a", 0}, {"2", 1}, {"b", 0, Unfit}});
  expect_codes("values = ['a', 'b']\nunknown = 'b'\nnull = true", 3,
               {{"", 2}, {"x", 1, Unfit}});  // the schema says what 'x' becomes
  expect_codes("values = ['a', 'b']\nnull = true", 3, {{"x", 2, Unfit}});
  expect_codes("values = ['a', 'b']\nother = 'z'\nnull = ['-', 9]", 4,
               {{"z", 2}, {"x", 2, Adapted}, {"-", 3}, {"9", 3}, {"", 3}});
  expect_codes("kind = 'ordinal'\nsize = 3\nnull = false", 3, {{"2", 2}, {"3", 2, Unfit}});
  expect_codes("kind = 'boolean'", 2, {{"TRUE", 1}, {"no", 0}, {"", 0, Unfit}});
  expect_codes("kind = 'boolean'\nvalues = [1, 2]\nspecial = 'N'\nnull = ''", 4,
               {{"1", 0}, {"2", 1}, {"N", 2}, {"", 3}, {"x", 3, Unfit}});
  expect_codes("kind = 'integer'\nmin = -2\nmax = 2", 5,
               {{"-2", 0}, {"2", 4}, {"3", 4, Adapted}, {"1.5", 3, Adapted}, {"x", 0, Unfit}});
  expect_codes("kind = 'integer'\nmin = 0\nmax = 500\nbins = 5\nspecial = ['N', 501]", 7,
               {{"0", 0}, {"99", 0}, {"100", 1}, {"500", 4}, {"N", 5}, {"501", 6}});
  expect_codes("kind = 'integer'\nmin = -9000.0\nmax = 1341000\nedges = [0, 1000]\ndecimals = 1", 3,
               {{"-9000.0", 0}, {"0.0", 1}, {"999.0", 1}, {"1000.0", 2}, {"999", 1}});
  expect_codes("kind = 'real'\nmin = 0\nmax = 120\nedges = [2, 5.5]\nnull = ''", 4,
               {{"1.99", 0}, {"2", 1}, {"5.5", 2}, {"120", 2}, {"120.1", 2, Adapted}, {"", 3}});
  expect_codes("kind = 'real'\nmin = 0.1\nmax = 0.3\nbins = 3", 3,
               {{"0.1", 0}, {"0.2", 1}, {"0.3", 2}, {"0.30000000000000004", 2, Adapted}});
  expect_codes("kind = 'real'\nmin = -0.999999999999999\nmax = 0.999999999999999\nbins = 4", 4,
               {{"0", 2}, {"-0.999999999999999", 0}, {"1", 3, Adapted}});
  expect_codes("kind = 'integer'\nmin = -999999999999999\nmax = 999999999999999\nbins = 3", 3,
               {{"0", 1}, {"-1e15", 0, Adapted}, {"999999999999999", 2}});
  expect_codes(
      "kind = 'date'\nmin = '1968-02-29'\nmax = '1968-03-02'", 3,
      {{"1968-02-29", 0}, {"1968-03-01", 1}, {"2000-01-01", 2, Adapted}, {"1968-02-30", 0, Unfit}});
  expect_codes("kind = 'date'\nmin = '0000-01-01'\nmax = '9999-12-31'\nbins = 'decade'", 1000,
               {{"0000-02-29", 0}, {"1969-12-31", 196}, {"9999-12-31", 999}});
  expect_codes("kind = 'date'\nmin = '1969-02-10'\nmax = '1970-05-01'\nbins = 'quarter'", 6,
               {{"1969-03-31", 0}, {"1969-04-01", 1}, {"1970-05-01", 5}});
  expect_codes(
      "kind = 'date'\npattern = '%d.%m.%Y'\nmin = '01.01.1920'\nmax = '31.12.2020'\n"
      "edges = ['01.01.1980', '01.01.2000']\nnull = ''",
      4, {{"31.12.1979", 0}, {"1.1.1980", 1}, {"01.01.2000", 2}, {"", 3}});
  expect_codes("kind = 'date'\npattern = '%Y'\nmin = '1900'\nmax = '1999'\nbins = 7", 7, {});
}

TEST(ColumnSchema, EncodesAsTheTablesOfItsPageSay) {
  using enum Fit;
  const std::string percent = "kind = 'integer'\nmin = 0\nmax = 500\nbins = 5\n";
  expect_codes(percent, 5,
               {{"99", 0},
                {" 100 ", 1},
                {"99.5", 0, Adapted},
                {"-3", 0, Adapted},
                {"501", 4, Adapted},
                {"1e999", 4, Adapted},
                {"N", 0, Unfit},
                {"", 0, Unfit},
                {"x", 0, Unfit}});
  expect_codes(percent + "special = ['N', 501]\nnull = ''", 8,
               {{"99", 0},
                {" 100 ", 1},
                {"99.5", 0, Adapted},
                {"-3", 0, Adapted},
                {"501", 6},
                {"1e999", 4, Adapted},
                {"N", 5},
                {"", 7},
                {"x", 7, Unfit}});
}

TEST(ColumnSchema, WritesValuesInTheColumnsOwnFormat) {
  const auto text = [](const std::string& lines, Code code) {
    return decoded(*column(lines).codec, code, 7);
  };
  EXPECT_EQ(text("kind = 'integer'\nmin = 5\nmax = 5", 0), "5");
  EXPECT_EQ(text("kind = 'integer'\nmin = 5\nmax = 5\ndecimals = 1", 0), "5.0");
  EXPECT_EQ(text("kind = 'real'\nmin = 5\nmax = 5\nbins = 1\ndecimals = 3", 0), "5.000");
  EXPECT_EQ(text("kind = 'real'\nmin = 2.5\nmax = 2.5\nbins = 1", 0), "2.5");
  EXPECT_EQ(text("kind = 'date'\npattern = '%d/%m/%Y'\nmin = '1/2/2020'\nmax = '1/2/2020'", 0),
            "01/02/2020");
  for (std::uint64_t seed = 0; seed < 40; ++seed) {
    const auto drawn = [&](const std::string& lines) {
      return decoded(*column("kind = 'real'\nmin = 0\nmax = 10\nbins = 1\n" + lines).codec, 0,
                     seed);
    };
    EXPECT_EQ(drawn("step = 2.5").find_first_not_of("0123456789."), std::string::npos);
    const auto halves = drawn("step = 0.5");
    EXPECT_TRUE(halves.ends_with(".0") || halves.ends_with(".5")) << halves;
    const auto rounded = drawn("step = 5");
    EXPECT_TRUE(rounded == "0" || rounded == "5" || rounded == "10") << rounded;
  }
}

TEST(ColumnSchema, KeepsWhatElseIsSaid) {
  const auto x = column(
      "description = 'in years'\nkind = 'integer'\nmin = 0\nmax = 9\n"
      "inside = 'public'");
  EXPECT_EQ(x.name, "x");
  EXPECT_EQ(x.description, "in years");
  EXPECT_TRUE(x.inside_as_public);
  EXPECT_FALSE(column("kind = 'integer'\nmin = 0\nmax = 9\ninside = 'uniform'").inside_as_public);
}

TEST(ColumnSchema, SaysWhatIsWrong) {
  const std::string integer = "kind = 'integer'\n";
  const std::string to9 = "kind = 'integer'\nmin = 0\nmax = 9\n";
  const std::string real = "kind = 'real'\nmin = 0\nmax = 9\n";
  const std::string date = "kind = 'date'\nmin = '2000-01-01'\nmax = '2009-12-31'\n";
  const struct {
    std::string lines;
    std::string message;
  } cases[] = {
      {"kind = 'number'",
       ": kind is 'number'; choose 'categorical', 'ordinal', 'boolean', 'integer', 'real' and "
       "'date'."},
      {"kind = 3", ": kind is a whole number; expected a string."},
      {"", " needs either 'values', the list of its values, or 'size', for codes 0 to size-1."},
      {"values = ['a', 'a']", ": values[2] repeats 'a'; keep one."},
      {"values = ['a', true]",
       ": values[2] is a boolean; write it as a string, the way it stands in the file."},
      {"values = ['a']\nunknown = 'a'\nother = 'b'",
       ": other and 'unknown' say the same thing; keep one."},
      {"values = ['a']\nmin = 3",
       ": min belongs to columns of kind 'integer', and this one is 'categorical'; mend one."},
      {"values = ['a', 'b']\nother = 'b'",
       " names 'b' beside its values, but that is one of them; name it once."},
      {"values = ['a', '']\nnull = ''",
       " names '' beside its values, but that is one of them; name it once."},
      {"values = ['a']\nspecial = ['N', 'N']", " names 'N' twice; keep one."},
      {"values = ['a']\nspecial = []", ": special is empty; list its texts, or leave it out."},
      {"values = ['a']\nnull = 1.5",
       ": null is a number; write it as a string, the way it stands in the file."},
      {"kind = 'boolean'\nvalues = ['a']",
       ": values holds two texts for a boolean: false first, then true."},
      {"kind = 'boolean'\nspecial = 'yes'",
       " names 'yes' beside its values, but that is one of them; name it once."},
      {integer, " has no 'min'; add it."},
      {integer + "min = 0", " has no 'max'; add it."},
      {integer + "min = '0'\nmax = 9", ": min is a string; expected a number."},
      {integer + "min = 0.5\nmax = 9",
       ": min is not a whole number; make it one, or the column's kind 'real'."},
      {integer + "min = 9\nmax = 0", ": max is below 'min'; swap them."},
      {integer + "min = 0\nmax = 1e308",
       ": max has more digits than a number here may have (15, with its decimals)."},
      {integer + "min = 0\nmax = 9007199254740993",
       ": max has more digits than a number here may have (15, with its decimals)."},
      {integer + "min = 0\nmax = 5\ndecimals = 15",
       ": max has more digits than a number here may have (15, with its decimals)."},
      {integer + "min = 0\nmax = 2000000",
       " has more than 1,048,576 values; cut them into ranges with 'bins' or 'edges'."},
      {to9 + "bins = 11", " has no value in its range 1 of 11; use fewer or wider ones."},
      {to9 + "bins = 0", ": bins is 0; choose 1 to 1048576."},
      {to9 + "bins = 'month'", ": bins is a string; expected a whole number."},
      {to9 + "bins = 2\nedges = [5]", ": edges and 'bins' say the same thing; keep one."},
      {to9 + "edges = [5, 5]",
       ": edges[2] is not above 'min' and the edge before it; edges lie inside the bounds, in "
       "order."},
      {to9 + "edges = [0]",
       ": edges[1] is not above 'min' and the edge before it; edges lie inside the bounds, in "
       "order."},
      {to9 + "edges = [10]", ": edges[1] is above 'max'; edges lie inside the bounds, in order."},
      {to9 + "edges = [0.2, 0.8]", " has no value in its range 2 of 3; use fewer or wider ones."},
      {to9 + "decimals = 1\nedges = [0.2, 0.8]",
       " has no value in its range 2 of 3; use fewer or wider ones."},
      {to9 + "decimals = 16", ": decimals is 16; choose 0 to 15."},
      {to9 + "step = 0", ": step is not above 0; give the distance between two values."},
      {to9 + "step = 0.5",
       ": step has more digits after its point than the column; raise 'decimals' or round it."},
      {to9 + "step = 1.5\ndecimals = 1",
       ": step is not a whole number, and the column's values are."},
      {to9 + "inside = 'even'", ": inside is 'even'; choose 'uniform' or 'public'."},
      {to9 + "special = '5'",
       " names '5' beside its values, but that is one of them; name it once."},
      {real, " needs 'bins', a number of ranges of equal width, or 'edges', where to cut."},
      {"kind = 'real'\nmin = 0.25\nmax = 9\ndecimals = 1\nbins = 2",
       ": min has more digits after its point than the column; raise 'decimals' or round it."},
      {"kind = 'real'\nmin = 0\nmax = 0.00001\nbins = 2",
       ": max has more digits after its point than the column; raise 'decimals' or round it."},
      {"kind = 'real'\nmin = -1e308\nmax = 1e308\nbins = 2",
       ": min has more digits than a number here may have (15, with its decimals)."},
      {"kind = 'date'", " has no 'min'; add it."},
      {"kind = 'date'\nmin = 2000\nmax = 2001", ": min is a whole number; expected a string."},
      {"kind = 'date'\nmin = '2001-02-29'\nmax = '2002-01-01'",
       ": min is '2001-02-29', which does not follow the column's 'pattern'."},
      {date + "step = 2",
       ": step belongs to columns of kind 'integer', and this one is 'date'; mend one."},
      {date + "bins = 'week'",
       ": bins is 'week'; give a number of ranges, 'month', 'quarter', 'year' or 'decade'."},
      {date + "pattern = '%m-%d'",
       ": pattern can't be used: the pattern '%m-%d' needs %Y; write the larger parts of a date "
       "beside the finer ones."},
      {"kind = 'date'\nmin = '2000'\nmax = '2009'\npattern = '%Y'\nbins = 'month'",
       ": bins is finer than the column's 'pattern'; choose a longer one."},
  };
  for (const auto& [lines, message] : cases) {
    const std::string text = lines;
    EXPECT_EQ(error_of<UsageError>([&] { column(text); }), "s.toml" + message) << text;
  }
}

RC_GTEST_PROP(ColumnSchema, AnyBoundsAreReadOrRefused, ()) {
  const auto number = [] {
    return *rc::gen::element<std::string>("0", "-1", "1e308", "-1e308", "1e-308", "0.1", "-0.0",
                                          "9007199254740992", "-9007199254740993",
                                          "999999999999999", "1e15", "0.000000000000001",
                                          "2147483648", "100", "7.25");
  };
  std::string lines = "kind = " + *rc::gen::element<std::string>("'real'", "'integer'") +
                      "\nmin = " + number() + "\nmax = " + number();
  if (*rc::gen::arbitrary<bool>())
    lines += fmt::format("\ndecimals = {}", *rc::gen::inRange(0, 16));
  if (*rc::gen::arbitrary<bool>()) lines += "\nstep = " + number();
  lines += *rc::gen::arbitrary<bool>() ? fmt::format("\nbins = {}", *rc::gen::inRange(1, 50))
                                       : "\nedges = [" + number() + ", " + number() + "]";
  try {
    const auto x = column(lines);
    for (const auto& text : {"", "0", "0.1", "-1", "1e308", "1e999", "7.25", "99"}) {
      RC_ASSERT(broken_by_text(*x.codec, text).empty());
    }
    for (Code code = 0; code < x.codec->size(); ++code) {
      RC_ASSERT(broken_by_code(*x.codec, code, code).empty());
    }
  } catch (const UsageError& error) {
    RC_ASSERT(std::string(error.what()).starts_with("s.toml"));
  }
}

}  // namespace
}  // namespace tandem
