// SPDX-License-Identifier: Apache-2.0
// tandem refit as a user calls it: every mechanism's release, conditions, other models, trouble.

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "support/command.h"
#include "support/errors.h"
#include "support/files.h"
#include "tandem/base/digest.h"
#include "tandem/base/document.h"
#include "tandem/data/csv.h"
#include "tandem/engine/release/stored_release.h"
#include "tandem/mechanism/registry.h"
#include "tandem/privacy/ledger.h"

namespace tandem {
namespace {

namespace fs = std::filesystem;
using test::CommandResult;
using test::contains;
using test::read_file;
using test::StartedCommand;
using test::TempDir;

class RefitCommand : public testing::Test {
 protected:
  RefitCommand() {
    private_ = dir_.write("private.csv", rows(400, 1));
    public_ = dir_.write("public.csv", rows(150, 2));
    schema_ = dir_.write("schema.toml",
                         "[[column]]\nname = 'sex'\nvalues = ['F', 'M']\n"
                         "[[column]]\nname = 'age'\nkind = 'integer'\nmin = 0\nmax = 99\n"
                         "edges = [15, 30, 60]\n"
                         "[[column]]\nname = 'marital'\nvalues = ['single', 'married']\n"
                         "[[rule]]\nif = 'age < 15'\nthen = 'marital = single'\n");
  }

  static std::string rows(int count, std::uint64_t seed) {
    std::string out = "sex,age,marital\n";
    Rng rng(seed);
    for (int r = 0; r < count; ++r) {
      const auto age = rng.below(90);
      const bool married = age >= 30 || (age >= 15 && rng.below(4) == 0);
      out += (rng.below(3) == 0 ? "F," : "M,") + std::to_string(age) +
             (married && rng.below(5) != 0 ? ",married\n" : ",single\n");
    }
    return out;
  }

  static CommandResult tandem(std::vector<std::string> call,
                              const std::vector<std::string>& more = {}) {
    call.insert(call.begin(), TANDEM_COMMAND);
    call.insert(call.end(), more.begin(), more.end());
    return test::run_command(call);
  }

  CommandResult synth(const std::string& mechanism,
                      const std::vector<std::string>& more = {}) const {
    return tandem(
        {"synth", "--private", private_, "--public", public_, "--schema", schema_, "--epsilon", "5",
         "--mechanism", mechanism, "--out", from_, "--force", "--quiet"},
        more);
  }
  CommandResult refit(const std::vector<std::string>& more = {}) const {
    return tandem({"refit", from_, "--out", out_}, more);
  }

  static Document release_of(const std::string& folder) {
    return Document::read(folder + "/release.json");
  }
  // The rows of a whole release, each a line.
  std::vector<std::string> rows_of(const std::string& folder) const {
    std::vector<std::string> out;
    const std::string text = read_file(folder + "/synthetic.csv");
    for (std::size_t at = 0, end = 0; (end = text.find('\n', at)) != std::string::npos;
         at = end + 1) {
      out.push_back(text.substr(at, end - at));
    }
    EXPECT_EQ(out.front(), "sex,age,marital");
    out.erase(out.begin());
    return out;
  }
  static int age_of(const std::string& row) { return std::stoi(row.substr(2)); }

  static void expect_error(const CommandResult& result, int exit_code,
                           const std::vector<std::string>& named) {
    EXPECT_EQ(result.exit_code, exit_code) << result.err;
    EXPECT_EQ(result.out, "");
    EXPECT_TRUE(result.err.starts_with("tandem: ")) << result.err;
    EXPECT_EQ(std::ranges::count(result.err, '\n'), 1) << result.err;
    EXPECT_FALSE(contains(result.err, "please report")) << result.err;
    for (const auto& name : named) EXPECT_TRUE(contains(result.err, name));
  }

