// SPDX-License-Identifier: Apache-2.0
#include "tandem/engine/synth.h"
#include "tandem/engine/release/release_documents.h"

#include <fmt/core.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <functional>
#include <set>
#include <string>
#include <vector>

#include "support/errors.h"
#include "support/files.h"
#include "support/scripted_mechanism.h"
#include "tandem/base/digest.h"
#include "tandem/base/error.h"
#include "tandem/base/version.h"
#include "tandem/data/csv.h"
#include "tandem/engine/preparation.h"
#include "tandem/engine/release/release_folder.h"
#include "tandem/mechanism/mechanism.h"
#include "tandem/privacy/accountant.h"
#include "tandem/privacy/ledger.h"

namespace tandem {
namespace {

namespace fs = std::filesystem;
using test::contains;
using test::error_of;
using test::read_file;
using test::TempDir;

std::vector<std::string> keys_of(const Document& document) {
  std::vector<std::string> keys;
  for (const auto& [key, value] : document.as_object()) keys.push_back(key);
  return keys;
}

std::size_t lines_of(const std::string& path) {
  const std::string text = read_file(path);
  return static_cast<std::size_t>(std::ranges::count(text, '\n'));
}

class Synth : public testing::Test {
 protected:
  static constexpr std::size_t kRows = 300;

  Synth() {
    std::string rows = "who,a,b,c\n";
    for (std::size_t r = 0; r < kRows; ++r) {
      rows += "p" + std::to_string(r / 3) + ',' + (r % 4 == 0 ? "F," : "M,") +
              std::to_string(r % 10) + ',' + std::to_string(r * r % 5) + '\n';
    }
    run_.settings.private_source = dir_.write("private.csv", rows);
    run_.settings.schema = dir_.write("schema.toml",
                                      "[[column]]\nname = 'a'\nvalues = ['F', 'M']\n"
                                      "[[column]]\nname = 'b'\nsize = 10\n"
                                      "[[column]]\nname = 'c'\nsize = 5\n");
    run_.settings.epsilon = 1.0;
    run_.settings.mechanism = "independent";  // the shortest
    run_.settings.certify_share = 0.0;        // and all of the budget is the mechanism's
    run_.settings.out = dir_ / "release";
  }

  Document synthesize_now() const { return synthesize(run_).release; }
  std::string file(const std::string& name) const { return run_.settings.out + "/" + name; }
  std::string partial(const std::string& name) const {
    return run_.settings.out + ".partial/" + name;
  }
  std::string refusal() const {
    return error_of<UsageError>([&] { synthesize(run_); });
  }

  Ledger make_ledger(double epsilon = 10.0) {
    run_.settings.ledger = dir_ / "people.ledger";
    return Ledger::create(run_.settings.ledger,
                          {"people", Epsilon(epsilon), Delta(1e-9), PrivacyUnit{}});
  }

  void script() {
    run_.find = [](const std::string& /*name*/) { return test::scripted_mechanism(); };
  }

  // Runs until this step has been committed and no further.
  void interrupt_after(std::size_t step) {
    run_.progress = [step](const RunProgress& progress) {
      const bool measuring = progress.stage == RunProgress::Stage::Measuring;
      if (measuring && progress.step == step) throw SourceError("interrupted");
    };
    EXPECT_THROW(synthesize(run_), SourceError);
    run_.progress = nullptr;
    run_.resume = true;
  }

  void edit_record(const std::string& key, const Document& value) const {
    Document record = Document::read(partial(".run/run.json"));
    record.set(key, value);
    dir_.write("release.partial/.run/run.json", record.to_json(2));
  }

  TempDir dir_{test::in_memory()};
  SynthRun run_;
};

// ---- Records ------------------------------------------------------------------------------------

class SynthRecords : public Synth {
 protected:
  // As many records as the file of Synth has rows, every third on several lines.
  SynthRecords() {
    std::string rows = "who,a,note,b,c\n";
    for (std::size_t r = 0; r < kRows; ++r) {
      rows += fmt::format("p{},{},{},{},{}\n", r / 3, r % 4 == 0 ? "F" : "M",
                          r % 3 == 0 ? "\"call\nme, \"\"now\"\"\n\"" : "fine", r % 10, r * r % 5);
    }
    quoted_ = dir_.write("quoted.csv", rows);
  }

