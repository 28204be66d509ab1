// SPDX-License-Identifier: Apache-2.0
// One contract: typed cells have the codes of the texts that say the same, in a file as in memory.
#include "tandem/data/row_encoder.h"

#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "support/arrow_for_tests.h"
#include "support/errors.h"
#include "support/files.h"
#include "tandem/base/error.h"
#include "tandem/base/rng.h"
#include "tandem/base/text.h"
#include "tandem/data/cell_texts.h"
#include "tandem/data/csv.h"

namespace tandem {
namespace {

using test::ArrowColumn;
using test::error_of;

Schema schema_of(const std::string& toml) {
  return Schema::from_document(Document::parse_toml(toml, "the schema"));
}

CodedRows encoded(const Schema& schema, const std::vector<ArrowColumn>& columns,
                  const std::string& person = "", std::int64_t first = 0, std::int64_t last = -1) {
  RowEncoder encoder(schema, person);
  ArrowSchema types_made = test::schema_of(columns);
  ArrowArray rows_made = test::array_of(columns, nullptr, first, last);
  const OwnedSchema types(&types_made);
  const OwnedArray rows(&rows_made);
  return encoder.encode(*rows, *types);
}

std::vector<Code> codes_of(const Table& table, AttributeId id = 0) {
  std::vector<Code> out;
  for (std::size_t r = 0; r < table.rows(); ++r) out.push_back(table.column(id)[r]);
  return out;
}

// The rows of one column as a private file has them.
std::vector<Code> from_file(const Schema& schema, const std::vector<std::string>& texts) {
  const test::TempDir dir;
  std::string file = "x\n";
  for (const auto& text : texts) {
    file += '"';
    for (const char c : text) file += c == '"' ? std::string("\"\"") : std::string(1, c);
    file += "\"\n";
  }
  CsvOptions options;
  options.policy = RowPolicy::Repair;
  TextFormat format;
  format.records = Records::Quoted;
  options.format = format;
  return codes_of(read_csv(dir.write("t.csv", file), schema, options).table);
}

// Columns of every kind, with edges, special texts, nulls and labels that are numbers.
const std::vector<std::string> kColumns = {
    "kind = 'integer'\nmin = 0\nmax = 99",
    "kind = 'integer'\nmin = -50\nmax = 1000\nbins = 7\nspecial = ['-99', '5000']\nnull = true",
    "kind = 'integer'\nmin = 0\nmax = 100000\nedges = [1, 10, 99, 50000]\nother = 'others'",
    "kind = 'integer'\nmin = 0\nmax = 9000000000000\nbins = 1000",
    "kind = 'real'\nmin = 0\nmax = 1\ndecimals = 3\nbins = 10",
    "kind = 'real'\nmin = -10.5\nmax = 10.5\nedges = [-1.1, 0.1, 0.3, 2.2]\nnull = ['NA', '.']",
    "kind = 'real'\nmin = 0\nmax = 1000\ndecimals = 2\nbins = 13\nspecial = ['-1', '9999.99']",
    "kind = 'boolean'",
    "kind = 'boolean'\nvalues = ['no', 'yes']\nnull = true",
    "kind = 'boolean'\nvalues = ['1', '2']\nspecial = ['N']",
    "values = ['a', 'b', '', 'eine Zeile\\nund noch eine', 'ü', 'a rather long label, with a "
    "comma']",
    "values = ['0', '1', '2.5', '1e3', '007', '-3', '0.1', '24.00']\nunknown = '0'",
    "values = [1, 2, 3, 9007199254740993]\nnull = true",
    "values = ['False', 'True', 'x']\nother = 'x2'",
    "values = ['2020-01-01', '2020-01-02', '2020-01-01 12:30:00', '12:30:00']",
    "size = 12",
    "size = 300\nspecial = ['N']\nnull = ['']",
    "kind = 'ordinal'\nvalues = ['low', '5', 'high']",
    "kind = 'date'\nmin = '1990-01-01'\nmax = '2030-12-31'\nbins = 'month'",
    "kind = 'date'\nmin = '2020-01-01'\nmax = '2020-12-31'\nbins = 12\nspecial = ['9999-12-31']\n"
    "null = true",
    "kind = 'date'\npattern = '%d.%m.%Y %H:%M'\nmin = '01.01.1960 00:00'\nmax = '31.12.2020 "
    "23:59'\n"
    "bins = 40",
    "kind = 'date'\npattern = '%Y'\nmin = '1900'\nmax = '2050'\nbins = 'decade'",
    "kind = 'date'\npattern = '%Y%m'\nmin = '190001'\nmax = '205012'\nbins = 'quarter'"};

Schema one_column(const std::string& keys) { return schema_of("[[column]]\nname = 'x'\n" + keys); }

template <class T>
std::vector<T> some_of(Rng& rng, const std::vector<T>& values, std::size_t count) {
  std::vector<T> out;
  for (std::size_t i = 0; i < count; ++i) out.push_back(values[rng.below(values.size())]);
  return out;
}

std::vector<bool> mostly_there(Rng& rng, std::size_t count) {
  std::vector<bool> out;
  for (std::size_t i = 0; i < count; ++i) out.push_back(rng.below(10) != 0);
  return out;
}

// Values that are edges of some column, or near one, and others.
std::vector<double> odd_doubles() {
  std::vector<double> out = {0.0,
                             -0.0,
                             0.1,
                             0.3,
                             1.0,
                             2.2,
                             2.5,
                             -1.1,
                             7.0,
                             24.0,
                             1000.0,
                             9999.99,
                             -99.0,
                             5000.0,
                             1e16,
                             1e-5,
                             1e300,
                             -1e300,
                             9007199254740992.0,
                             5e-324,
                             std::numeric_limits<double>::infinity(),
                             -std::numeric_limits<double>::infinity(),
                             std::numeric_limits<double>::quiet_NaN(),
                             0.1F,
                             99.5,
                             1.0 / 3.0};
  for (const double edge : std::vector<double>(out)) {
    if (!std::isfinite(edge)) continue;
    out.push_back(std::nextafter(edge, 1e308));
    out.push_back(std::nextafter(edge, -1e308));
  }
  return out;
}

void expect_same(const Schema& schema, const ArrowColumn& column,
                 const std::vector<std::string>& texts, const std::string& what) {
  const auto typed = codes_of(encoded(schema, {column}).table);
  const auto from_texts = from_file(schema, texts);
  ASSERT_EQ(typed.size(), from_texts.size()) << what;
  for (std::size_t i = 0; i < typed.size(); ++i) {
    ASSERT_EQ(typed[i], from_texts[i]) << what << ", row " << i << ": " << texts[i];
  }
}

template <class Value, class Make>
void expect_contract(const std::string& what, const std::vector<Value>& values, Make&& make) {
  Rng rng(7);
  for (const auto& keys : kColumns) {
    const Schema schema = one_column(keys);
    const CellTexts texts(schema.columns()[0]);
    const auto some = some_of(rng, values, 400);
    const auto valid = mostly_there(rng, some.size());
    std::vector<std::string> written;
    for (std::size_t i = 0; i < some.size(); ++i) {
      written.push_back(valid[i] ? std::string(texts.of(some[i])) : texts.null());
    }
    expect_same(schema, make(some, valid), written, what + " in " + keys);
  }
}

TEST(RowEncoder, WholeNumbersHaveTheCodesOfTheirTexts) {
  std::vector<std::int64_t> values = {0,
                                      1,
                                      2,
                                      3,
                                      5,
                                      -3,
                                      -99,
                                      24,
                                      99,
                                      100,
                                      1000,
                                      1001,
                                      5000,
                                      49999,
                                      50000,
                                      9007199254740992,
                                      9007199254740993,
                                      std::numeric_limits<std::int64_t>::min(),
                                      std::numeric_limits<std::int64_t>::max()};
  Rng rng(1);
  for (int i = 0; i < 300; ++i) values.push_back(static_cast<std::int64_t>(rng.below(120)) - 10);
  for (int i = 0; i < 300; ++i) {
    values.push_back(static_cast<std::int64_t>(rng.below(9'100'000'000'000)));
  }
  expect_contract("int64", values, [](const auto& some, const auto& valid) {
    return test::numbers_column("x", "l", some, valid);
  });
  std::vector<std::int64_t> small;
  for (int value = -128; value < 128; ++value) small.push_back(value);
  expect_contract("int8", small, [](const auto& some, const auto& valid) {
    return test::numbers_column("x", "c", std::vector<std::int8_t>(some.begin(), some.end()),
                                valid);
  });
  expect_contract("int16", small, [](const auto& some, const auto& valid) {
    return test::numbers_column("x", "s", std::vector<std::int16_t>(some.begin(), some.end()),
                                valid);
  });
  expect_contract("int32", small, [](const auto& some, const auto& valid) {
    return test::numbers_column("x", "i", std::vector<std::int32_t>(some.begin(), some.end()),
                                valid);
  });
  std::vector<std::uint64_t> unsigned_values = {0, 1, 5000, 9007199254740993,
                                                std::numeric_limits<std::uint64_t>::max()};
  expect_contract("uint64", unsigned_values, [](const auto& some, const auto& valid) {
    return test::numbers_column("x", "L", some, valid);
  });
  const std::vector<std::uint64_t> bytes = {0, 1, 2, 3, 99, 200, 255};
  expect_contract("uint8", bytes, [](const auto& some, const auto& valid) {
    return test::numbers_column("x", "C", std::vector<std::uint8_t>(some.begin(), some.end()),
                                valid);
  });
}

TEST(RowEncoder, FloatsHaveTheCodesOfTheirShortestTexts) {
  auto values = odd_doubles();
  Rng rng(2);
  for (int i = 0; i < 2000; ++i) values.push_back(rng.uniform() * 1.2 - 0.1);
  for (int i = 0; i < 2000; ++i) values.push_back(std::round(rng.uniform() * 1e5) / 100.0);
  expect_contract("double", values, [](const auto& some, const auto& valid) {
    return test::numbers_column("x", "g", some, valid);
  });
  std::vector<double> floats;
  for (const double value : values) floats.push_back(static_cast<float>(value));
  expect_contract("float", floats, [](const auto& some, const auto& valid) {
    return test::numbers_column("x", "f", std::vector<float>(some.begin(), some.end()), valid);
  });
}

TEST(RowEncoder, HalfFloatsAreReadExactly) {
  const Schema schema = one_column("kind = 'real'\nmin = 0\nmax = 3\nedges = [0.5, 1, 1.5]");
  // 0, 0.5, 1, 1.5, 65504, infinity, not a number, the least above 0
  const auto column = test::numbers_column<std::uint16_t>(
      "x", "e", {0x0000, 0x3800, 0x3C00, 0x3E00, 0x7BFF, 0x7C00, 0x7E00, 0x0001});
  expect_same(schema, column,
              {"0.0", "0.5", "1.0", "1.5", "65504.0", "inf", "", "5.960464477539063e-08"}, "half");
}

TEST(RowEncoder, DecimalsHaveTheCodesOfTheirDigits) {
  const std::vector<std::string> texts = {"0.00",
                                          "1.00",
                                          "-99.00",
                                          "24.00",
                                          "0.10",
                                          "0.30",
                                          "2.50",
                                          "-1.10",
                                          "9999.99",
                                          "5000.00",
                                          "123456789012345.67",
                                          "-3.00",
                                          "7.00",
                                          "99.50",
                                          "90071992547409.93"};
  for (const int bits : {32, 64, 128, 256}) {
    for (const auto& keys : kColumns) {
      const Schema schema = one_column(keys);
      const CellTexts cell(schema.columns()[0]);
      std::string data;
      std::vector<std::string> written;
      for (const auto& text : texts) {
        std::string digits;
        for (const char c : text) {
          if (c >= '0' && c <= '9') digits += c;
        }
        const auto stripped = digits.find_first_not_of('0');
        digits = stripped == std::string::npos ? "" : digits.substr(stripped);
        if (bits == 32 && digits.size() > 9) continue;
        const bool negative = text[0] == '-';
        std::int64_t value = digits.empty() ? 0 : std::stoll(digits);
        if (negative) value = -value;
        std::string bytes = test::bytes_of<std::int64_t>({value});
        bytes.resize(static_cast<std::size_t>(bits / 8), negative ? '\xff' : '\0');
        data += bytes;
        written.push_back(cell.of(DecimalCell{negative, digits, 2}));
      }
      ArrowColumn column{"x",
                         bits == 128 ? "d:19,2" : "d:19,2," + std::to_string(bits),
                         {"", data},
                         static_cast<std::int64_t>(written.size())};
      expect_same(schema, column, written, std::to_string(bits) + " in " + keys);
    }
  }
}

TEST(RowEncoder, DecimalsOfEveryScaleHaveTheCodesOfTheirTexts) {
  const Schema schema = one_column("kind = 'real'\nmin = 0\nmax = 1000\ndecimals = 2\nbins = 500");
  const CellTexts texts(schema.columns()[0]);
  for (int scale = 0; scale <= 18; ++scale) {
    std::vector<std::int64_t> values;
    std::vector<std::string> written;
    for (const double size : {0.3, 1.0, 7.25, 99.0, 512.5, 1000.0, 1001.0}) {
      const double value = std::round(size * std::pow(10.0, scale));
      if (value > 9e18) continue;
      values.push_back(static_cast<std::int64_t>(value));
      written.push_back(
          texts.of(DecimalCell{.digits = size_in_digits(values.back()), .scale = scale}));
    }
    expect_same(schema, test::numbers_column("x", "d:18," + std::to_string(scale) + ",64", values),
                written, "scale " + std::to_string(scale));
  }
}

TEST(RowEncoder, SeesThatAnyColumnHasAnotherTypeThanBefore) {
  const Schema schema =
      schema_of("[[column]]\nname = 'x'\nsize = 9\n[[column]]\nname = 'y'\nsize = 9");
  const auto whole = [](const std::string& name) {
    return test::numbers_column<std::int64_t>(name, "l", {3, 4});
  };
  const auto text = [](const std::string& name) {
    return test::texts_column(name, "u", {"3", "4"});
  };
  RowEncoder encoder(schema, "");
  for (const auto& columns : std::vector<std::vector<ArrowColumn>>{{whole("x"), whole("y")},
                                                                   {text("x"), whole("y")},
                                                                   {text("x"), text("y")},
                                                                   {whole("y"), text("x")},
                                                                   {whole("x"), text("y")}}) {
    ArrowSchema types_made = test::schema_of(columns);
    ArrowArray rows_made = test::array_of(columns);
    const OwnedSchema types(&types_made);
    const OwnedArray rows(&rows_made);
    const Table table = encoder.encode(*rows, *types).table;
    for (AttributeId id = 0; id < 2; ++id) {
      EXPECT_EQ(codes_of(table, id), (std::vector<Code>{3, 4}));
    }
  }
}

TEST(RowEncoder, AViewOfWhatIsNotThereIsNowhere) {
  const Schema schema = one_column("values = ['a text that is longer', 'short', 'x']\nother = 'o'");
  const std::string text = "a text that is longer";
  const auto view = [](std::int32_t size, std::int32_t piece, std::int32_t begin) {
    return test::bytes_of<std::int32_t>({size, 0, piece, begin});
  };
  const std::vector<std::string> views = {
      view(21, 0, 0),  view(21, 1, 0),  view(-1, 0, 0), view(21, -1, 0), view(21, 2, 0),
      view(21, 0, -1), view(21, 0, 1),  view(21, 1, 1), view(22, 0, 0),  view(1 << 30, 0, 0),
      view(21, 0, 22), view(21, 1, -3), view(-22, 1, 0)};
  std::string all;
  for (const auto& one : views) all += one;
  const ArrowColumn column{"x",
                           "vu",
                           {"", all, text, text, test::bytes_of<std::int64_t>({21, 21})},
                           static_cast<std::int64_t>(views.size())};
  std::vector<Code> codes(views.size(), 3);  // other
  codes[0] = codes[1] = 0;
  EXPECT_EQ(codes_of(encoded(schema, {column}).table), codes);
}

TEST(RowEncoder, ARowIsThereWhereABatchHasNoBuffers) {
  const Schema schema = one_column("size = 9\nspecial = ['N']\nnull = ['']");
  const std::vector<ArrowColumn> columns = {test::numbers_column<std::int64_t>("x", "l", {3, 4})};
  ArrowSchema types_made = test::schema_of(columns);
  ArrowArray rows_made = test::array_of(columns);
  const unsigned char none = 0;  // says that each row is null, where it is asked
  const void* buffers[] = {&none};
  rows_made.null_count = -1;
  rows_made.n_buffers = 0;
  rows_made.buffers = buffers;
  const OwnedSchema types(&types_made);
  const OwnedArray rows(&rows_made);
  RowEncoder encoder(schema, "");
  EXPECT_EQ(codes_of(encoder.encode(*rows, *types).table), (std::vector<Code>{3, 4}));
}

TEST(RowEncoder, DecimalsOfManyDigitsAreNotRounded) {
  // 2^100 and its neighbours, of which a double knows one.
  const Schema schema = one_column(
      "values = ['1267650600228229401496703205376', '1267650600228229401496703205375', 'x']");
  const auto wide = [](std::uint64_t high, std::uint64_t low) {
    return test::bytes_of<std::uint64_t>({low, high});
  };
  ArrowColumn column{
      "x",
      "d:38,0",
      {"", wide(1ULL << 36, 0) + wide((1ULL << 36) - 1, ~0ULL) + wide(1ULL << 36, 1)},
      3};
  EXPECT_EQ(codes_of(encoded(schema, {column}).table), (std::vector<Code>{0, 1, 0}));
  expect_same(schema, column,
              {"1267650600228229401496703205376", "1267650600228229401496703205375",
               "1267650600228229401496703205377"},
              "38 digits");
}

TEST(RowEncoder, BooleansAreTheTwoValues) {
  Rng rng(3);
  for (const auto& keys : kColumns) {
    const Schema schema = one_column(keys);
    const CellTexts texts(schema.columns()[0]);
    std::vector<bool> values;
    std::vector<std::string> written;
    const auto valid = mostly_there(rng, 70);
    for (std::size_t i = 0; i < 70; ++i) {
      values.push_back(rng.below(2) == 1);
      written.push_back(valid[i] ? texts.of(static_cast<bool>(values[i])) : texts.null());
    }
    expect_same(schema, test::bools_column("x", values, valid), written, keys);
  }
}

TEST(RowEncoder, DatesAndTimesHaveTheCodesOfTheirTexts) {
  Rng rng(4);
  std::vector<std::int64_t> seconds = {0,
                                       -1,
                                       86399,
                                       86400,
                                       -86400,
                                       253402300799,
                                       253402300800,
                                       -62135596800,
                                       -62135596801,
                                       1577836800,
                                       1577881800};
  for (int i = 0; i < 500; ++i) {
    seconds.push_back(static_cast<std::int64_t>(rng.below(3'000'000'000)) - 1'000'000'000);
  }
  for (const auto& [letter, unit] :
       std::vector<std::pair<char, std::int64_t>>{{'s', 1}, {'m', 1000}, {'u', 1000000}}) {
    for (const auto& keys : kColumns) {
      const Schema schema = one_column(keys);
      const CellTexts texts(schema.columns()[0]);
      std::vector<std::int64_t> ticks;
      std::vector<std::string> written;
      for (const std::int64_t second : some_of(rng, seconds, 200)) {
        const std::int64_t rest =
            unit > 1 ? static_cast<std::int64_t>(rng.below(2)) * (unit / 2) : 0;
        ticks.push_back(second * unit + rest);
        written.push_back(texts.of(
            MomentCell{second, static_cast<std::int32_t>(rest * (1'000'000'000 / unit)), true}));
      }
      expect_same(schema, test::numbers_column("x", std::string("ts") + letter + ":", ticks),
                  written, std::string(1, letter) + " in " + keys);
    }
  }
  for (const auto& keys : kColumns) {
    const Schema schema = one_column(keys);
    const CellTexts texts(schema.columns()[0]);
    std::vector<std::int32_t> days;
    std::vector<std::int64_t> milliseconds;
    std::vector<std::string> written;
    for (int i = 0; i < 200; ++i) {
      days.push_back(static_cast<std::int32_t>(rng.below(60'000)) - 20'000);
      milliseconds.push_back(std::int64_t{days.back()} * 86'400'000);
      written.push_back(texts.of(MomentCell{std::int64_t{days.back()} * 86400, 0, false}));
    }
    expect_same(schema, test::numbers_column("x", "tdD", days), written, "date32 in " + keys);
    expect_same(schema, test::numbers_column("x", "tdm", milliseconds), written,
                "date64 in " + keys);
  }
}

TEST(RowEncoder, ATimeInAZoneIsWhatItsClocksShow) {
  const Schema schema = one_column(
      "kind = 'date'\npattern = '%Y-%m-%d %H:%M'\nmin = '2020-01-01 00:00'\nmax = '2049-12-31 "
      "23:59'\n"
      "bins = 100000");
  const std::vector<std::int64_t> seconds = {1577836800, 1593561600, 1585443599,        1585443600,
                                             1603587599, 1603587600, 2524608000 - 86400};
  const auto at = [&](const std::string& zone) {
    return codes_of(encoded(schema, {test::numbers_column("x", "tss:" + zone, seconds)}).table);
  };
  const auto wall = [&](const std::vector<std::string>& texts) { return from_file(schema, texts); };
  EXPECT_EQ(at("UTC"),
            wall({"2020-01-01 00:00", "2020-07-01 00:00", "2020-03-29 00:59", "2020-03-29 01:00",
                  "2020-10-25 00:59", "2020-10-25 01:00", "2049-12-31 00:00"}));
  EXPECT_EQ(at("+05:30"),
            wall({"2020-01-01 05:30", "2020-07-01 05:30", "2020-03-29 06:29", "2020-03-29 06:30",
                  "2020-10-25 06:29", "2020-10-25 06:30", "2049-12-31 05:30"}));
  if (std::filesystem::exists("/usr/share/zoneinfo/Europe/Zurich")) {
    EXPECT_EQ(at("Europe/Zurich"),
              wall({"2020-01-01 01:00", "2020-07-01 02:00", "2020-03-29 01:59", "2020-03-29 03:00",
                    "2020-10-25 02:59", "2020-10-25 02:00", "2049-12-31 01:00"}));
  }
  EXPECT_EQ(
      error_of<UsageError>([&] { at("../etc/passwd"); }),
      "The time zone '../etc/passwd' of the column 'x' is not known to this machine; install its "
      "time zone files (tzdata), or convert the column.");
  auto unknown = test::numbers_column("x", "tss:", seconds);
  unknown.format = "?";
  EXPECT_EQ(
      error_of<UsageError>([&] { encoded(schema, {unknown}); }),
      "The column 'x' of the rows has the Arrow format '?', which this version does not know; "
      "convert it to numbers, text or dates.");
}

TEST(RowEncoder, TextsAreTakenAsTheyAre) {
  const std::vector<std::string> texts = {"a",
                                          "b",
                                          "",
                                          "ü",
                                          "eine Zeile\nund noch eine",
                                          "a rather long label, with a comma",
                                          "12",
                                          " 7",
                                          "exactly 12 b",
                                          "thirteen byte",
                                          "fifteen letters",
                                          "sixteen letters.",
                                          "2020-01-01",
                                          "yes",
                                          std::string(59'999, 'x'),
                                          std::string(60'000, 'x') + "y",
                                          "a\"b",
                                          "N",
                                          "NA",
                                          "0.1",
                                          std::string("a\0b", 3),
                                          "\xff\xfe"};
  Rng rng(5);
  for (const std::string format : {"u", "U", "vu"}) {
    for (const auto& keys : kColumns) {
      const Schema schema = one_column(keys);
      const CellTexts cell(schema.columns()[0]);
      const auto some = some_of(rng, texts, 60);
      const auto valid = mostly_there(rng, some.size());
      std::vector<std::string> written;
      for (std::size_t i = 0; i < some.size(); ++i) {
        written.push_back(valid[i] ? std::string(CellTexts::of(std::string_view(some[i])))
                                   : cell.null());
      }
      expect_same(schema, test::texts_column("x", format, some, valid), written, format + keys);
    }
  }
}

TEST(RowEncoder, DictionariesAreTheirEntries) {
  const Schema schema = one_column("values = ['a', 'b', 'c']\nother = 'else'\nnull = true");
  const auto entries = std::make_shared<ArrowColumn>(
      test::texts_column("", "u", {"c", "unknown", "a", "b"}, {true, true, true, false}));
  const auto typed = [&](const auto& indices, const std::string& format) {
    auto column = test::numbers_column("x", format, indices, {true, true, true, true, false, true});
    column.dictionary = entries;
    return codes_of(encoded(schema, {column}).table);
  };
  const auto expected = from_file(schema, {"c", "a", "unknown", "", "", "c"});
  EXPECT_EQ(typed(std::vector<std::int8_t>{0, 2, 1, 3, 0, 0}, "c"), expected);
  EXPECT_EQ(typed(std::vector<std::uint8_t>{0, 2, 1, 3, 0, 0}, "C"), expected);
  EXPECT_EQ(typed(std::vector<std::int32_t>{0, 2, 1, 3, 0, 0}, "i"), expected);
  EXPECT_EQ(typed(std::vector<std::int64_t>{0, 2, 1, 3, 0, 0}, "l"), expected);
  EXPECT_EQ(typed(std::vector<std::uint64_t>{0, 2, 1, 3, 0, 0}, "L"), expected);
  // An index of nothing fits nowhere; it is no error.
  EXPECT_EQ(typed(std::vector<std::int8_t>{0, 2, 9, -1, 0, 0}, "c"),
            from_file(schema, {"c", "a", "\xef\xbf\xbd", "\xef\xbf\xbd", "", "c"}));
}

// A reader may take a column for bytes because of one cell: the others mean what they say.
TEST(RowEncoder, BytesAreText) {
  const Schema schema = one_column("values = ['a', 'b']\nother = 'else'\nnull = true");
  const std::pair<const char*, const char*> kinds[] = {{"z", "u"}, {"Z", "U"}, {"vz", "vu"}};
  for (const auto& [bytes, text] : kinds) {
    ArrowColumn column =
        test::texts_column("x", text, {"a", "b", "\xff\xfe", "b"}, {true, true, true, false});
    column.format = bytes;
    EXPECT_EQ(codes_of(encoded(schema, {column}).table), (std::vector<Code>{0, 1, 2, 3})) << bytes;
  }
}

TEST(RowEncoder, WhatNoSchemaHasIsRefusedByItsType) {
  const Schema schema = one_column("values = ['a', 'b']\nother = 'else'\nnull = true");
  const std::pair<const char*, const char*> kinds[] = {
      {"w:3", "bytes of a fixed size"}, {"tDs", "durations"}, {"tiM", "intervals"}};
  for (const auto& [format, word] : kinds) {
    ArrowColumn column = test::texts_column("x", "u", {"a", "b"}, {true, false});
    column.format = format;
    EXPECT_EQ(error_of<UsageError>([&] { encoded(schema, {column}); }),
              std::string("The column 'x' of the private data holds ") + word +
                  "; give one number, text or date in each cell.");
  }
  ArrowColumn none{"x", "n", {}, 3};
  none.nulls = 3;
  EXPECT_EQ(codes_of(encoded(schema, {none}).table), (std::vector<Code>{3, 3, 3}));
}

TEST(RowEncoder, SlicesAreTheirRows) {
  const Schema schema = schema_of(
      "[[column]]\nname = 'n'\nsize = 100\n[[column]]\nname = 't'\nvalues = ['a', 'b', 'c']\n"
      "[[column]]\nname = 'b'\nkind = 'boolean'\nnull = true");
  std::vector<std::int32_t> numbers;
  std::vector<std::string> texts;
  std::vector<bool> bits;
  std::vector<bool> valid;
  Rng rng(6);
  for (int i = 0; i < 100; ++i) {
    numbers.push_back(i);
    texts.push_back(std::string(1, static_cast<char>('a' + i % 3)));
    bits.push_back(rng.below(2) == 1);
    valid.push_back(rng.below(3) != 0);
  }
  std::vector<ArrowColumn> columns = {test::numbers_column("n", "i", numbers),
                                      test::texts_column("t", "vu", texts),
                                      test::bools_column("b", bits, valid)};
  const auto whole = encoded(schema, columns).table;
  for (auto& column : columns) column.offset = 13;
  const auto part = encoded(schema, columns, "", 5, 40).table;  // rows 18 to 53
  ASSERT_EQ(part.rows(), 35U);
  for (AttributeId id = 0; id < 3; ++id) {
    for (std::size_t r = 0; r < 35; ++r) EXPECT_EQ(part.column(id)[r], whole.column(id)[r + 18]);
  }
}

TEST(RowEncoder, ColumnsAreFoundByNameAndOthersLeftAlone) {
  const Schema schema =
      schema_of("[[column]]\nname = 'select'\nsize = 5\n[[column]]\nname = 'b'\nsize = 5");
  ArrowColumn nested{"deep", "+l", {"", ""}, 2};
  const auto b = test::numbers_column<std::int64_t>("b", "l", {3, 4});
  const auto a = test::numbers_column<std::int64_t>("select", "l", {1, 2});
  const auto rows = encoded(schema, {nested, b, a}).table;
  EXPECT_EQ(codes_of(rows, 0), (std::vector<Code>{1, 2}));
  EXPECT_EQ(codes_of(rows, 1), (std::vector<Code>{3, 4}));
  EXPECT_EQ(error_of<UsageError>([&] { encoded(schema, {b}); }),
            "The private data has no column 'select', which the schema names; add it, or take it "
            "out of the schema.");
  EXPECT_EQ(error_of<UsageError>([&] {
              encoded(schema, {a, b, b});
            }),
            "The private data has two columns 'b'; rename or drop one.");
  nested.name = "b";
  EXPECT_EQ(error_of<UsageError>([&] {
              encoded(schema, {a, nested});
            }),
            "The column 'b' of the private data holds lists; give one number, text or date in each "
            "cell.");
  EXPECT_EQ(error_of<UsageError>([&] {
              encoded(schema, {a, b}, "who");
            }),
            "The private data has no column 'who', which --person names; check its name.");
}

TEST(RowEncoder, BrokenArraysAreRefused) {
  const Schema schema = one_column("size = 5");
  auto column = test::numbers_column<std::int64_t>("x", "l", {1, 2, 3});
  column.buffers.pop_back();
  EXPECT_THROW(encoded(schema, {column}), UsageError);
  column = test::numbers_column<std::int64_t>("x", "l", {1, 2, 3});
  EXPECT_THROW(encoded(schema, {column}, "", 0, 4), UsageError);
  for (const std::string format : {"", "?", "d:", "d:3", "d:3,2,77", "tsx:", "t", "ts"}) {
    column.format = format;
    EXPECT_THROW(encoded(schema, {column}), UsageError) << format;
  }
}

TEST(RowEncoder, RulesMendRowsAsInFiles) {
  const Schema schema = schema_of(
      "[[column]]\nname = 'age'\nkind = 'integer'\nmin = 0\nmax = 99\n"
      "[[column]]\nname = 'marital'\nvalues = ['single', 'married']\n"
      "[[rule]]\nif = 'age < 15'\nthen = 'marital = single'\n");
  const auto rows =
      encoded(schema, {test::numbers_column<std::int64_t>("age", "l", {3, 30, 14}),
                       test::texts_column("marital", "u", {"married", "married", "single"})});
  EXPECT_EQ(codes_of(rows.table, 1), (std::vector<Code>{0, 1, 0}));
}

TEST(RowEncoder, PeopleAreWhomTheirTextsName) {
  const Schema schema = one_column("size = 5\nnull = ['NA']");
  const auto x = [](std::size_t n) {
    return test::numbers_column("x", "l", std::vector<std::int64_t>(n, 1));
  };
  PersonKeys keys;
  const auto named = [&](const ArrowColumn& column, std::size_t n) {
    return encoded(schema, {x(n), column}, "who").persons;
  };
  EXPECT_EQ(
      named(test::texts_column("who", "u", {"p", " p ", "", "q"}, {true, true, true, false}), 4),
      (std::vector<PersonKey>{keys.of("p"), keys.of("p"), {}, {}}));
  EXPECT_EQ(named(test::numbers_column<std::int64_t>("who", "l", {7, -1}), 2),
            (std::vector<PersonKey>{keys.of("7"), keys.of("-1")}));
  EXPECT_EQ(named(test::numbers_column<double>("who", "g", {7.0, std::nan("")}), 2),
            (std::vector<PersonKey>{keys.of("7.0"), {}}));
  auto index = test::numbers_column<std::int8_t>("who", "c", {1, 0, 1});
  index.dictionary = std::make_shared<ArrowColumn>(test::texts_column("", "U", {"p", "q"}));
  EXPECT_EQ(named(index, 3), (std::vector<PersonKey>{keys.of("q"), keys.of("p"), keys.of("q")}));
  EXPECT_NE(keys.of("p"), keys.of("q"));
  EXPECT_TRUE(keys.of(" \t").nobody());
}

TEST(RowEncoder, ResultsDoNotDependOnThreadsOrBatches) {
  const Schema schema = one_column("kind = 'real'\nmin = 0\nmax = 1\ndecimals = 4\nbins = 50");
  Rng rng(8);
  std::vector<double> values;
  for (int i = 0; i < 50'000; ++i) values.push_back(rng.uniform());
  const std::vector<ArrowColumn> columns = {test::numbers_column("x", "g", values)};
  const auto whole = encoded(schema, columns).table;
  RowEncoder encoder(schema, "");
  ArrowSchema types_made = test::schema_of(columns);
  const OwnedSchema types(&types_made);
  std::size_t at = 0;
  for (const std::int64_t end : {1, 7, 8000, 30'000, 50'000}) {
    ArrowArray made = test::array_of(columns, nullptr, static_cast<std::int64_t>(at), end);
    const OwnedArray batch(&made);
    const auto part = encoder.encode(*batch, *types, {.count = 3}).table;
    for (std::size_t r = 0; r < part.rows(); ++r, ++at) {
      ASSERT_EQ(part.column(0)[r], whole.column(0)[at]);
    }
  }
  EXPECT_EQ(at, whole.rows());
}

// ---- Texts of cells -----------------------------------------------------------------------------

TEST(CellTexts, FloatsAreWrittenAsPythonDoes) {
  EXPECT_EQ(shortest_text(0.1), "0.1");
  EXPECT_EQ(shortest_text(24.0), "24.0");
  EXPECT_EQ(shortest_text(-0.0), "-0.0");
  EXPECT_EQ(shortest_text(1e16), "1e+16");
  EXPECT_EQ(shortest_text(1e15), "1000000000000000.0");
  EXPECT_EQ(shortest_text(123456789012345.6), "123456789012345.6");
  EXPECT_EQ(shortest_text(0.0001), "0.0001");
  EXPECT_EQ(shortest_text(0.00001234), "1.234e-05");
  EXPECT_EQ(shortest_text(5e-324), "5e-324");
  EXPECT_EQ(shortest_text(1.7976931348623157e308), "1.7976931348623157e+308");
}

TEST(CellTexts, NumbersAreLabelsByTheirValue) {
  const Schema schema = one_column("values = ['24', '0.10', '1e3', '2.0']");
  const CellTexts texts(schema.columns()[0]);
  EXPECT_EQ(texts.of(std::int64_t{24}), "24");
  EXPECT_EQ(texts.of(24.0), "24");
  EXPECT_EQ(texts.of(DecimalCell{false, "2400", 2}), "24");
  EXPECT_EQ(texts.of(0.1), "0.10");
  EXPECT_EQ(texts.of(DecimalCell{false, "1", 1}), "0.10");
  EXPECT_EQ(texts.of(std::int64_t{1000}), "1e3");
  EXPECT_EQ(texts.of(2.0), "2.0");
  EXPECT_EQ(texts.of(3.0), "3");  // no label: as a whole number
  EXPECT_EQ(texts.of(2.5), "2.5");
  EXPECT_EQ(texts.of(DecimalCell{true, "5", 3}), "-0.005");
  EXPECT_EQ(texts.of(DecimalCell{false, "5", -3}), "5000");
  EXPECT_EQ(CellTexts().of(7.0), "7.0");  // of no schema
}

TEST(CellTexts, TimesAreWrittenInFull) {
  const CellTexts texts;
  EXPECT_EQ(texts.of(MomentCell{0, 0, false}), "1970-01-01");
  EXPECT_EQ(texts.of(MomentCell{0, 0, true}), "1970-01-01");
  EXPECT_EQ(texts.of(MomentCell{-1, 500'000'000, true}), "1969-12-31 23:59:59.500000");
  EXPECT_EQ(texts.of(MomentCell{86400, 1'001, true}), "1970-01-02 00:00:00.000001001");
  EXPECT_EQ(texts.of(MomentCell{253402300800, 0, true}), std::string(kNowhere));
  EXPECT_EQ(texts.of_time(45'000'000'000), "12:30:00");
  EXPECT_EQ(texts.of_time(1), "00:00:00.000001");
}

}  // namespace
}  // namespace tandem
