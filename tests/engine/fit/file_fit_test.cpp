// SPDX-License-Identifier: Apache-2.0
#include "tandem/engine/fit/file_fit.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "support/files.h"
#include "tandem/base/error.h"
#include "tandem/engine/fit/findings.h"

namespace tandem {
namespace {

const std::string kCorpus = TANDEM_SOURCE_DIR "/tests/data/corpus/";

Schema schema_of(const TextFormat& format) {
  const auto document = Document::parse_toml(
      "[[column]]\nname='a'\nvalues=['x','y','?','Å','€']\nunknown='?'\n"
      "[[column]]\nname='b'\nkind='real'\nmin=0.0\nmax=9.9\nbins=99\nspecial='N'\n"
      "[[rule]]\nif='a = y'\nthen='b < 5'\n",
      "schema");
  return Schema::from_document(document).with_format(format);
}

FitOptions keeping_codes(RowPolicy policy, int threads = 1) {
  FitOptions options;
  options.reading.policy = policy;
  options.reading.threads = {threads};
  options.keep_codes = true;
  options.keep_points = true;
  return options;
}

// The table that a release or a reader of public data sees, or nothing where it refuses the file.
std::optional<Table> read(const std::string& path, const Schema& schema, RowPolicy policy) {
  CsvOptions options;
  options.policy = policy;
  try {
    return read_csv(path, schema, options).table;
  } catch (const UsageError&) {
    return std::nullopt;
  }
}

void expect_same_rows(const std::string& path, const Schema& schema) {
  for (const auto policy : {RowPolicy::Repair, RowPolicy::MustFit}) {
    const auto table = read(path, schema, policy);
    std::optional<FileFit> fit;
    try {
      fit = fit_file(path, schema, keeping_codes(policy));
    } catch (const UsageError&) {
      EXPECT_FALSE(table.has_value()) << path;
      continue;
    }
    EXPECT_TRUE(table.has_value() || policy == RowPolicy::MustFit) << path;
    if (table) {
      EXPECT_EQ(fit->raw.repaired, *table) << path;
      EXPECT_EQ(fit->rows, table->rows()) << path;
    }
    for (const auto& column : fit->columns) EXPECT_EQ(column.values(), fit->rows) << path;
  }
}

TEST(FileFit, ReadsEveryOddFileAsAReleaseDoes) {
  for (const auto& entry : std::filesystem::directory_iterator(kCorpus)) {
    for (const TextFormat& format :
         {TextFormat{}, TextFormat{.encoding = Encoding::Latin1},
          TextFormat{.encoding = Encoding::Utf16LittleEndian},
          TextFormat{.delimiter = ';', .decimal_mark = ','}, TextFormat{.decimal_mark = ','}}) {
      expect_same_rows(entry.path().string(), schema_of(format));
    }
  }
}

TEST(FileFit, TakesEveryOddFileLeniently) {
  for (const auto& entry : std::filesystem::directory_iterator(kCorpus)) {
    for (const auto policy : {RowPolicy::Repair, RowPolicy::MustFit}) {
      const Schema schema = schema_of({});
      auto options = keeping_codes(policy);
      options.lenient = true;
      const auto fit = fit_file(entry.path().string(), schema, options);
      for (const auto& finding : findings_of(fit, schema, policy)) {
        EXPECT_FALSE(finding.text.empty());
      }
      EXPECT_NO_THROW(to_document(findings_of(fit, schema, policy)).to_json());
    }
  }
}

RC_GTEST_PROP(FileFit, ReadsAnyTextAsAReleaseDoes, ()) {
  const auto text = *rc::gen::container<std::string>(
      rc::gen::elementOf(std::string("xy?1259.,,\n\n\"\" \r;N-\xc3\x85")));
  const test::TempDir dir(test::in_memory());
  const auto path = dir.write("t.csv", "b,note,a\n" + text);
  const Schema schema = schema_of({});
  const auto table = read(path, schema, RowPolicy::Repair);
  RC_ASSERT(table.has_value());
  const auto fit = fit_file(path, schema, keeping_codes(RowPolicy::Repair, 2));
  RC_ASSERT(fit.raw.repaired == *table);
}

TEST(FileFit, MarksValuesWithoutACode) {
  const test::TempDir dir;
  const auto path = dir.write("t.csv", "a,b\nx,1.5\nz,-1\ny,12\nx,one\nx\ny,N\n");
  const auto fit = fit_file(path, schema_of({}), keeping_codes(RowPolicy::Repair));
  using enum ValueFit;
  const auto same = [](const std::vector<ValueFit>& found, const std::vector<ValueFit>& wanted) {
    return found == wanted;
  };
  EXPECT_TRUE(same(fit.raw.outside[0], {Exact, Unfit, Exact, Exact, Exact, Exact}));
  EXPECT_TRUE(same(fit.raw.outside[1], {Exact, Below, Above, Unfit, Missing, Exact}));
  const auto& b = fit.columns[1];
  EXPECT_EQ(b.least, -1.0);
  EXPECT_EQ(b.greatest, 12.0);
  EXPECT_EQ(b.points.size(), 3U);  // 1.5, -1 and 12; 'one' and 'N' are no numbers
  // y with 12, which is read as 9.9, and with N, which is in no order.
  EXPECT_EQ(fit.broken_rules, std::vector<std::size_t>{2});
  EXPECT_EQ(fit.rows_breaking, 2U);
  EXPECT_EQ(fit.records.short_rows, 1U);
  EXPECT_EQ(fit.records.first_odd_line, 6U);
}

TEST(FileFit, AColumnWhoseValuesAllFitHasNoMarks) {
  const test::TempDir dir;
  const auto path = dir.write("t.csv", "a,b\nx,1\ny,2\n");
  const auto fit = fit_file(path, schema_of({}), keeping_codes(RowPolicy::Repair));
  for (const auto& marks : fit.raw.outside) EXPECT_TRUE(marks.empty());
}

TEST(FileFit, CountsAcrossBlocksAtAnyNumberOfThreads) {
  const test::TempDir dir;
  std::string text = "a,b,note\n";
  for (int i = 0; i < 200'000; ++i) {
    text += i % 50 == 0 ? "z," : "x,";
    text += std::to_string(i % 12) + (i % 100 == 0 ? ",\"a\nb\"\n" : ",\"fine\"\n");
  }
  const auto path = dir.write("t.csv", text);
  const auto one = fit_file(path, schema_of({}), keeping_codes(RowPolicy::Repair, 1));
  EXPECT_EQ(one.rows, 202'000U);
  EXPECT_EQ(one.records.quoted_line_feeds, 2'000U);
  EXPECT_EQ(one.records.line_feeds_by_column, (std::vector<std::size_t>{0, 0, 2'000}));
  EXPECT_EQ(one.columns[0].count(ValueFit::Unfit), 4'000U + 2'000U);  // z, and the second lines
  const auto two = fit_file(path, schema_of({}), keeping_codes(RowPolicy::Repair, 3));
  EXPECT_EQ(two.raw.repaired, one.raw.repaired);
  EXPECT_EQ(two.raw.outside, one.raw.outside);
  EXPECT_EQ(two.columns[1].points.quantiles({0.1, 0.5, 0.9}),
            one.columns[1].points.quantiles({0.1, 0.5, 0.9}));
}

}  // namespace
}  // namespace tandem