  std::string quoted_;
};

TEST_F(SynthRecords, ARecordOnSeveralLinesIsOneRow) {
  const Document lines_before = synthesize_now();
  EXPECT_EQ(lines_before.at("guarantee").at("records").as_string(), "lines");
  run_.force = true;
  run_.settings.private_source = quoted_;
  EXPECT_EQ(synthesize_now().at("total").as_number(), 500.0);  // every line
  run_.settings.text.records = "quoted";
  const Document release = synthesize_now();
  EXPECT_EQ(release.at("total").as_number(), 300.0);
  EXPECT_EQ(release.at("guarantee").at("records").as_string(), "quoted");
  EXPECT_EQ(release.at("text").to_json(), R"({"records":"quoted"})");
}

TEST_F(SynthRecords, PeopleHaveRecordsAsRows) {
  run_.settings.private_source = quoted_;
  run_.settings.person = "who";
  run_.settings.rows_per_person = 2;
  run_.settings.epsilon = 1000.0;  // the estimate of the total is right to a row or so
  run_.settings.text.records = "quoted";
  EXPECT_NEAR(synthesize_now().at("total").as_number(), 200.0, 3.0);
}

TEST_F(SynthRecords, TheSchemaStatesThemToo) {
  run_.settings.private_source = quoted_;
  run_.settings.schema =
      dir_.write("quoted.toml", read_file(run_.settings.schema) + "[csv]\nrecords = 'quoted'\n");
  const Document release = synthesize_now();
  EXPECT_EQ(release.at("total").as_number(), 300.0);
  EXPECT_EQ(release.at("guarantee").at("records").as_string(), "quoted");
  EXPECT_EQ(release.find("text"), nullptr);
  EXPECT_TRUE(contains(to_text(plan_synthesis(run_)), "Every record of the private file is a row"));
}

TEST_F(SynthRecords, ThePlanSaysWhatARowIs) {
  EXPECT_TRUE(contains(to_text(plan_synthesis(run_)),
                       "Every line of the private file is a row: a record with k line feeds inside "
                       "quotes is k + 1; --records quoted makes it one.\n"));
}

TEST_F(SynthRecords, ALedgerTakesOneKindBeforeAnythingIsSpent) {
  const Ledger ledger = make_ledger();
  run_.settings.private_source = quoted_;
  run_.settings.text.records = "quoted";
  synthesize_now();
  EXPECT_EQ(ledger.report().runs.at(0).label, "release (quoted)");
  run_.settings.out = dir_ / "second";
  synthesize_now();
  const std::string head = ledger.head();
  run_.settings.text.records = "lines";
  run_.settings.out = dir_ / "third";
  EXPECT_TRUE(contains(plan_synthesis(run_).ledger->refusal, "another mode"));
  EXPECT_TRUE(contains(error_of<BudgetError>([&] { synthesize(run_); }),
                       "the runs so far read records as quoted, and this run reads them as lines"));
  EXPECT_EQ(ledger.head(), head);
  EXPECT_FALSE(fs::exists(dir_ / "third.partial"));
}

TEST_F(SynthRecords, AResumedRunKeepsIts) {
  script();
  run_.settings.private_source = quoted_;
  run_.settings.text.records = "quoted";
  interrupt_after(2);
  run_.settings.text.records = "lines";
  EXPECT_TRUE(contains(refusal(), "--records is not what the interrupted release began with"));
  run_.settings.text.records = "quoted";
  EXPECT_EQ(synthesize_now().at("guarantee").at("records").as_string(), "quoted");
}

// ---- What a release says ------------------------------------------------------------------------

TEST_F(Synth, WritesTheDocumentedFiles) {
  synthesize_now();
  std::set<std::string> names;
  for (const auto& entry : fs::recursive_directory_iterator(run_.settings.out)) {
    names.insert(entry.path().filename().string());
  }
  EXPECT_EQ(names, (std::set<std::string>{"release.json", "measurements.json", "model.bin",
                                          "schema.toml", "synthetic.csv"}));
  EXPECT_FALSE(fs::exists(run_.settings.out + ".partial"));
}

TEST_F(Synth, RecordsTheGuaranteeAndWhatLedToIt) {
  const Document returned = synthesize_now();
  const Document r = Document::read(file("release.json"));
  EXPECT_EQ(r.to_json(), returned.to_json());
  EXPECT_EQ(keys_of(r),
            (std::vector<std::string>{"format", "tandem", "id", "day", "mechanism", "parameters",
                                      "workload", "guarantee", "spent", "steps", "public", "total",
                                      "rows", "schema_sha256", "measurements_sha256",
                                      "model_sha256", "facts", "warnings"}));
  EXPECT_EQ(r.at("measurements_sha256").as_string(),
            sha256_hex(read_file(file("measurements.json"))));
  EXPECT_EQ(r.at("model_sha256").as_string(), sha256_hex(read_file(file("model.bin"))));
  EXPECT_EQ(r.at("format").as_integer(), 2);
  EXPECT_EQ(r.at("tandem").as_string(), version());
  EXPECT_EQ(r.at("mechanism").as_string(), "independent");
  EXPECT_TRUE(r.at("parameters").as_object().empty());
  EXPECT_EQ(r.at("workload").as_string(), "all-3way");
  EXPECT_EQ(r.at("rows").as_integer(), static_cast<std::int64_t>(kRows));
  EXPECT_EQ(r.at("schema_sha256").as_string(), sha256_hex(read_file(run_.settings.schema)));

  const Document& guarantee = r.at("guarantee");
  EXPECT_EQ(keys_of(guarantee),
            (std::vector<std::string>{"epsilon", "delta", "rho", "neighbors", "rows_per_person",
                                      "person_may_be_absent", "records"}));
  EXPECT_EQ(guarantee.at("epsilon").as_number(), 1.0);
  EXPECT_EQ(guarantee.at("delta").as_number(), 1e-9);
  EXPECT_NEAR(guarantee.at("rho").as_number(), rho_of(Epsilon(1.0), Delta(1e-9)).value(), 1e-15);
  EXPECT_EQ(guarantee.at("neighbors").as_string(), "replace-one");
  EXPECT_EQ(guarantee.at("rows_per_person").as_integer(), 1);

  const Document& spent = r.at("spent");
  EXPECT_EQ(keys_of(spent), (std::vector<std::string>{"epsilon", "delta", "rho"}));
  EXPECT_LE(spent.at("epsilon").as_number(), 1.0);
  EXPECT_GT(spent.at("epsilon").as_number(), 0.999999);
  const auto& steps = r.at("steps").as_array();
  ASSERT_EQ(steps.size(), 2U);
  EXPECT_EQ(keys_of(steps[0]), (std::vector<std::string>{"kind", "noise", "measured", "rho"}));
  EXPECT_EQ(steps[0].at("noise").as_string(), "none");  // the number of rows is public
  EXPECT_EQ(steps[0].at("rho").as_number(), 0.0);
  EXPECT_EQ(steps[1].at("kind").as_string(), "measure");
  EXPECT_EQ(steps[1].at("noise").as_string(), "gaussian");
  const auto& measured = steps[1].at("measured").as_array();
  ASSERT_EQ(measured.size(), 3U);
  EXPECT_EQ(keys_of(measured[0]), (std::vector<std::string>{"columns", "values", "sigma"}));
  EXPECT_NEAR(steps[1].at("rho").as_number(), spent.at("rho").as_number(), 1e-15);
}

TEST_F(Synth, TellsNothingOfTimeMemoryOrPlace) {
  synthesize_now();
  for (const char* name : {"release.json", "measurements.json"}) {
    const std::string text = read_file(file(name));
    for (const char* word : {"second", "time", "memory", "peak", "private.csv", "threads"}) {
      EXPECT_FALSE(contains(text, word)) << word;
    }
    EXPECT_FALSE(contains(text, dir_.path().string()));
  }
}

TEST_F(Synth, ChargesAddUpForManySteps) {
  script();
  const Document r = synthesize_now();
  double rho = 0.0;
  for (const auto& step : r.at("steps").as_array()) rho += step.at("rho").as_number();
  EXPECT_EQ(r.at("steps").as_array().size(), 31U);
  EXPECT_NEAR(rho, 0.75 * r.at("guarantee").at("rho").as_number(), 1e-12);
  EXPECT_NEAR(rho, r.at("spent").at("rho").as_number(), 1e-12);
  EXPECT_LT(r.at("spent").at("epsilon").as_number(), 1.0);
  EXPECT_EQ(r.at("parameters").at("steps").as_string(), "30");
}

TEST_F(Synth, MeasurementsReadBack) {
  synthesize_now();
  const Document m = Document::read(file("measurements.json"));
  EXPECT_EQ(keys_of(m), (std::vector<std::string>{"format", "measurements"}));
  EXPECT_EQ(m.at("format").as_integer(), 1);
  const auto& list = m.at("measurements").as_array();
  ASSERT_EQ(list.size(), 3U);
  const std::size_t cells[] = {2, 10, 5};
  const char* names[] = {"a", "b", "c"};
  for (std::size_t i = 0; i < 3; ++i) {
    EXPECT_EQ(keys_of(list[i]),
              (std::vector<std::string>{"columns", "origin", "noise", "stddev", "values"}));
    ASSERT_EQ(list[i].at("columns").as_array().size(), 1U);
    EXPECT_EQ(list[i].at("columns").as_array()[0].as_string(), names[i]);
    EXPECT_EQ(list[i].at("origin").as_string(), "private");
    EXPECT_EQ(list[i].at("noise").as_string(), "gaussian");
    EXPECT_GT(list[i].at("stddev").as_number(), 1.0);
    EXPECT_EQ(list[i].at("values").as_array().size(), cells[i]);
  }
}

TEST_F(Synth, RowsAreThoseOfTheSchema) {
  synthesize_now();
  const Schema schema = Schema::read(run_.settings.schema);
  const auto table = read_csv(file("synthetic.csv"), schema).table;  // every value fits, or throws
  EXPECT_EQ(table.rows(), kRows);
  EXPECT_TRUE(read_file(file("synthetic.csv")).starts_with("a,b,c\n"));
}

// ---- The number of rows -------------------------------------------------------------------------

TEST_F(Synth, MakesNRowsUnderReplaceOneAndTheNoisyTotalUnderAddRemove) {
  EXPECT_EQ(synthesize_now().at("rows").as_integer(), static_cast<std::int64_t>(kRows));
  run_.settings.neighbors = "add-remove";
  run_.settings.epsilon = 0.1;
  std::set<std::int64_t> seen;
  for (int i = 0; i < 5; ++i) {
    run_.settings.out = dir_ / ("noisy" + std::to_string(i));
    const Document r = synthesize_now();
    const auto rows = r.at("rows").as_integer();
    seen.insert(rows);
    EXPECT_EQ(lines_of(file("synthetic.csv")), static_cast<std::size_t>(rows) + 1);
    // What is published is a function of the measurements: nothing else knows n.
    double weighted = 0.0;
    double weights = 0.0;
    const Document released = Document::read(file("measurements.json"));
    for (const auto& m : released.at("measurements").as_array()) {
      double sum = 0.0;
      for (const auto& value : m.at("values").as_array()) sum += value.as_number();
      const double stddev = m.at("stddev").as_number();
      const double weight =
          1.0 / (static_cast<double>(m.at("values").as_array().size()) * stddev * stddev);
      weighted += weight * sum;
      weights += weight;
    }
    EXPECT_NEAR(static_cast<double>(rows), std::max(1.0, weighted / weights), 0.51);
  }
  EXPECT_GT(seen.size(), 1U);
}

TEST_F(Synth, MakesAsManyRowsAsAskedFor) {
  for (const std::int64_t rows : {1, 77, 5000}) {
    run_.settings.rows = rows;
    run_.settings.out = dir_ / ("rows" + std::to_string(rows));
    EXPECT_EQ(synthesize_now().at("rows").as_integer(), rows);
    EXPECT_EQ(lines_of(file("synthetic.csv")), static_cast<std::size_t>(rows) + 1);
  }
}

TEST_F(Synth, KeepsRowsPerPersonBehindTheGate) {
  run_.settings.neighbors = "add-remove";
  run_.settings.person = "who";
  run_.settings.epsilon = 100.0;
  run_.settings.rows_per_person = 2;  // of 3
  const Document r = synthesize_now();
  EXPECT_NEAR(static_cast<double>(r.at("rows").as_integer()), 200.0, 20.0);
  EXPECT_EQ(r.at("guarantee").at("rows_per_person").as_integer(), 2);
  EXPECT_FALSE(contains(read_file(file("synthetic.csv")), "who"));
}

// A row whose name is taken away leaves the table. Its neighbour has one row more, and nothing may
// tell the two apart for free.
TEST_F(Synth, NamedPeopleMayBeAbsentSoTheirNumberIsNoisy) {
  std::string text = read_file(run_.settings.private_source);
  std::set<std::int64_t> seen;
  for (const bool nameless : {false, true}) {
    if (nameless) text.replace(text.find("p7,"), 2, "");
    run_.settings.private_source = dir_.write("named.csv", text);
    run_.settings.person = "who";
    run_.settings.seed = 5;
    run_.settings.out = dir_ / (nameless ? "nameless" : "named");
    const Document r = synthesize_now();
    EXPECT_TRUE(r.at("guarantee").at("person_may_be_absent").as_bool());
    EXPECT_NE(r.at("total").as_number(), nameless ? 99.0 : 100.0);
    EXPECT_TRUE(contains(to_text({run_.settings.out, false, r}), "who may be absent"));
  }
  run_.settings.person.clear();
  run_.settings.out = dir_ / "unnamed";
  const Document r = synthesize_now();
  EXPECT_FALSE(r.at("guarantee").at("person_may_be_absent").as_bool());
  EXPECT_EQ(r.at("total").as_number(), static_cast<double>(kRows));
}

TEST_F(Synth, NoiseGrowsWithTheRowsAPersonMayHave) {
  for (const std::string neighbors : {"replace-one", "add-remove"}) {
    std::vector<double> stddev;
    for (const std::int64_t rows : {1, 5}) {
      run_.settings.neighbors = neighbors;
      run_.settings.rows_per_person = rows;
      run_.settings.out = dir_ / (neighbors + std::to_string(rows));
      synthesize_now();
      const Document m = Document::read(file("measurements.json"));
      stddev.push_back(m.at("measurements").as_array()[0].at("stddev").as_number());
    }
    EXPECT_NEAR(stddev[1] / stddev[0], 5.0, 0.01) << neighbors;
  }
}

// ---- What noise leaves --------------------------------------------------------------------------

TEST_F(Synth, SaysWhenNoiseDrownsTheTable) {
  run_.settings.epsilon = 0.01;
  EXPECT_TRUE(contains(to_text(plan_synthesis(run_)), "Noise will drown the private table"));
  const Document r = synthesize_now();
  ASSERT_FALSE(r.at("warnings").as_array().empty());
  const std::string warning = r.at("warnings").as_array()[0].at("text").as_string();
  EXPECT_TRUE(contains(warning, "Noise drowns the private table: 3 of 3 measurements")) << warning;
  EXPECT_TRUE(contains(to_text({run_.settings.out, false, r}), "Noise drowns"));
}

TEST_F(Synth, SaysWhenTheNumberOfRowsIsAGuess) {
  run_.settings.epsilon = 1e-3;
  run_.settings.neighbors = "add-remove";
  run_.settings.seed = 1;
  EXPECT_TRUE(contains(to_text(plan_synthesis(run_)), "number of rows will be a guess"));
  const Document r = synthesize_now();
  bool said = false;
  for (const auto& warning : r.at("warnings").as_array()) {
    said = said || contains(warning.at("text").as_string(), "is a guess: its noise");
  }
  EXPECT_TRUE(said);
}

TEST_F(Synth, IsSilentWhereNoiseIsSmall) {
  run_.settings.epsilon = 20.0;
  EXPECT_TRUE(plan_synthesis(run_).warnings.empty());
  EXPECT_TRUE(synthesize_now().at("warnings").as_array().empty());
}

// ---- Names
// ----------------------------------------------------------------------------------------

TEST_F(Synth, NamesPublicFilesByBaseNameAndDigest) {
  fs::create_directories(dir_ / "one");
  fs::create_directories(dir_ / "two");
  const std::string rows = "a,b,c\nF,1,2\nM,2,3\n";
  run_.settings.public_sources = {dir_.write("one/public.csv", rows),
                                  dir_.write("two/public.csv", rows + "F,9,4\n")};
  run_.settings.mechanism = "tandem";
  const Document r = synthesize_now();
  const auto& named = r.at("public").as_array();
  ASSERT_EQ(named.size(), 2U);
  EXPECT_EQ(named[0].at("name").as_string(), "public.csv");
  EXPECT_EQ(named[1].at("name").as_string(), "public.csv (2)");
  EXPECT_EQ(named[0].at("sha256").as_string(), sha256_hex(rows));
  EXPECT_NE(named[1].at("sha256").as_string(), sha256_hex(rows));
  EXPECT_FALSE(contains(read_file(file("release.json")), dir_.path().string()));
  EXPECT_FALSE(contains(read_file(file("release.json")), "one/"));
}

TEST_F(Synth, HasAnIdAndADay) {
  const std::string first = synthesize_now().at("id").as_string();
  EXPECT_EQ(first.size(), 32U);
  run_.settings.out = dir_ / "second";
  const Document r = synthesize_now();
  EXPECT_NE(r.at("id").as_string(), first);
  EXPECT_EQ(r.at("day").as_string().size(), 10U);
  run_.settings.seed = 4;
  std::set<std::string> ids;
  for (const char* out : {"third", "fourth"}) {
    run_.settings.out = dir_ / out;
    ids.insert(synthesize_now().at("id").as_string());
  }
  EXPECT_EQ(ids.size(), 1U);
}

TEST_F(Synth, ThePrivateFileIsNotTakenForPublicByAnyName) {
  fs::create_symlink(run_.settings.private_source, dir_ / "link.csv");
  fs::create_hard_link(run_.settings.private_source, dir_ / "hard.csv");
  const std::string roundabout = dir_.path() / ".." / dir_.path().filename() / "private.csv";
  for (const std::string& name :
       {run_.settings.private_source, dir_ / "link.csv", dir_ / "hard.csv", roundabout}) {
    run_.settings.public_sources = {name};
    EXPECT_TRUE(contains(refusal(), "is the private file itself")) << name;
    EXPECT_THROW(plan_synthesis(run_), UsageError);
  }
}

// ---- Guarantees ---------------------------------------------------------------------------------

TEST_F(Synth, DeltaZeroIsAPureGuarantee) {
  run_.settings.delta = 0.0;
  const Document r = synthesize_now();
  EXPECT_EQ(keys_of(r.at("guarantee")),
            (std::vector<std::string>{"epsilon", "delta", "neighbors", "rows_per_person",
                                      "person_may_be_absent", "records"}));
  EXPECT_EQ(r.at("guarantee").at("delta").as_number(), 0.0);
  EXPECT_EQ(r.at("spent").at("delta").as_number(), 0.0);
  EXPECT_LE(r.at("spent").at("epsilon").as_number(), 1.0);
  const auto& step = r.at("steps").as_array().back();
  EXPECT_EQ(keys_of(step),
            (std::vector<std::string>{"kind", "noise", "measured", "rho", "epsilon"}));
  EXPECT_EQ(step.at("noise").as_string(), "laplace");
  EXPECT_NEAR(step.at("epsilon").as_number(), 1.0, 1e-12);
  EXPECT_LE(step.at("rho").as_number(), 0.5);
  const Document m = Document::read(file("measurements.json"));
  EXPECT_EQ(m.at("measurements").as_array()[0].at("noise").as_string(), "laplace");
}

TEST_F(Synth, AutoIsNamedByWhatItChose) {
  run_.settings.mechanism = "auto";
  const Document r = synthesize_now();
  EXPECT_EQ(r.at("mechanism").as_string(), "tandem");
}

TEST_F(Synth, BoundsOnErrorsAreWrittenDown) {
  run_.settings.mechanism = "aim";
  const Document r = synthesize_now();
  ASSERT_FALSE(r.at("error_bounds").as_array().empty());
  const auto& bound = r.at("error_bounds").as_array()[0];
  EXPECT_EQ(keys_of(bound), (std::vector<std::string>{"columns", "l1", "confidence", "supported"}));
  EXPECT_GT(bound.at("l1").as_number(), 0.0);
}

TEST_F(Synth, AutoLooksAtPublicDataAndDelta) {
  EXPECT_EQ(automatic_mechanism(false, false), "tandem");
  EXPECT_EQ(automatic_mechanism(true, false), "tandem");
  EXPECT_EQ(automatic_mechanism(false, true), "mst");
  EXPECT_EQ(automatic_mechanism(true, true), "mw-pub");
  for (const bool with_public : {false, true}) {
    EXPECT_TRUE(find_mechanism(automatic_mechanism(with_public, true)).pure);
  }
}

std::string columns_of_20(int count) {
  std::string sizes;
  for (int i = 0; i < count; ++i) sizes += fmt::format("{}\"c{}\": 20", i > 0 ? ", " : "", i);
  return "{" + sizes + "}";
}

TEST_F(Synth, AModelAboveTheMemoryLimitIsRefused) {
  run_.settings.mechanism = "aim";
  run_.settings.memory_limit = "500MB";
  run_.settings.parameters = {"max-model-mb=600"};
  EXPECT_NO_THROW(plan_synthesis(run_));  // three small columns never need it
  run_.settings.schema = dir_.write("wide.json", columns_of_20(12));
  run_.settings.private_source = dir_ / "none.csv";
  EXPECT_TRUE(contains(refusal(), "the limit is 500 MB"));
  EXPECT_TRUE(contains(refusal(), "max-model-mb"));
  EXPECT_FALSE(fs::exists(run_.settings.out + ".partial"));
  run_.settings.parameters = {"max-model-mb=1"};
  EXPECT_NO_THROW(plan_synthesis(run_));
}

// All three-way marginals of sixty columns: 34,220 of 8,000 cells.
TEST_F(Synth, AWorkloadTooLargeForMemoryIsRefusedBeforeAnythingIsRead) {
  run_.settings.schema = dir_.write("wide.json", columns_of_20(60));
  run_.settings.private_source = dir_ / "none.csv";
  run_.settings.mechanism = "aim";
  run_.settings.memory_limit = "1GB";
  const auto message = refusal();
  EXPECT_TRUE(contains(message, "the limit is 1.0 GB")) << message;
  EXPECT_TRUE(contains(message, "--workload")) << message;
  run_.settings.workload = "all-2way";
  EXPECT_TRUE(contains(to_text(plan_synthesis(run_)), "roughly"));
}

TEST_F(Synth, DefaultsFitIntoASmallMachine) {
  run_.settings.public_sources = {
      dir_.write("public.csv", read_file(run_.settings.private_source) + "p0,F,1,2\n")};
  run_.settings.memory_limit = "500MB";
  for (const char* mechanism :
       {"mw-pub", "mwem-pub", "mwem", "mst", "aim", "jam-pgm", "gem", "gem-pub", "tandem"}) {
    run_.settings.mechanism = mechanism;
    EXPECT_NO_THROW(plan_synthesis(run_)) << mechanism;
  }
}

TEST_F(Synth, DeltaZeroIsRefusedByAMechanismWithoutAPureGuarantee) {
  run_.settings.delta = 0.0;
  run_.find = [](const std::string& name) {
    Mechanism mechanism = find_mechanism(name);
    mechanism.pure = false;
    return mechanism;
  };
  EXPECT_EQ(refusal(), "independent has no pure guarantee; give a --delta above 0.");
}

TEST_F(Synth, AMechanismThatNeedsPublicDataSaysSo) {
  run_.find = [](const std::string& name) {
    Mechanism mechanism = find_mechanism(name);
    mechanism.public_data = PublicUse::Needed;
    return mechanism;
  };
  EXPECT_EQ(refusal(), "independent needs public data; give it with --public.");
}

TEST_F(Synth, ASeededReleaseIsStampedNotPrivate) {
  run_.settings.seed = 3;
  const Document r = synthesize_now();
  EXPECT_TRUE(r.at("seeded").as_bool());
  EXPECT_FALSE(r.at("private").as_bool());
  EXPECT_EQ(r.at("stamp").as_string(), "NOT PRIVATE (seeded)");
  EXPECT_TRUE(contains(to_text({run_.settings.out, false, r}), "NOT PRIVATE"));
  run_.settings.seed = -1;
  run_.settings.out = dir_ / "second";
  EXPECT_EQ(synthesize_now().find("seeded"), nullptr);
}

TEST_F(Synth, TheSameSeedGivesTheSameBytesAtAnyThreadCount) {
  for (const bool scripted : {false, true}) {
    if (scripted) script();
    run_.settings.seed = 12;
    std::vector<std::string> releases;
    for (const int threads : {1, 2}) {
      run_.threads = {threads};
      run_.settings.out = dir_ / ("t" + std::to_string(threads) + (scripted ? "s" : "i"));
      synthesize_now();
      releases.push_back(read_file(file("synthetic.csv")) + read_file(file("measurements.json")) +
                         read_file(file("release.json")));
    }
    EXPECT_EQ(releases[0], releases[1]);
    run_.settings.seed = 13;
    run_.settings.out = dir_ / (scripted ? "others" : "otheri");
    synthesize_now();
    EXPECT_NE(read_file(file("synthetic.csv")) + read_file(file("measurements.json")) +
                  read_file(file("release.json")),
              releases[0]);
  }
}

TEST_F(Synth, WithoutASeedNoTwoReleasesAreAlike) {
  synthesize_now();
  const std::string first = read_file(file("measurements.json"));
  run_.settings.out = dir_ / "second";
  synthesize_now();
  EXPECT_NE(read_file(file("measurements.json")), first);
}

// ---- The ledger ---------------------------------------------------------------------------------

TEST_F(Synth, IsChargedToTheLedgerItNames) {
  make_ledger();
  script();
  const Document r = synthesize_now();
  const Ledger ledger = Ledger::open(run_.settings.ledger);
  const auto report = ledger.report();
  ASSERT_EQ(report.runs.size(), 1U);
  const LedgerRun& run = report.runs.front();
  EXPECT_EQ(run.mechanism, "scripted");
  EXPECT_EQ(run.label, "release");  // the folder's name, not where it stands
  EXPECT_EQ(run.steps, 31);         // thirty, and the number of rows, which is free
  ASSERT_TRUE(run.spent);
  EXPECT_LT(run.spent->rho, run.reserved.rho);
  EXPECT_EQ(run.reserved.rho.upper_bound(), r.at("guarantee").at("rho").as_number());
  const Document& cited = r.at("ledger");
  EXPECT_EQ(keys_of(cited), (std::vector<std::string>{"dataset", "run", "head"}));
  EXPECT_EQ(cited.at("dataset").as_string(), "people");
  EXPECT_EQ(cited.at("run").as_string(), run.id);
  const std::vector<std::string> anchors = {cited.at("head").as_string()};
  EXPECT_TRUE(ledger.verify(anchors).whole());
}

TEST_F(Synth, APureRunIsChargedAsPure) {
  make_ledger();
  run_.settings.delta = 0.0;
  synthesize_now();
  const auto report = Ledger::open(run_.settings.ledger).report();
  ASSERT_TRUE(report.runs.front().spent->pure);
  EXPECT_EQ(report.total.composition, Composition::Pure);
  EXPECT_LE(report.total.epsilon.value(), 1.0);
}

TEST_F(Synth, IsRefusedBeforeDataIsReadAndLeavesNothing) {
  make_ledger(0.5);
  run_.settings.private_source = dir_ / "none.csv";
  EXPECT_THROW(synthesize(run_), BudgetError);
  EXPECT_FALSE(fs::exists(run_.settings.out + ".partial"));
  EXPECT_TRUE(Ledger::open(run_.settings.ledger).report().runs.empty());
}

TEST_F(Synth, ASeededRunIsRefusedByALedger) {
  make_ledger();
  run_.settings.seed = 1;
  EXPECT_TRUE(contains(error_of<BudgetError>([&] { synthesize(run_); }), "seeded"));
  EXPECT_FALSE(fs::exists(run_.settings.out + ".partial"));
}

TEST_F(Synth, AnotherRelationThanTheLedgersIsRefused) {
  make_ledger();
  run_.settings.neighbors = "add-remove";
  EXPECT_THROW(synthesize(run_), BudgetError);
  run_.settings.neighbors = "replace-one";
  run_.settings.rows_per_person = 2;  // protects more
  EXPECT_NO_THROW(synthesize(run_));
}

TEST_F(Synth, APrivateFileThatCannotBeUsedCostsNothingAndLeavesNothing) {
  const Ledger ledger = make_ledger();
  const std::string good = run_.settings.private_source;
  for (const std::string& bad : {dir_ / "none.csv", dir_.write("header.csv", "a,b\n1,2\n"),
                                 dir_.write("empty.csv", "a,b,c\n")}) {
    run_.settings.private_source = bad;
    EXPECT_THROW(synthesize(run_), UsageError);
    EXPECT_FALSE(fs::exists(run_.settings.out + ".partial"));
    EXPECT_EQ(ledger.report().total.epsilon.value(), 0.0);
  }
  run_.settings.private_source = good;
  EXPECT_NO_THROW(synthesize(run_));
}

TEST_F(Synth, AFailureAfterSomethingWasDrawnKeepsItsReservationAndItsSteps) {
  const Ledger ledger = make_ledger();
  script();
  run_.settings.parameters = {"fail-after=5"};
  EXPECT_THROW(synthesize(run_), SourceError);
  EXPECT_EQ(lines_of(partial(".run/transcript.jsonl")), 6U);
  const auto runs = ledger.report().runs;
  ASSERT_EQ(runs.size(), 1U);
  EXPECT_FALSE(runs.front().spent);
  EXPECT_NEAR(ledger.report().total.epsilon.value(), 1.0, 1e-6);
}

// A mechanism that measures once and then fails by this.
template <class Failure>
Mechanism failing_mechanism() {
  struct Options {};
  return make_mechanism<Options>(
      {.name = "failing", .summary = "fails", .reference = ""},
      +[](Curator& curator, const Problem&, const Options&, Rng&) -> Release {
        curator.measure({Clique{0}}, curator.remaining() / 4.0);
        throw Failure("It fails.");
      },
      +[](const Curator&, const Problem&, const Options&) { return Plan(); }, {});
}

TEST_F(Synth, AnErrorThatWouldComeAgainSettlesWhatWasSpent) {
  const Ledger ledger = make_ledger();
  run_.find = [](const std::string&) { return failing_mechanism<UsageError>(); };
  const std::string message = refusal();
  EXPECT_TRUE(contains(message, "It fails. Of this run's budget 25% was spent")) << message;
  EXPECT_TRUE(contains(message, "can't be resumed")) << message;
  EXPECT_FALSE(fs::exists(run_.settings.out + ".partial"));
  const auto report = ledger.report();
  ASSERT_TRUE(report.runs.front().spent);
  EXPECT_NEAR(report.runs.front().spent->rho.upper_bound(),
              report.runs.front().reserved.rho.upper_bound() / 4.0, 1e-9);
  run_.resume = true;
  EXPECT_TRUE(contains(refusal(), "holds no interrupted release"));
}

TEST_F(Synth, AnErrorThatAResumeCanMendKeepsTheReservationAndSaysHowToGoOn) {
  const Ledger ledger = make_ledger();
  run_.find = [](const std::string&) { return failing_mechanism<SourceError>(); };
  const std::string message = error_of<SourceError>([&] { synthesize(run_); });
  EXPECT_TRUE(contains(message, "'tandem synth --resume --out " + run_.settings.out + "'"))
      << message;
  EXPECT_FALSE(ledger.report().runs.front().spent);
  EXPECT_TRUE(ReleaseFolder::is_interrupted(run_.settings.out));
}

TEST_F(Synth, AFileThatIsMissingOnResumeLosesNothing) {
  const Ledger ledger = make_ledger();
  script();
  interrupt_after(3);
  fs::rename(dir_ / "private.csv", dir_ / "away.csv");
  EXPECT_THROW(synthesize(run_), UsageError);
  EXPECT_TRUE(ReleaseFolder::is_interrupted(run_.settings.out));
  EXPECT_FALSE(ledger.report().runs.front().spent);
  fs::rename(dir_ / "away.csv", dir_ / "private.csv");
  EXPECT_NO_THROW(synthesize(run_));
}

// ---- Found before anything is spent -------------------------------------------------------------

TEST_F(Synth, ContradictoryRulesAreFoundBeforeAnythingIsSpent) {
  const Ledger ledger = make_ledger();
  run_.settings.schema =
      dir_.write("rules.toml", read_file(run_.settings.schema) +
                                   "[[rule]]\nif = \"a = F\"\nthen = \"b < 3\"\n"
                                   "[[rule]]\nif = \"a = M\"\nthen = \"b < 3\"\n"
                                   "[[rule]]\nif = \"c >= 0\"\nthen = \"b > 5\"\n");
  run_.settings.public_sources = {dir_.write("public.csv", "a,b,c\nF,1,2\nM,2,3\n")};
  for (const char* mechanism : {"tandem", "aim", "mst", "private-pgm", "jam-pgm", "mwem", "mw-pub",
                                "mwem-pub", "gem", "gem-pub", "independent", "ide", "mre"}) {
    run_.settings.mechanism = mechanism;
    EXPECT_TRUE(contains(refusal(), "contradict each other")) << mechanism << refusal();
    EXPECT_THROW(plan_synthesis(run_), UsageError) << mechanism;
    EXPECT_TRUE(ledger.report().runs.empty()) << mechanism;
  }
}

TEST_F(Synth, BadPublicInputIsFoundBeforeAnythingIsSpent) {
  const Ledger ledger = make_ledger();
  run_.settings.neighbors = "add-remove";
  run_.settings.ledger = dir_ / "add-remove.ledger";
  const Ledger other = Ledger::create(
      run_.settings.ledger, {"people", Epsilon(10.0), Delta(1e-9), {Neighbors::AddRemove, 1}});
  const auto refused = [&](const std::string& mechanism, const std::string& param) {
    run_.settings.mechanism = mechanism;
    run_.settings.parameters.clear();
    if (!param.empty()) run_.settings.parameters = {param};
    EXPECT_FALSE(refusal().empty()) << mechanism << param;
    EXPECT_THROW(plan_synthesis(run_), UsageError) << mechanism << param;
    EXPECT_TRUE(other.report().runs.empty()) << mechanism << param;
  };
  run_.settings.public_sources = {dir_.write("header.csv", "a,b,c\n")};
  for (const char* mechanism : {"mw-pub", "mwem-pub", "jam-pgm", "gem-pub", "ide", "mre"})
    refused(mechanism, "");
  run_.settings.public_sources = {dir_.write("public.csv", "a,b,c\nF,1,2\nM,2,3\n")};
  refused("mw-pub", "public-weights=1,2");
  refused("mw-pub", "public-weights=0");
  for (const char* mechanism : {"ide", "mre", "private-pgm"}) {
    refused(mechanism, "marginals=a+nobody");
  }
  run_.settings.schema = dir_.write("single.json", R"({"b": 1, "c": 1})");
  run_.settings.public_sources = {dir_.write("zeros.csv", "b,c\n0,0\n")};
  for (const char* mechanism :
       {"mw-pub", "mwem-pub", "mwem", "jam-pgm", "gem", "gem-pub", "ide", "mre"}) {
    refused(mechanism, "");
  }
}

TEST_F(Synth, PublicDataThatDoesNotFitCostsNothing) {
  const Ledger ledger = make_ledger();
  run_.settings.public_sources = {dir_ / "none.csv"};
  EXPECT_THROW(synthesize(run_), UsageError);
  EXPECT_TRUE(ledger.report().runs.empty());
  EXPECT_FALSE(fs::exists(run_.settings.out + ".partial"));
}

TEST_F(Synth, WarnsOfAPromiseThatIsHardlyOne) {
  const auto keys = [](const std::vector<Warning>& warnings) {
    std::vector<std::string> out;
    for (const auto& warning : warnings) {
      if (warning.key.starts_with("promise.")) out.push_back(warning.key);
    }
    return out;
  };
  using Keys = std::vector<std::string>;
  EXPECT_EQ(keys(warnings_in(synthesize_now())), Keys{});
  run_.force = true;
  run_.settings.delta = 0.01;  // of 300 rows
  run_.settings.epsilon = 20.5;
  const Keys both = {"promise.epsilon", "promise.delta"};
  EXPECT_EQ(keys(plan_synthesis(run_).warnings), both);
  const Document release = synthesize_now();
  EXPECT_EQ(keys(warnings_in(release)), both);
  EXPECT_TRUE(contains(warnings_in(release).back().text, "one over the 300 rows"));
  run_.settings.epsilon = 20.0;
  run_.settings.delta = 1.0 / 400;
  EXPECT_EQ(keys(warnings_in(synthesize_now())), Keys{});
  run_.settings.make = "answers";
  run_.settings.mechanism = "auto";
  run_.settings.epsilon = 50.0;
  EXPECT_EQ(keys(warnings_in(synthesize_now())), Keys{"promise.epsilon"});
}

// ---- Resuming -----------------------------------------------------------------------------------

TEST_F(Synth, AFinishedReleaseIsLeftAsItIs) {
  make_ledger();
  synthesize_now();
  const std::string before = read_file(file("synthetic.csv"));
  run_.resume = true;
  const auto summary = synthesize(run_);
  EXPECT_TRUE(summary.was_whole);
  EXPECT_TRUE(contains(to_text(summary), "already whole"));
  EXPECT_EQ(read_file(file("synthetic.csv")), before);
  EXPECT_EQ(Ledger::open(run_.settings.ledger).report().runs.size(), 1U);
}

TEST_F(Synth, NothingToResumeIsAUsageError) {
  run_.resume = true;
  EXPECT_TRUE(contains(refusal(), "holds no interrupted release"));
}

TEST_F(Synth, GoesOnAfterAnyStepWithTheSameChargeAndTheSameSteps) {
  script();
  for (const bool with_ledger : {false, true}) {
    if (with_ledger) make_ledger(1000.0);
    run_.resume = false;
    run_.settings.out = dir_ / (with_ledger ? "whole-l" : "whole");
    const Document whole = synthesize_now();
    for (std::size_t step = 2; step <= 31; ++step) {  // the first is free
      run_.resume = false;
      run_.settings.out = dir_ / ((with_ledger ? "l" : "n") + std::to_string(step));
      interrupt_after(step);
      const std::string drawn = read_file(partial(".run/transcript.jsonl"));
      EXPECT_EQ(lines_of(partial(".run/transcript.jsonl")), step);
      EXPECT_FALSE(fs::exists(run_.settings.out));
      interrupt_after(std::min<std::size_t>(step + 2, 31));  // and again
      EXPECT_TRUE(read_file(partial(".run/transcript.jsonl")).starts_with(drawn));
      const Document r = synthesize_now();
      EXPECT_EQ(r.at("spent").to_json(), whole.at("spent").to_json());
      EXPECT_EQ(r.at("steps").as_array().size(), 31U);
    }
  }
}

TEST_F(Synth, SettingsThatChangedAreRefused) {
  script();
  interrupt_after(3);
  const SynthSettings unchanged = run_.settings;
  const std::vector<std::pair<std::string, std::function<void(SynthSettings&)>>> changes = {
      {"private", [](auto& s) { s.private_source += "x"; }},
      {"epsilon", [](auto& s) { s.epsilon = 2.0; }},
      {"delta", [](auto& s) { s.delta = 1e-8; }},
      {"neighbors", [](auto& s) { s.neighbors = "add-remove"; }},
      {"rows-per-person", [](auto& s) { s.rows_per_person = 2; }},
      {"person", [](auto& s) { s.person = "who"; }},
      {"workload", [](auto& s) { s.workload = "all-2way"; }},
      {"param", [](auto& s) { s.parameters = {"steps=29"}; }},
      {"rows", [](auto& s) { s.rows = 7; }},
      {"seed", [](auto& s) { s.seed = 7; }},
  };
  for (const auto& [name, change] : changes) {
    run_.settings = unchanged;
    change(run_.settings);
    EXPECT_EQ(refusal(), "--" + name +
                             " is not what the interrupted release began with; resume it "
                             "unchanged, or start anew with --force.");
  }
  run_.settings = unchanged;
  run_.settings.memory_limit = "1GB";
  EXPECT_NO_THROW(synthesize(run_));
}

TEST_F(Synth, ALedgerCannotBeLeftOutOnResume) {
  make_ledger();
  script();
  interrupt_after(3);
  run_.settings.ledger.clear();
  EXPECT_TRUE(contains(refusal(), "--ledger"));
}

TEST_F(Synth, AChangedSchemaIsRefused) {
  script();
  interrupt_after(3);
  dir_.write("schema.toml", read_file(run_.settings.schema) + "[csv]\ndelimiter = ';'\n");
  EXPECT_TRUE(contains(refusal(), "schema has changed"));
}

TEST_F(Synth, ChangedPublicFilesWorkloadsAndBuildsAreRefused) {
  script();
  const std::string rows = "a,b,c\nF,1,2\nM,2,3\n";
  run_.settings.public_sources = {dir_.write("public.csv", rows)};
  run_.settings.workload = dir_.write("workload.json", R"({"marginals": [["a", "b"]]})");
  interrupt_after(3);
  dir_.write("public.csv", rows + "M,3,3\n");
  EXPECT_TRUE(contains(refusal(), "public.csv' has changed since the release began"));
  dir_.write("public.csv", rows);
  dir_.write("workload.json", R"({"marginals": [["a", "c"]]})");
  EXPECT_TRUE(contains(refusal(), "The workload has changed"));
  dir_.write("workload.json", R"({"marginals": [["a", "b"]]})");
  const std::string good = read_file(partial(".run/run.json"));
  edit_record("build", "0123456789abcdef");
  EXPECT_TRUE(contains(refusal(), "build names another build"));
  dir_.write("release.partial/.run/run.json", good);
  EXPECT_NO_THROW(synthesize(run_));
}

TEST_F(Synth, TheSamePublicFilesMayLieElsewhereOnResume) {
  script();
  const std::string rows = "a,b,c\nF,1,2\nM,2,3\n";
  const std::string workload = R"({"marginals": [["a", "b"]]})";
  run_.settings.public_sources = {dir_.write("public.csv", rows)};
  run_.settings.workload = dir_.write("workload.json", workload);
  interrupt_after(3);
  fs::create_directory(dir_ / "moved");
  run_.settings.schema = dir_.write("moved/schema.toml", read_file(run_.settings.schema));
  run_.settings.public_sources = {dir_.write("moved/public.csv", rows)};
  run_.settings.workload = dir_.write("moved/workload.json", workload);
  run_.settings.private_source += "x";
  EXPECT_TRUE(contains(refusal(), "--private is not what the interrupted release began with"));
  run_.settings.private_source.pop_back();
  EXPECT_NO_THROW(synthesize(run_));
}

TEST_F(Synth, AFolderThatWasMovedCanBeResumed) {
  script();
  interrupt_after(3);
  fs::rename(dir_ / "release.partial", dir_ / "moved.partial");
  run_.settings.out = dir_ / "moved";
  EXPECT_NO_THROW(synthesize(run_));
  EXPECT_TRUE(ReleaseFolder::is_whole(dir_ / "moved"));
}

TEST_F(Synth, SettingsComeBackFromTheRecord) {
  script();
  interrupt_after(3);
  SynthSettings given;
  given.out = run_.settings.out;
  given.epsilon = 5.0;
  const auto only = [](std::string name) {
    return [name](std::string_view asked) { return asked == name; };
  };
  const auto settings = settings_to_resume(given.out, given, only("none"));
  EXPECT_EQ(to_document(settings).to_json(), to_document(run_.settings).to_json());
  EXPECT_EQ(settings_to_resume(given.out, given, only("epsilon")).epsilon, 5.0);
}

TEST_F(Synth, AnInterruptedForceIsResumedAndTheFormerReleaseStaysTillThen) {
  script();
  synthesize_now();
  const std::string former = read_file(file("measurements.json"));
  run_.force = true;
  interrupt_after(5);
  EXPECT_EQ(read_file(file("measurements.json")), former);
  SynthSettings given;
  given.out = run_.settings.out;
  run_.settings = settings_to_resume(given.out, given, [](std::string_view) { return false; });
  EXPECT_FALSE(synthesize(run_).was_whole);
  EXPECT_NE(read_file(file("measurements.json")), former);
}

// ---- Records of another version, or damaged -----------------------------------------------------

TEST_F(Synth, ARecordOfAnotherVersionIsRefused) {
  script();
  interrupt_after(3);
  const auto ask_settings = [&] {
    return error_of<UsageError>(
        [&] { settings_to_resume(run_.settings.out, {}, [](std::string_view) { return false; }); });
  };
  const std::string good = read_file(partial(".run/run.json"));
  Document newer = Document::parse_json(good, "run.json");
  Document settings = newer.at("settings");
  settings.set("colour", "red");  // what the newer version knows and this one doesn't
  newer.set("format", 99);
  newer.set("settings", settings);
  dir_.write("release.partial/.run/run.json", newer.to_json());
  EXPECT_TRUE(contains(refusal(), "format was written by another version"));
  EXPECT_TRUE(contains(ask_settings(), "format was written by another version"));
  dir_.write("release.partial/.run/run.json", good);
  edit_record("tandem", "99.0.0");
  EXPECT_TRUE(contains(refusal(), "tandem names another version"));
}

TEST_F(Synth, ADamagedRecordIsRefused) {
  make_ledger();
  script();
  interrupt_after(3);
  const std::string good = read_file(partial(".run/run.json"));
  for (const std::string& bad :
       {std::string(), std::string("[]"), std::string("{}"), std::string("\x00\x01", 2),
        std::string("{\"format\": 1}"), std::string("{\"format\": \"1\"}"),
        good.substr(0, good.size() / 2)}) {
    dir_.write("release.partial/.run/run.json", bad);
    EXPECT_THROW(synthesize(run_), UsageError) << bad;
  }
  for (const auto& [key, value] : std::vector<Document::Member>{{"run", "../../etc"},
                                                                {"run", ""},
                                                                {"run", 7},
                                                                {"rng", "0x12"},
                                                                {"rng", 7},
                                                                {"schema_sha256", 3},
                                                                {"settings", Document::array()}}) {
    dir_.write("release.partial/.run/run.json", good);
    edit_record(key, value);
    EXPECT_THROW(synthesize(run_), UsageError) << key;
  }
  dir_.write("release.partial/.run/run.json", good);
  EXPECT_NO_THROW(synthesize(run_));
}

TEST_F(Synth, AnotherRunsIdIsRefusedByTheLedger) {
  make_ledger();
  script();
  interrupt_after(3);
  edit_record("run", std::string(32, '0'));  // would be reserved anew, and has no steps
  EXPECT_NO_THROW(synthesize(run_));
  EXPECT_EQ(Ledger::open(run_.settings.ledger).report().runs.size(), 2U);  // and both are charged
}

TEST_F(Synth, ADamagedTranscriptIsRefused) {
  script();
  interrupt_after(4);
  const std::string path = "release.partial/.run/transcript.jsonl";
  const std::string good = read_file(dir_ / path);
  const std::string first = good.substr(0, good.find('\n') + 1);
  for (const std::string& bad :
       {std::string("\n"), std::string("{}\n"), std::string("[]\n"), std::string("rubbish\n"),
        std::string("{\"request\":1,\"results\":[]}\n"),
        std::string("{\"request\":\"x\",\"results\":[]}\n"),
        std::string("{\"request\":\"x\",\"results\":[[0.5]]}\n"),
        std::string("{\"request\":\"x\",\"results\":[],\"more\":1}\n"),
        first.substr(0, first.find("results")) + "results\":[]}\n",
        first.substr(0, first.find("results")) + "results\":[[1,2]]}\n", first + first}) {
    dir_.write(path, bad);
    EXPECT_THROW(synthesize(run_), UsageError) << bad;
  }
  dir_.write(path, good);
  EXPECT_NO_THROW(synthesize(run_));
}

TEST_F(Synth, ALastLineCutShortIsDrawnAgainAndNoOther) {
  make_ledger();
  script();
  interrupt_after(4);
  const std::string path = "release.partial/.run/transcript.jsonl";
  const std::string good = read_file(dir_ / path);
  dir_.write(path, good + "{\"request\":\"abc");  // killed while writing step 5
  EXPECT_NO_THROW(synthesize(run_));
}

TEST_F(Synth, ATranscriptThatForgotAStepIsRefusedByTheLedger) {
  make_ledger();
  script();
  interrupt_after(4);
  const std::string path = "release.partial/.run/transcript.jsonl";
  const std::string good = read_file(dir_ / path);
  dir_.write(path, good.substr(0, good.find('\n') + 1));  // three steps would be drawn again
  EXPECT_TRUE(contains(error_of<BudgetError>([&] { synthesize(run_); }), "step 1"));
  EXPECT_THROW(synthesize(run_), BudgetError);
}

TEST_F(Synth, AWholeReleaseOfAnotherVersionOrDamagedIsRefused) {
  synthesize_now();
  run_.resume = true;
  const std::string good = read_file(file("release.json"));
  for (const char* bad : {"", "{", "[]", "{}", "{\"format\": \"x\"}", "{\"format\": 3}"}) {
    dir_.write("release/release.json", bad);
    EXPECT_THROW(synthesize(run_), UsageError) << bad;
  }
  dir_.write("release/release.json", "{\"format\": 3}");
  EXPECT_TRUE(contains(refusal(), "format was written by another version"));
}

// ---- Calls that are wrong -----------------------------------------------------------------------

TEST_F(Synth, SaysWhatIsMissingOrOutOfRange) {
  const SynthSettings good = run_.settings;
  const std::vector<std::pair<std::string, std::function<void(SynthSettings&)>>> changes = {
      {"--private is missing", [](auto& s) { s.private_source.clear(); }},
      {"--schema is missing", [](auto& s) { s.schema.clear(); }},
      {"--epsilon is missing", [](auto& s) { s.epsilon = 0.0; }},
      {"--epsilon", [](auto& s) { s.epsilon = -1.0; }},
      {"--epsilon", [](auto& s) { s.epsilon = std::nan(""); }},
      {"--epsilon", [](auto& s) { s.epsilon = 1e9; }},
      {"--delta is 1", [](auto& s) { s.delta = 1.0; }},
      {"--delta is -", [](auto& s) { s.delta = -1e-9; }},
      {"--delta is nan", [](auto& s) { s.delta = std::nan(""); }},
      {"--neighbors is 'some'", [](auto& s) { s.neighbors = "some"; }},
      {"--rows-per-person is 0", [](auto& s) { s.rows_per_person = 0; }},
      {"--mechanism 'magic' is unknown", [](auto& s) { s.mechanism = "magic"; }},
      {"'some-3way'", [](auto& s) { s.workload = "some-3way"; }},
      {"--param 'rounds' is unknown", [](auto& s) { s.parameters = {"rounds=3"}; }},
      {"--param 'rounds' is not of the form", [](auto& s) { s.parameters = {"rounds"}; }},
      {"--rows is -1", [](auto& s) { s.rows = -1; }},
      {"--rows is 1000000001", [](auto& s) { s.rows = 1'000'000'001; }},
      {"--format is 'parquet'", [](auto& s) { s.format = "parquet"; }},
      {"--seed is -5", [](auto& s) { s.seed = -5; }},
      {"--memory-limit is 'much'", [](auto& s) { s.memory_limit = "much"; }},
      {"--memory-limit", [](auto& s) { s.memory_limit = "1KB"; }},
      {"--out is empty", [](auto& s) { s.out.clear(); }},
  };
  for (const auto& [expected, change] : changes) {
    run_.settings = good;
    change(run_.settings);
    EXPECT_TRUE(contains(refusal(), expected));
  }
  EXPECT_FALSE(fs::exists(good.out + ".partial"));
  EXPECT_FALSE(fs::exists(good.out));
}

TEST_F(Synth, AnEpsilonTooSmallToUseIsAUsageErrorThatCostsNothing) {
  const Ledger ledger = make_ledger();
  for (const double epsilon : {1e-300, 1e-100, 1e-25, 1e-20, 1e-15}) {
    for (const double delta : {0.0, 1e-9}) {
      run_.settings.epsilon = epsilon;
      run_.settings.delta = delta;
      EXPECT_TRUE(contains(refusal(), "--epsilon")) << epsilon << ' ' << delta;
      EXPECT_FALSE(fs::exists(run_.settings.out + ".partial"));
    }
  }
}

// ---- Planning -----------------------------------------------------------------------------------

TEST_F(Synth, APlanSpendsNothingAndReadsNothingPrivate) {
  const Ledger ledger = make_ledger();
  run_.settings.private_source = dir_ / "none.csv";
  const auto plan = plan_synthesis(run_);
  const std::string text = to_text(plan);
  EXPECT_TRUE(text.starts_with("Mechanism independent: "));
  EXPECT_TRUE(contains(text, "Guarantee: epsilon 1, delta 1e-09 (rho 0.01497"));
  EXPECT_TRUE(contains(text, "replace-one, 1 row a person.\n"));
  EXPECT_TRUE(text.ends_with("\nNothing was spent and no private data was read.\n"));
  const Document document = to_document(plan);
  const auto& step = document.at("steps").as_array()[0];
  EXPECT_EQ(step.at("key").as_string(), "measure");
  EXPECT_EQ(step.at("marginals").as_integer(), 3);
  EXPECT_GT(step.at("sigma").as_number(), 10.0);
  EXPECT_EQ(document.at("guarantee").at("epsilon").as_number(), 1.0);
  EXPECT_TRUE(ledger.report().runs.empty());
  EXPECT_FALSE(fs::exists(run_.settings.out + ".partial"));
}

// 3% of the budget measures the error of the rows that were made.
TEST_F(Synth, RowsAreCertifiedOnceUnlessTheCallSaysOtherwise) {
  run_.settings.certify_share = 0.03;
  run_.settings.epsilon = 1000.0;
  const auto with = synthesize(run_).release;
  const Document& error = with.at("certified_error");
  EXPECT_GE(error.at("at_most").as_number(), error.at("average_error").as_number());
  EXPECT_EQ(with.at("steps").as_array().back().at("kind").as_string(), "measure_score");
  EXPECT_NEAR(with.at("steps").as_array().back().at("rho").as_number(),
              0.03 * with.at("guarantee").at("rho").as_number(), 1e-9);
  run_.settings.certify_share = 0.0;
  run_.force = true;
  EXPECT_EQ(synthesize(run_).release.find("certified_error"), nullptr);
  run_.settings.certify_share = 0.6;
  EXPECT_THROW(synthesize(run_), UsageError);
}

TEST_F(Synth, ACertificateIsNotDrawnAgain) {
  run_.settings.certify_share = 0.03;
  run_.settings.epsilon = 1000.0;
  run_.settings.seed = 7;
  const auto whole = synthesize(run_).release;
  const auto steps = whole.at("steps").as_array().size();
  for (std::size_t step = 2; step <= steps; ++step) {  // the first is free
    run_.settings.out = dir_ / ("stopped" + std::to_string(step));
    run_.progress = [step](const RunProgress& progress) {
      if (progress.step == step) throw SourceError("killed");
    };
    EXPECT_THROW(synthesize(run_), SourceError);
    run_.progress = nullptr;
    run_.resume = true;
    EXPECT_EQ(synthesize(run_).release.at("certified_error").to_json(),
              whole.at("certified_error").to_json());
    run_.resume = false;
  }
}

TEST_F(Synth, APlanSaysWhyALedgerWouldRefuse) {
  make_ledger();
  EXPECT_TRUE(contains(to_text(plan_synthesis(run_)), "it would accept this run.\n"));
  const auto refused = [&](const std::string& because) {
    const auto plan = plan_synthesis(run_);
    EXPECT_TRUE(contains(to_text(plan), "it would refuse this run: ")) << because;
    EXPECT_TRUE(contains(plan.ledger->refusal, because)) << plan.ledger->refusal;
    const Document ledger = to_document(plan).at("ledger");
    EXPECT_FALSE(ledger.at("accepts").as_bool());
    EXPECT_EQ(ledger.at("refusal").as_string(), plan.ledger->refusal);
    EXPECT_THROW(synthesize(run_), BudgetError);
  };
  const SynthSettings accepted = run_.settings;
  run_.settings.epsilon = 50.0;
  refused("left is a run of epsilon ");
  run_.settings = accepted;
  run_.settings.neighbors = "add-remove";
  refused("the ledger protects replace-one, 1 row");
  run_.settings = accepted;
  run_.settings.seed = 1;
  refused("a seeded run is not private");
  run_.settings = accepted;
  Ledger::create(dir_ / "pure.ledger", {"people", Epsilon(2.0), Delta(0.0), PrivacyUnit{}});
  run_.settings.ledger = dir_ / "pure.ledger";
  refused("the ledger has delta 0");
}

TEST_F(Synth, ASummaryEndsWithWhatIsLeft) {
  make_ledger();
  const std::string text = to_text(synthesize(run_));
  EXPECT_TRUE(contains(text, "  in words     Whatever anybody learns from this release"));
  EXPECT_TRUE(contains(text, "is spent or reserved; left is a run of epsilon ")) << text;
  EXPECT_FALSE(contains(text, "rho"));
}

// A file that a parameter names is public like the others: named without its folders, pinned, and
// never the private one.
TEST_F(Synth, FilesThatParametersNameArePublicFiles) {
  const std::string coarse = dir_.write("coarse.csv", "0,low\n1,low\n2,high\n");
  run_.settings.public_sources = {dir_.write("public.csv", "a,b,c\nF,1,0\nM,2,1\nF,3,2\n")};
  run_.settings.mechanism = "grouped";
  run_.settings.parameters = {"fine=b", "coarse=" + coarse};
  const auto release = synthesize_now();
  EXPECT_EQ(release.at("parameters").at("coarse").as_string(), "coarse.csv");
  const auto& files = release.at("public").as_array();
  ASSERT_EQ(files.size(), 2U);
  EXPECT_EQ(files[1].at("name").as_string(), "coarse.csv");
  EXPECT_EQ(files[1].at("sha256").as_string(), sha256_of_file(coarse));

  RunRecord record{.id = {}, .rng = 0, .inputs = {}, .settings = run_.settings};
  record.inputs.parameter_files = {{"coarse", coarse, "aa"}};
  EXPECT_NO_THROW(check_same_run(record, run_.settings, record.inputs));
  PinnedInputs other = record.inputs;
  other.parameter_files[0].digest = "bb";
  EXPECT_TRUE(contains(error_of<UsageError>([&] { check_same_run(record, run_.settings, other); }),
                       "has changed"));

  run_.settings.out = dir_ / "another";
  run_.settings.parameters[1] = "coarse=" + run_.settings.private_source;
  EXPECT_TRUE(contains(refusal(), "is the private file itself"));
}

}  // namespace
}  // namespace tandem
