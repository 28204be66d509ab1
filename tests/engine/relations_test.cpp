// SPDX-License-Identifier: Apache-2.0
// Two dates and a length of stay, through every door that writes rows.
#include <fmt/core.h>
#include <gtest/gtest.h>

#include <string>

#include "support/errors.h"
#include "support/files.h"
#include "tandem/base/rng.h"
#include "tandem/data/calendar.h"
#include "tandem/data/relation_check.h"
#include "tandem/data/value_line.h"
#include "tandem/engine/draft/schema_draft.h"
#include "tandem/engine/fit/file_fit.h"
#include "tandem/engine/fit/findings.h"
#include "tandem/engine/refit.h"
#include "tandem/engine/synth.h"

namespace tandem {
namespace {

using test::contains;
using test::TempDir;

constexpr std::size_t kRows = 2000;

const std::string kStays =
    "[[column]]\nname = 'ward'\nvalues = ['a', 'b']\n"
    "[[column]]\nname = 'admitted'\nkind = 'date'\nmin = '2023-01-01'\nmax = '2023-12-31'\n"
    "bins = 'month'\n"
    "[[column]]\nname = 'discharged'\nkind = 'date'\nmin = '2023-01-01'\nmax = '2023-12-31'\n"
    "bins = 'month'\n"
    "[[column]]\nname = 'length'\nkind = 'integer'\nmin = 0\nmax = 364\nedges = [1, 3, 7, 14, "
    "30]\n";
const std::string kRelations =
    "[[relation]]\norder = 'admitted <= discharged'\n"
    "[[relation]]\nderive = 'length = discharged - admitted'\n";

std::string stays(std::size_t wrong = 0) {
  const auto line = date_line("%Y-%m-%d");
  const auto first = static_cast<std::int64_t>(*line->parse("2023-01-01"));
  Rng rng(7);
  std::string out = "ward,admitted,discharged,length\n";
  for (std::size_t r = 0; r < kRows; ++r) {
    const auto length = static_cast<std::int64_t>(rng.below(40));
    const auto from = first + static_cast<std::int64_t>(rng.below(320));
    out += fmt::format("{},{},{},{}\n", r % 3 == 0 ? 'a' : 'b', line->text(from),
                       line->text(from + length), r < wrong ? length + 1 : length);
  }
  return out;
}

class TwoDates : public testing::Test {
 protected:
  TwoDates() {
    run_.settings.private_source = dir_.write("private.csv", stays());
    run_.settings.schema = dir_.write("schema.toml", kStays + kRelations);
    run_.settings.epsilon = 1.0;
    run_.settings.seed = 3;
    run_.settings.mechanism = "mst";
    run_.settings.out = dir_ / "release";
  }

  void expect_kept(const std::string& folder) const {
    const Schema schema = Schema::read(run_.settings.schema);
    for (const auto& [text, judged, broken] : count_broken(schema, folder + "/synthetic.csv")) {
      EXPECT_GT(judged, 0U) << text;
      EXPECT_EQ(broken, 0U) << text;
    }
  }

  TempDir dir_;
  SynthRun run_;
};

TEST_F(TwoDates, AreInOrderWithTheirLengthInEveryRow) {
  for (const std::string mechanism : {"independent", "mst"}) {
    run_.settings.mechanism = mechanism;
    run_.settings.out = dir_ / mechanism;
    synthesize(run_);
    expect_kept(run_.settings.out);
  }
  RefitRequest again;
  again.release = dir_ / "mst";
  again.out = dir_ / "again";
  again.where = "ward = a";
  again.rows = 500;
  again.seed = 4;
  refit(again);
  expect_kept(dir_ / "again");
}

TEST_F(TwoDates, AreProposedByDrafts) {
  SchemaRequest request;
  request.public_sources = {dir_.write("public.csv", stays())};
  const auto draft = draft_schema(request);
  EXPECT_EQ(draft.relations, 1U);  // the order follows from it
  EXPECT_TRUE(contains(draft.toml, "# derive = \"discharged = admitted + length days\"\n"));
  request.public_sources = {dir_.write("wrong.csv", stays(1))};  // a row speaks against it
  EXPECT_FALSE(contains(draft_schema(request).toml, "# derive = "));
}

// Another date that is compared with the later one: both have to be measured.
TEST_F(TwoDates, StayMeasuredWhereAThirdFollowsTheLater) {
  const auto line = date_line("%Y-%m-%d");
  Rng rng(8);
  std::string out = "admitted,discharged,length,billed\n";
  for (std::size_t r = 0; r < kRows; ++r) {
    const auto length = static_cast<std::int64_t>(rng.below(40));
    const auto from = static_cast<std::int64_t>(*line->parse("2023-01-01")) +
                      static_cast<std::int64_t>(rng.below(320));
    const auto billed = from + length + static_cast<std::int64_t>(rng.below(60));
    out += fmt::format("{},{},{},{}\n", line->text(from), line->text(from + length), length,
                       line->text(billed));
  }
  SchemaRequest request;
  request.public_sources = {dir_.write("public.csv", out)};
  const auto draft = draft_schema(request);
  EXPECT_TRUE(contains(draft.toml, "# derive = \"length = discharged - admitted\"\n"));
  EXPECT_TRUE(contains(draft.toml, "# order = \"admitted <= discharged\"\n"));
  EXPECT_TRUE(contains(draft.toml, "# order = \"discharged <= billed\"\n"));
}

TEST_F(TwoDates, BrokenOnesAreFound) {
  const Schema schema = Schema::read(run_.settings.schema);
  const auto fit = fit_file(dir_.write("wrong.csv", stays(12)), schema, {});
  EXPECT_EQ(fit.rows_breaking, 0U);
  EXPECT_TRUE(fit.ignored_columns.empty());
  ASSERT_EQ(fit.relations.size(), 2U);
  EXPECT_EQ(fit.relations[0].broken, 0U);
  EXPECT_EQ(fit.relations[1].broken, 12U);
  const auto findings = findings_of(fit, schema, RowPolicy::Repair);
  ASSERT_FALSE(findings.empty());
  EXPECT_EQ(findings[0].kind, "broken-relation");
  EXPECT_EQ(findings[0].count, 12U);
}

}  // namespace
}  // namespace tandem