  TempDir dir_{test::in_memory()};
  std::string private_;
  std::string public_;
  std::string schema_;
  std::string from_ = dir_ / "release";
  std::string out_ = dir_ / "again";
};

TEST_F(RefitCommand, MakesRowsFromEveryMechanismsRelease) {
  for (const auto& mechanism : all_mechanisms()) {
    if (mechanism.answers) continue;
    SCOPED_TRACE(mechanism.name);
    std::vector<std::string> more;
    if (mechanism.name == "grouped") more = {"--param", "fine=sex"};
    if (mechanism.name.starts_with("gem")) more = {"--param", "rows=100", "--param", "rounds=5"};
    const auto made = synth(mechanism.name, more);
    ASSERT_EQ(made.exit_code, 0) << made.err;
    ASSERT_TRUE(fs::exists(from_ + "/model.bin"));
    const auto result = refit({"--rows", "700", "--where", "sex = F and age >= 30", "--force"});
    ASSERT_EQ(result.exit_code, 0) << result.err;
    const auto made_rows = rows_of(out_);
    EXPECT_EQ(made_rows.size(), 700U);
    for (const auto& row : made_rows) {
      EXPECT_TRUE(row.starts_with("F,")) << row;
      EXPECT_GE(age_of(row), 30);
    }
    const Document before = release_of(from_);
    const Document after = release_of(out_);
    for (const char* key : {"guarantee", "spent", "steps", "mechanism", "schema_sha256", "total"}) {
      EXPECT_EQ(after.at(key).to_json(), before.at(key).to_json()) << key;
    }
    EXPECT_EQ(after.at("refit_of").as_string(), sha256_hex(read_file(from_ + "/release.json")));
    EXPECT_EQ(after.at("model_sha256").as_string(), sha256_hex(read_file(out_ + "/model.bin")));
    EXPECT_EQ(read_file(out_ + "/measurements.json"), read_file(from_ + "/measurements.json"));
    EXPECT_EQ(read_file(out_ + "/schema.toml"), read_file(schema_));
    const double share = after.at("refit").at("share").as_number();
    EXPECT_GT(share, 0.1);
    EXPECT_LT(share, 0.4);  // about a third of two thirds
    EXPECT_FALSE(fs::exists(out_ + ".partial"));
  }
}

TEST_F(RefitCommand, HasTheRowsOfTheReleaseUnlessToldOtherwise) {
  ASSERT_EQ(synth("independent").exit_code, 0);
  const auto result = refit();
  ASSERT_EQ(result.exit_code, 0) << result.err;
  EXPECT_EQ(result.err, "");
  EXPECT_EQ(rows_of(out_).size(), 400U);
  EXPECT_TRUE(contains(result.out, "guarantee    unchanged: epsilon 5, delta 1e-09, replace-one"));
  EXPECT_TRUE(contains(result.out, "spent        nothing more"));
}

TEST_F(RefitCommand, PrintsStableJson) {
  ASSERT_EQ(synth("aim").exit_code, 0);
  const auto result = refit({"--json", "--where", "sex = M", "--max-model-mb", "1"});
  ASSERT_EQ(result.exit_code, 0) << result.err;
  const Document json = Document::parse_json(result.out, "refit");
  EXPECT_EQ(json.at("format").as_integer(), 2);
  EXPECT_EQ(json.at("out").as_string(), out_);
  EXPECT_EQ(json.at("release").to_json(), release_of(out_).to_json());
  const Document& refitted = json.at("release").at("refit");
  EXPECT_EQ(refitted.at("where").as_string(), "sex = M");
  EXPECT_EQ(refitted.at("max_model_mb").as_number(), 1.0);
}

TEST_F(RefitCommand, ASeedMakesTheSameRowsAndTheStampIsInherited) {
  ASSERT_EQ(synth("aim").exit_code, 0);
  ASSERT_EQ(refit({"--seed", "3"}).exit_code, 0);
  const std::string first = read_file(out_ + "/synthetic.csv");
  ASSERT_EQ(refit({"--seed", "3", "--force", "--threads", "1"}).exit_code, 0);
  EXPECT_EQ(read_file(out_ + "/synthetic.csv"), first);
  ASSERT_EQ(refit({"--force"}).exit_code, 0);
  EXPECT_NE(read_file(out_ + "/synthetic.csv"), first);
  EXPECT_EQ(release_of(out_).find("seeded"), nullptr);  // rows are no noise

  ASSERT_EQ(synth("aim", {"--seed", "1"}).exit_code, 0);
  const auto result = refit({"--force"});
  EXPECT_TRUE(contains(result.out, "NOT PRIVATE (seeded)"));
  EXPECT_EQ(release_of(out_).at("stamp").as_string(), "NOT PRIVATE (seeded)");
}

TEST_F(RefitCommand, LeavesTheLedgerAloneAndNamesItsRun) {
  const std::string ledger = dir_ / "people.ledger";
  Ledger::create(ledger, {"people", Epsilon(10.0), Delta(1e-9), PrivacyUnit{}});
  ASSERT_EQ(synth("independent", {"--ledger", ledger}).exit_code, 0);
  const std::string before = read_file(ledger);
  ASSERT_EQ(refit().exit_code, 0);
  EXPECT_EQ(read_file(ledger), before);
  EXPECT_EQ(release_of(out_).at("ledger").to_json(), release_of(from_).at("ledger").to_json());
}

TEST_F(RefitCommand, KeepsAReleaseUnderAddRemove) {
  ASSERT_EQ(synth("aim", {"--neighbors", "add-remove"}).exit_code, 0);
  const auto result = refit({"--max-model-mb", "4"});
  ASSERT_EQ(result.exit_code, 0) << result.err;
  EXPECT_TRUE(contains(result.out, "add-remove"));
  EXPECT_EQ(release_of(out_).at("total").as_number(), release_of(from_).at("total").as_number());
  EXPECT_EQ(rows_of(out_).size(), rows_of(from_).size());
}

TEST_F(RefitCommand, WritesRowsInTheFormatOfTheRelease) {
  std::string semicolons = read_file(private_);
  std::ranges::replace(semicolons, ',', ';');
  private_ = dir_.write("private.csv", semicolons);
  ASSERT_EQ(synth("independent", {"--delimiter", ";"}).exit_code, 0);
  ASSERT_EQ(refit().exit_code, 0);
  EXPECT_TRUE(read_file(out_ + "/synthetic.csv").starts_with("sex;age;marital\n"));
  EXPECT_EQ(release_of(out_).at("text").to_json(), R"({"delimiter":";"})");
}

TEST_F(RefitCommand, KeepsErrorBoundsOnlyWithTheModelTheyAreOf) {
  ASSERT_EQ(synth("aim").exit_code, 0);
  Document release = release_of(from_);
  release.set("error_bounds", Document::array());
  dir_.write("release/release.json", release.to_json(2));
  ASSERT_EQ(refit({"--rows", "10"}).exit_code, 0);
  EXPECT_NE(release_of(out_).find("error_bounds"), nullptr);
  ASSERT_EQ(refit({"--where", "sex = F", "--force"}).exit_code, 0);
  EXPECT_EQ(release_of(out_).find("error_bounds"), nullptr);
  ASSERT_EQ(refit({"--max-model-mb", "1", "--force"}).exit_code, 0);
  EXPECT_EQ(release_of(out_).find("error_bounds"), nullptr);
}

// ---- Conditions ---------------------------------------------------------------------------------

TEST_F(RefitCommand, ConditionsAndRulesHoldTogether) {
  for (const char* mechanism : {"independent", "aim", "mw-pub"}) {
    ASSERT_EQ(synth(mechanism).exit_code, 0);
    ASSERT_EQ(refit({"--where", "marital = married", "--rows", "500", "--force"}).exit_code, 0);
    for (const auto& row : rows_of(out_)) {
      EXPECT_TRUE(row.ends_with(",married"));
      EXPECT_GE(age_of(row), 15) << mechanism;
    }
    ASSERT_EQ(refit({"--where", "age < 15", "--rows", "500", "--force"}).exit_code, 0);
    for (const auto& row : rows_of(out_)) {
      EXPECT_TRUE(row.ends_with(",single"));
      EXPECT_LT(age_of(row), 15) << mechanism;
    }
  }
  expect_error(refit({"--where", "age < 15 and marital = married", "--force"}), 2,
               {"cannot occur", "if age < 15 then marital = single"});
}

TEST_F(RefitCommand, AConditionOfAConditionHoldsBoth) {
  ASSERT_EQ(synth("aim").exit_code, 0);
  ASSERT_EQ(refit({"--where", "sex = F"}).exit_code, 0);
  const double share = release_of(out_).at("refit").at("share").as_number();
  for (const char* fit : {"0", "2"}) {
    const std::string twice = dir_ / (std::string("twice") + fit);
    const auto result = tandem({"refit", out_, "--out", twice, "--where", "age >= 30", "--rows",
                                "300", "--max-model-mb", fit});
    ASSERT_EQ(result.exit_code, 0) << result.err;
    EXPECT_EQ(release_of(twice).at("refit").at("where").as_string(), "sex = F and age >= 30");
    EXPECT_LT(release_of(twice).at("refit").at("share").as_number(), share);
    for (const auto& row : rows_of(twice)) {
      EXPECT_TRUE(row.starts_with("F,"));
      EXPECT_GE(age_of(row), 30);
    }
    EXPECT_EQ(release_of(twice).at("refit_of").as_string(),
              sha256_hex(read_file(out_ + "/release.json")));
  }
}

TEST_F(RefitCommand, RefusesConditionsThatMakeNoSense) {
  ASSERT_EQ(synth("mw-pub").exit_code, 0);
  expect_error(refit({"--where", "age < 18"}), 2, {"cuts the range '15 to 29'", "'age'"});
  expect_error(refit({"--where", "height > 2"}), 2, {"--where", "'height' is not a column"});
  expect_error(refit({"--where", "sex = X"}), 2, {"--where", "'X'"});
  expect_error(refit({"--where", "sex != F and sex != M"}), 2, {"no value of column 'sex'"});
  EXPECT_FALSE(fs::exists(out_));
  EXPECT_FALSE(fs::exists(out_ + ".partial"));
}

TEST_F(RefitCommand, RefusesWhatTheModelGivesNoProbability) {
  // The public rows never show this, and the release has no others.
  public_ = dir_.write("public.csv", "sex,age,marital\nF,40,married\nM,20,single\nM,70,single\n");
  ASSERT_EQ(synth("mw-pub").exit_code, 0);
  expect_error(refit({"--where", "sex = F and marital = single"}), 2,
               {"no probability", "sex = F and marital = single"});
}

// Single values of another file would stand in rows that name the public data of the release.
TEST_F(RefitCommand, TakesThePublicDataOfTheReleaseAlone) {
  ASSERT_EQ(synth("independent").exit_code, 0);
  expect_error(refit({"--public", private_}), 2,
               {"--public", "is not public data that the release"});
  const std::string copy = dir_.write("copy.csv", read_file(public_));
  EXPECT_EQ(refit({"--public", copy, "--force"}).exit_code, 0);
}

// ---- Other models -------------------------------------------------------------------------------

TEST_F(RefitCommand, FitsAnotherModelToTheMeasurements) {
  for (const char* mechanism : {"independent", "aim", "jam-pgm"}) {
    ASSERT_EQ(synth(mechanism).exit_code, 0);
    for (const char* size : {"0.0001", "10"}) {
      const auto result = refit({"--max-model-mb", size, "--force"});
      ASSERT_EQ(result.exit_code, 0) << mechanism << size << result.err;
      EXPECT_EQ(rows_of(out_).size(), 400U);
      EXPECT_TRUE(contains(result.out, "fitted to the measurements"));
    }
  }
  expect_error(refit({"--max-model-mb", "0.00001", "--force"}), 2, {"columns alone take 64 B"});
}

// Also where the release's own model is of another kind, or of some rows alone.
TEST_F(RefitCommand, ANewModelHoldsTheRulesWhateverTheFormerOneWas) {
  const auto impossible_share = [&](const std::string& folder) {
    const auto pair = StoredRelease(folder).model(1e9, Threads{})->project({1, 2});
    return pair.values[1] / total(pair);  // below 15 and married
  };
  for (const char* mechanism : {"tandem", "independent", "aim"}) {
    SCOPED_TRACE(mechanism);
    ASSERT_EQ(synth(mechanism, {"--seed", "1"}).exit_code, 0);
    const auto result = refit({"--max-model-mb", "4", "--force"});
    ASSERT_EQ(result.exit_code, 0) << result.err;
    EXPECT_EQ(impossible_share(out_), 0.0);
    const std::string some = dir_ / "some";
    ASSERT_EQ(tandem({"refit", from_, "--out", some, "--where", "sex = F", "--force"}).exit_code,
              0);
    ASSERT_EQ(tandem({"refit", some, "--out", out_, "--max-model-mb", "4", "--force"}).exit_code,
              0);
    EXPECT_EQ(impossible_share(out_), 0.0);
  }
  const auto small = refit({"--max-model-mb", "0.0001", "--force"});
  ASSERT_EQ(small.exit_code, 0) << small.err;
  EXPECT_TRUE(contains(small.out, "no room for a rule on 'age' and 'marital'")) << small.out;
}

TEST_F(RefitCommand, RefusesAModelThatWouldKnowNothing) {
  ASSERT_EQ(synth("mw-pub").exit_code, 0);
  expect_error(refit({"--max-model-mb", "8"}), 2, {"measured no marginal", "--max-model-mb"});
}

TEST_F(RefitCommand, AnOlderReleaseHasNoModelAndCanBeGivenOne) {
  ASSERT_EQ(synth("independent").exit_code, 0);
  fs::remove(from_ + "/model.bin");
  const Document now = release_of(from_);
  Document older = Document::object();
  for (const auto& [key, value] : now.as_object()) {
    if (key != "model_sha256" && key != "measurements_sha256") older.set(key, value);
  }
  dir_.write("release/release.json", older.to_json(2));
  expect_error(refit(), 2, {from_, "holds no model", "--max-model-mb"});
  ASSERT_EQ(refit({"--max-model-mb", "1"}).exit_code, 0);
  EXPECT_TRUE(fs::exists(out_ + "/model.bin"));
  from_ = out_;
  out_ = dir_ / "third";
  EXPECT_EQ(refit().exit_code, 0);
}

// ---- Trouble ------------------------------------------------------------------------------------

TEST_F(RefitCommand, RefusesWrongCallsInOneSentence) {
  ASSERT_EQ(synth("independent").exit_code, 0);
  expect_error(tandem({"refit", from_}), 2, {"--out"});
  expect_error(tandem({"refit", "--out", out_}), 2, {"release"});
  expect_error(tandem({"refit", dir_ / "nothing", "--out", out_}), 2, {"nothing", "release.json"});
  expect_error(tandem({"refit", private_, "--out", out_}), 2, {"no release folder"});
  expect_error(refit({"--rows", "-1"}), 2, {"--rows is -1"});
  expect_error(refit({"--max-model-mb", "-2"}), 2, {"--max-model-mb is -2"});
  expect_error(refit({"--seed", "-7"}), 2, {"--seed is -7"});
  expect_error(refit({"--memory-limit", "1KB"}), 2, {"limit", "--memory-limit"});
  expect_error(tandem({"refit", from_, "--out", from_}), 2, {"exists", "--force"});
  EXPECT_FALSE(fs::exists(out_));
}

TEST_F(RefitCommand, MayTakeThePlaceOfTheReleaseItComesFrom) {
  ASSERT_EQ(synth("aim").exit_code, 0);
  const std::string digest = sha256_hex(read_file(from_ + "/release.json"));
  ASSERT_EQ(tandem({"refit", from_, "--out", from_, "--rows", "50", "--force"}).exit_code, 0);
  EXPECT_EQ(rows_of(from_).size(), 50U);
  EXPECT_EQ(release_of(from_).at("refit_of").as_string(), digest);
}

TEST_F(RefitCommand, FilesThatWereChangedOrCutAreRefused) {
  ASSERT_EQ(synth("aim").exit_code, 0);
  const auto with_changed = [&](const std::string& file, const std::function<void()>& look) {
    const std::string whole = read_file(from_ + "/" + file);
    std::string flipped = whole;
    flipped[flipped.size() / 2] ^= 1;
    for (const auto& text : {whole.substr(0, whole.size() / 2), flipped, std::string()}) {
      dir_.write("release/" + file, text);
      look();
    }
    dir_.write("release/" + file, whole);
  };
  with_changed("model.bin", [&] {
    expect_error(refit(), 2, {"model.bin", "changed or cut short"});
  });
  with_changed("schema.toml", [&] {
    expect_error(refit(), 2, {"schema.toml", "changed or cut short"});
  });
  with_changed("measurements.json", [&] {
    expect_error(refit({"--max-model-mb", "1"}), 2, {"measurements.json", "changed or cut short"});
    expect_error(refit(), 2, {"measurements.json"});
  });
  fs::remove(from_ + "/model.bin");
  expect_error(refit(), 2, {"model.bin"});
  EXPECT_FALSE(fs::exists(out_));
  EXPECT_FALSE(fs::exists(out_ + ".partial"));
}

TEST_F(RefitCommand, AFullDiskLeavesNothingBehind) {
  ASSERT_EQ(synth("aim").exit_code, 0);
  int failed = 0;
  for (const int blocks : {1, 2, 4, 16, 64, 256, 4096}) {  // of 512 bytes
    const auto result = test::run_command(
        {"/bin/sh", "-c", "trap '' XFSZ; ulimit -f " + std::to_string(blocks) + "; exec \"$@\"",
         "sh", TANDEM_COMMAND, "refit", from_, "--out", out_, "--rows", "20000", "--quiet"});
    if (result.exit_code == 0) continue;
    ++failed;
    expect_error(result, 1, {"can't be written"});
    EXPECT_FALSE(fs::exists(out_));
    EXPECT_FALSE(fs::exists(out_ + ".partial"));
  }
  EXPECT_GE(failed, 3);
  EXPECT_TRUE(fs::exists(out_));
}

TEST_F(RefitCommand, KilledAnywhereItIsSimplyCalledAgain) {
  ASSERT_EQ(synth("aim").exit_code, 0);
  const std::vector<std::string> call = {TANDEM_COMMAND, "refit",  from_,  "--out",
                                         out_,           "--rows", "20000"};
  const auto begin = std::chrono::steady_clock::now();
  ASSERT_EQ(test::run_command(call).exit_code, 0);
  const std::chrono::duration<double, std::micro> whole = std::chrono::steady_clock::now() - begin;
  int interrupted = 0;
  for (int i = 0; i < 12; ++i) {
    fs::remove_all(out_);
    StartedCommand started(call);
    usleep(static_cast<useconds_t>(whole.count() * (i + 1) / 12.0));
    started.kill();
    started.wait();
    if (fs::exists(out_)) {
      EXPECT_EQ(rows_of(out_).size(), 20000U);
      continue;
    }
    if (fs::exists(out_ + ".partial/.run/run.json")) {
      ++interrupted;
      expect_error(tandem({"synth", "--resume", "--out", out_}), 2, {"interrupted refit"});
    }
    const auto result = test::run_command(call);  // no --force
    EXPECT_EQ(result.exit_code, 0) << result.err;
    EXPECT_EQ(rows_of(out_).size(), 20000U);
    EXPECT_FALSE(fs::exists(out_ + ".partial"));
  }
  RecordProperty("interrupted", interrupted);
}

}  // namespace
}  // namespace tandem
