// SPDX-License-Identifier: Apache-2.0
#include "tandem/engine/memory.h"

#include <gtest/gtest.h>

#include <string>

#include "support/errors.h"
#include "support/files.h"
#include "tandem/base/error.h"
#include "tandem/engine/preparation.h"
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
  std::string refusal() const {
    return error_of<UsageError>(
        [&] { prepare_run(settings_, {.find = find_mechanism, .threads = {}}); });
  }

  TempDir dir_;
  std::string plain_;
  std::string gzip_;
  SynthSettings settings_;
};

TEST_F(Sizes, AGzipFileSaysHowMuchItHolds) {
  EXPECT_EQ(most_rows(gzip_, schema()), most_rows(plain_, schema()));
  EXPECT_GE(most_rows(plain_, schema()), kRows);
}

TEST_F(Sizes, RowsAreBoundedWhereTheSizeOfAFileSaysSo) {
  EXPECT_GE(rows_at_most(plain_, schema()).value(), kRows);
  EXPECT_GE(rows_at_most("pairs:" + plain_, schema()).value(), kRows);
  EXPECT_EQ(rows_at_most(gzip_, schema()), std::nullopt);
  EXPECT_EQ(rows_at_most(dir_ / "none.csv", schema()), std::nullopt);
}

TEST_F(Sizes, ParametersThatTakeMoreRowsAreRefusedBeforeAnythingIsSpent) {
  settings_.parameters = {"rounds=500", "rate=20"};
  for (const std::string neighbors : {"replace-one", "add-remove"}) {
    settings_.neighbors = neighbors;
    EXPECT_TRUE(contains(refusal(), "leave less than one draw a round"));
    EXPECT_TRUE(contains(refusal(), "10,003 rows; choose fewer"));
  }
  settings_.private_source = gzip_;
  EXPECT_NO_THROW(prepare_run(settings_, {.find = find_mechanism, .threads = {}}));
}

TEST_F(Sizes, ConjunctionsAreWeighedBeforeTheyAreDrawn) {
  settings_.workload = "conjunctions:2:50000000:1";
  settings_.memory_limit = "300MB";
  EXPECT_TRUE(contains(refusal(), "conjunctions:3:20000:1"));
}

TEST_F(Sizes, ColumnsOfPairsAreWeighed) {
  settings_.private_source = "pairs:" + plain_;
  settings_.schema = dir_.write("wide.toml", "[[columns]]\nprefix = 'i'\ncount = 5000\nsize = 2\n");
  EXPECT_GE(predicted_memory(settings_, schema()), 600.0 * 10'000);
}

}  // namespace
}  // namespace tandem
