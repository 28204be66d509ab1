// SPDX-License-Identifier: Apache-2.0
#include "tandem/engine/memory.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <string>

#include "support/errors.h"
#include "support/files.h"
#include "tandem/base/error.h"
#include "tandem/engine/preparation.h"
#include "tandem/engine/synth.h"
#include "tandem/mechanism/registry.h"

namespace tandem {
namespace {

using test::contains;
using test::error_of;
using test::TempDir;

constexpr std::size_t kRows = 5000;

class Sizes : public testing::Test {
 protected:
  Sizes() {
    std::string text = "i0,i1,i2\n";
    for (std::size_t row = 0; row < kRows; ++row) text += row % 3 == 0 ? "1,0,1\n" : "0,0,0\n";
    plain_ = dir_.write("rows.csv", text);
    gzip_ = dir_.write_gzip("rows.csv.gz", text);
    settings_.private_source = plain_;
    settings_.schema =
        dir_.write("schema.toml", "[[columns]]\nprefix = 'i'\ncount = 3\nsize = 2\n");
    settings_.mechanism = "dual-query";
    settings_.workload = "conjunctions:2:100:1";
    settings_.epsilon = 1.0;
    settings_.delta = 0.001;
  }
  Schema schema() const { return Schema::read(settings_.schema); }
  KnownTable table_of(const std::string& source, bool keeps_rows = false) const {
    SynthSettings settings = settings_;
    settings.private_source = source;
    return known_table(Door::file(source), settings,
                       {keeps_rows ? Neighbors::ReplaceOne : Neighbors::AddRemove});
  }
  void prepare_file() const {
    prepare_run(settings_, Door::file(settings_.private_source),
                {.find = find_mechanism, .threads = {}});
  }
  std::string refusal() const {
    return error_of<UsageError>([&] { prepare_file(); });
  }

  TempDir dir_;
  std::string plain_;
  std::string gzip_;
  SynthSettings settings_;
};

TEST_F(Sizes, AGzipFileSaysHowMuchItHolds) {
  EXPECT_EQ(most_rows(table_of(gzip_), schema()), most_rows(table_of(plain_), schema()));
  EXPECT_GE(most_rows(table_of(plain_), schema()), kRows);
}

TEST_F(Sizes, RowsAreBoundedWhereTheSizeOfAFileSaysSo) {
  EXPECT_GE(rows_at_most(table_of(plain_), schema()).value(), kRows);
  EXPECT_GE(rows_at_most(table_of("pairs:" + plain_), schema()).value(), kRows);
  EXPECT_EQ(rows_at_most(table_of(gzip_), schema()), std::nullopt);
  EXPECT_EQ(rows_at_most(table_of(dir_ / "none.csv"), schema()), std::nullopt);
}

// Where the number of rows is public, a longer cell must not change what is refused.
TEST_F(Sizes, TheLengthOfATextBoundsNothingWhereItsRowsAreCounted) {
  constexpr bool kKeepsRows = true;
  EXPECT_EQ(rows_at_most(table_of(plain_, kKeepsRows), schema()), std::nullopt);
}

TEST_F(Sizes, AHiddenTextHasNoSize) {
  const PrivacyUnit kept{Neighbors::ReplaceOne};
  const PrivacyUnit other{Neighbors::AddRemove};
  const Door hidden = Door::hidden_text(plain_, 7.0);
  EXPECT_FALSE(hidden.facts(kept).text);
  EXPECT_FALSE(hidden.facts(other).text);
  EXPECT_EQ(hidden.facts(kept).rows, 7.0);
  EXPECT_EQ(hidden.facts(other).rows, std::nullopt);
  EXPECT_FALSE(Door::hidden_text(plain_, std::nullopt).facts(kept).rows);
  const KnownTable known = known_table(hidden, settings_, other);
  EXPECT_EQ(most_rows(known, schema()), 0.0);
  EXPECT_EQ(rows_at_most(known, schema()), std::nullopt);
  EXPECT_EQ(expected_rows(known, settings_, schema(), {}), 0.0);
}

TEST_F(Sizes, ParametersThatTakeMoreRowsAreRefusedBeforeAnythingIsSpent) {
  settings_.parameters = {"rounds=500", "rate=20"};
  const std::string wanted = "leave less than one draw a round";
  settings_.neighbors = "add-remove";
  EXPECT_TRUE(contains(refusal(), wanted));
  EXPECT_TRUE(contains(refusal(), "10,003 rows; choose fewer"));
  // Where all neighbours have as many rows they are counted first.
  settings_.neighbors = "replace-one";
  EXPECT_NO_THROW(prepare_file());
  SynthRun run{.settings = settings_, .threads = {}};
  run.settings.out = dir_ / "out";
  const auto said = error_of<UsageError>([&] { synthesize(run); });
  EXPECT_TRUE(contains(said, wanted)) << said;
  EXPECT_TRUE(contains(said, "5,000 rows; choose fewer")) << said;
  EXPECT_FALSE(std::filesystem::exists(dir_ / "out.partial"));
  settings_.neighbors = "add-remove";
  settings_.private_source = gzip_;
  EXPECT_NO_THROW(prepare_file());
}

TEST_F(Sizes, ConjunctionsAreWeighedBeforeTheyAreDrawn) {
  settings_.workload = "conjunctions:2:50000000:1";
  settings_.memory_limit = "300MB";
  EXPECT_TRUE(contains(refusal(), "conjunctions:3:20000:1"));
}

TEST_F(Sizes, ColumnsOfPairsAreWeighed) {
  settings_.private_source = "pairs:" + plain_;
  settings_.schema = dir_.write("wide.toml", "[[columns]]\nprefix = 'i'\ncount = 5000\nsize = 2\n");
  EXPECT_GE(predicted_memory(table_of(settings_.private_source), settings_, schema()),
            600.0 * 10'000);
}

}  // namespace
}  // namespace tandem
