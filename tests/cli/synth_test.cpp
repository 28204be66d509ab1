// SPDX-License-Identifier: Apache-2.0
// tandem synth as a user calls it: flags, files, exit codes, and trouble.

#include <gtest/gtest.h>
#include <signal.h>
#include <sqlite3.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "support/command.h"
#include "support/errors.h"
#include "support/files.h"
#include "support/processes.h"
#include "tandem/base/document.h"
#include "tandem/privacy/ledger.h"

namespace tandem {
namespace {

namespace fs = std::filesystem;
using test::CommandResult;
using test::contains;
using test::read_file;
using test::StartedCommand;
using test::TempDir;

constexpr const char* kMarker = "XYZZYSECRET";

std::vector<std::string> keys_of(const Document& document) {
  std::vector<std::string> keys;
  for (const auto& [key, value] : document.as_object()) keys.push_back(key);
  return keys;
}

std::size_t lines_of(const std::string& path) {
  const std::string text = read_file(path);
  return static_cast<std::size_t>(std::ranges::count(text, '\n'));
}

class SynthCommand : public testing::Test {
 protected:
  SynthCommand() {
    std::string rows = "who,a,b,c\n";
    for (int r = 0; r < 200; ++r) {
      rows += "p" + std::to_string(r / 2) + (r % 4 == 0 ? ",F," : ",M,") + std::to_string(r % 10) +
              ',' + std::to_string(r * r % 5) + '\n';
    }
    rows += std::string("p0,") + kMarker + ",7," + kMarker + "\n";
    private_ = dir_.write("private.csv", rows);
    schema_ = dir_.write("schema.toml",
                         "[[column]]\nname = 'a'\nvalues = ['F', 'M']\n"
                         "[[column]]\nname = 'b'\nsize = 10\n"
                         "[[column]]\nname = 'c'\nsize = 5\n");
  }

  std::vector<std::string> arguments(const std::vector<std::string>& more = {}) const {
    std::vector<std::string> out = {TANDEM_COMMAND, "synth", "--private", private_,
                                    "--schema",     schema_, "--out",     out_};
    if (std::ranges::find(more, "--epsilon") == more.end()) {
      out.insert(out.end(), {"--epsilon", "1"});
    }
    out.insert(out.end(), more.begin(), more.end());
    return out;
  }

  CommandResult run(const std::vector<std::string>& more = {}) const {
    return test::run_command(arguments(more));
  }
  static CommandResult tandem(std::vector<std::string> call) {
    call.insert(call.begin(), TANDEM_COMMAND);
    return test::run_command(call);
  }
  Document release() const { return Document::read(out_ + "/release.json"); }

  // This exit code, nothing on stdout, and one sentence that names each of these.
  static void expect_error(const CommandResult& result, int exit_code,
                           const std::vector<std::string>& named) {
    EXPECT_EQ(result.exit_code, exit_code) << result.err;
    EXPECT_EQ(result.out, "");
    EXPECT_TRUE(result.err.starts_with("tandem: ")) << result.err;
    EXPECT_TRUE(result.err.ends_with(".\n") || result.err.ends_with("?\n")) << result.err;
    EXPECT_EQ(std::ranges::count(result.err, '\n'), 1) << result.err;
    EXPECT_LT(result.err.size(), 500U) << result.err;
    EXPECT_FALSE(contains(result.err, "please report")) << result.err;
    EXPECT_FALSE(contains(result.err, kMarker)) << result.err;
    for (const auto& name : named) EXPECT_TRUE(contains(result.err, name));
  }

  void make_ledger(const std::string& epsilon = "10", const std::string& delta = "1e-9") const {
    ASSERT_EQ(tandem({"budget", "create", "--ledger", ledger_, "--dataset", "people", "--epsilon",
                      epsilon, "--delta", delta})
                  .exit_code,
              0);
  }

  TempDir dir_{test::in_memory()};
  std::string private_;
  std::string schema_;
  std::string out_ = dir_ / "release";
  std::string ledger_ = dir_ / "people.ledger";
};

TEST_F(SynthCommand, ReadsQuotedRecordsWhereTheyAreStated) {
  // One record a person; the note is in no schema.
  const auto with_note = [&](const std::string& note) {
    std::string rows = "a,b,c,note\n";
    for (int r = 0; r < 40; ++r) rows += "F,1,2," + (r == 8 ? note : "\"fine\"") + "\n";
    private_ = dir_.write("notes.csv", rows);
  };
  const std::vector<std::string> stated = {"--records", "quoted", "--force"};
  for (const char* note : {"\"fine\"", "\"call\nme\nback\"", "\"\n\""}) {
    with_note(note);
    const auto result = run(stated);
    ASSERT_EQ(result.exit_code, 0) << result.err;
    EXPECT_TRUE(contains(result.out, "replace-one, 1 row a person, quoted records\n"));
    EXPECT_EQ(release().at("total").as_number(), 40.0);
    EXPECT_EQ(lines_of(out_ + "/synthetic.csv"), 41U);
  }
  with_note("\"call\nme\nback\"");
  ASSERT_EQ(run({"--records", "lines", "--force"}).exit_code, 0);
  EXPECT_EQ(release().at("total").as_number(), 42.0);
  const auto judged =
      tandem({"evaluate", "--real", private_, "--synthetic", out_ + "/synthetic.csv", "--schema",
              schema_, "--records", "quoted", "--workload", "all-1way", "--json"});
  EXPECT_EQ(judged.exit_code, 0) << judged.err;
  EXPECT_EQ(run({"--records", "quoted", "--force", "--plan"}).exit_code, 0);
}

TEST_F(SynthCommand, ALedgerRefusesRecordsOfTheOtherKindByName) {
  make_ledger();
  ASSERT_EQ(run({"--ledger", ledger_}).exit_code, 0);
  expect_error(run({"--ledger", ledger_, "--records", "quoted", "--force"}), 3,
               {"read records as lines, and this run reads them as quoted", "--records lines"});
  EXPECT_TRUE(contains(run({"--ledger", ledger_, "--records", "quoted", "--force", "--plan"}).out,
                       "refuse"));
}

TEST_F(SynthCommand, NarrowTablesNeedNoWorkload) {
  for (const char* columns : {"[[column]]\nname = 'b'\nsize = 10\n",
                              "[[column]]\nname = 'b'\nsize = 10\n[[column]]\nname = "
                              "'c'\nsize = 5\n"}) {
    schema_ = dir_.write("narrow.toml", columns);
    const auto result = run({"--force"});
    EXPECT_EQ(result.exit_code, 0) << result.err;
  }
  EXPECT_EQ(release().at("workload").as_string(), "all-2way");
}

// ---- Flags --------------------------------------------------------------------------------------

TEST_F(SynthCommand, MakesARelease) {
  const auto result = run();
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_EQ(result.err, "");
  EXPECT_TRUE(contains(result.out, "epsilon 1, delta 1e-09, replace-one"));
  EXPECT_EQ(release().at("rows").as_integer(), 201);
  EXPECT_EQ(lines_of(out_ + "/synthetic.csv"), 202U);
  EXPECT_FALSE(contains(read_file(out_ + "/synthetic.csv"), kMarker));
}

TEST_F(SynthCommand, TakesEveryFlag) {
  const std::string pub = dir_.write("public.csv", "a,b,c\nF,1,2\nM,2,3\n");
  const auto result = run({"--public",
                           pub,
                           "--public",
                           pub,
                           "--epsilon",
                           "0.5",
                           "--delta",
                           "1e-6",
                           "--neighbors",
                           "add-remove",
                           "--rows-per-person",
                           "2",
                           "--person",
                           "who",
                           "--mechanism",
                           "independent",
                           "--workload",
                           "all-2way",
                           "--rows",
                           "50",
                           "--seed",
                           "5",
                           "--format",
                           "csv",
                           "--memory-limit",
                           "1GB",
                           "--threads",
                           "2",
                           "--quiet"});
  ASSERT_EQ(result.exit_code, 0) << result.err;
  const Document r = release();
  EXPECT_EQ(r.at("guarantee").at("epsilon").as_number(), 0.5);
  EXPECT_EQ(r.at("guarantee").at("delta").as_number(), 1e-6);
  EXPECT_EQ(r.at("guarantee").at("neighbors").as_string(), "add-remove");
  EXPECT_EQ(r.at("guarantee").at("rows_per_person").as_integer(), 2);
  EXPECT_EQ(r.at("mechanism").as_string(), "independent");
  EXPECT_EQ(r.at("workload").as_string(), "all-2way");
  EXPECT_EQ(r.at("rows").as_integer(), 50);
  EXPECT_TRUE(r.at("seeded").as_bool());
  EXPECT_TRUE(contains(result.out, "NOT PRIVATE"));
}

TEST_F(SynthCommand, PrintsStableJson) {
  make_ledger();
  const auto result = run({"--json", "--ledger", ledger_, "--certify-share", "0"});
  ASSERT_EQ(result.exit_code, 0) << result.err;
  EXPECT_EQ(result.err, "");
  EXPECT_EQ(std::ranges::count(result.out, '\n'), 1);
  const Document json = Document::parse_json(result.out, "stdout");
  EXPECT_EQ(keys_of(json), (std::vector<std::string>{"format", "out", "release"}));
  EXPECT_EQ(json.at("format").as_integer(), 2);
  EXPECT_EQ(json.at("out").as_string(), out_);
  EXPECT_EQ(json.at("release").to_json(), release().to_json());
  EXPECT_EQ(keys_of(json.at("release")),
            (std::vector<std::string>{"format", "tandem", "id", "day", "mechanism", "parameters",
                                      "workload", "guarantee", "spent", "steps", "public", "total",
                                      "rows", "schema_sha256", "measurements_sha256",
                                      "model_sha256", "facts", "warnings", "ledger"}));
}

TEST_F(SynthCommand, TakesSettingsFromAFileAndFlagsWin) {
  const std::string config =
      dir_.write("tandem.toml", "private = '" + private_ + "'\nschema = '" + schema_ +
                                    "'\nepsilon = 3\ndelta = 1e-7\nworkload = 'all-1way'\nout = '" +
                                    out_ + "'\n");
  ASSERT_EQ(tandem({"synth", "--config", config, "--epsilon", "0.25"}).exit_code, 0);
  EXPECT_EQ(release().at("guarantee").at("epsilon").as_number(), 0.25);
  EXPECT_EQ(release().at("guarantee").at("delta").as_number(), 1e-7);
  EXPECT_EQ(release().at("workload").as_string(), "all-1way");
  const std::string wrong = dir_.write("wrong.toml", "epsilom = 3\n");
  expect_error(tandem({"synth", "--config", wrong}), 2, {wrong, "'epsilom'", "'epsilon'"});
  expect_error(tandem({"synth", "--config", dir_ / "none.toml"}), 2, {dir_ / "none.toml"});
}

TEST_F(SynthCommand, GivesTheSameBytesForTheSameSeedAtAnyThreadCount) {
  std::vector<std::string> seen;
  for (const char* threads : {"1", "2", "3"}) {
    ASSERT_EQ(run({"--seed", "9", "--threads", threads, "--force"}).exit_code, 0);
    seen.push_back(read_file(out_ + "/synthetic.csv") + read_file(out_ + "/release.json") +
                   read_file(out_ + "/measurements.json"));
  }
  EXPECT_EQ(seen[0], seen[1]);
  EXPECT_EQ(seen[0], seen[2]);
}

TEST_F(SynthCommand, ReadsGzip) {
  private_ = dir_.write_gzip("private.csv.gz", read_file(private_));
  EXPECT_EQ(run().exit_code, 0);
  EXPECT_EQ(release().at("rows").as_integer(), 201);
}

TEST_F(SynthCommand, NeverOverwritesWithoutForce) {
  ASSERT_EQ(run().exit_code, 0);
  const std::string before = read_file(out_ + "/measurements.json");
  expect_error(run(), 2, {out_, "--force"});
  EXPECT_EQ(read_file(out_ + "/measurements.json"), before);
  ASSERT_EQ(run({"--force"}).exit_code, 0);
  EXPECT_NE(read_file(out_ + "/measurements.json"), before);
}

TEST_F(SynthCommand, ResumeNeedsOnlyTheFolder) {
  ASSERT_EQ(run().exit_code, 0);
  const auto result = tandem({"synth", "--resume", "--out", out_});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_TRUE(contains(result.out, "already whole"));
  expect_error(tandem({"synth", "--resume", "--out", dir_ / "none"}), 2,
               {"holds no interrupted release"});
}

// ---- Plans --------------------------------------------------------------------------------------

TEST_F(SynthCommand, APlanTouchesNoPrivateFileAndSpendsNothing) {
  make_ledger();
  const std::string before = read_file(ledger_);
  private_ = dir_ / "none.csv";
  const auto result = run({"--plan", "--ledger", ledger_});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_TRUE(contains(result.out, "Nothing was spent and no private data was read."));
  EXPECT_FALSE(fs::exists(out_));
  EXPECT_FALSE(fs::exists(out_ + ".partial"));
  EXPECT_EQ(read_file(ledger_), before);
  // A pipe that nobody writes to would hold up whoever opens it.
  private_ = dir_ / "pipe.csv";
  ASSERT_EQ(mkfifo(private_.c_str(), 0600), 0);
  EXPECT_EQ(run({"--plan"}).exit_code, 0);
}

TEST_F(SynthCommand, APlanIsJsonWhenAsked) {
  const auto result = run({"--plan", "--json"});
  ASSERT_EQ(result.exit_code, 0) << result.err;
  const Document json = Document::parse_json(result.out, "stdout");
  EXPECT_EQ(keys_of(json), (std::vector<std::string>{"format", "plan"}));
  EXPECT_EQ(json.at("format").as_integer(), 2);
  const Document& plan = json.at("plan");
  EXPECT_EQ(plan.at("mechanism").as_string(), "tandem");
  EXPECT_EQ(plan.at("guarantee").at("epsilon").as_number(), 1.0);
  EXPECT_GT(plan.at("steps").as_array()[0].at("sigma").as_number(), 0.0);
  EXPECT_GT(plan.at("memory_limit").as_number(), plan.at("bytes").as_number());
}

TEST_F(SynthCommand, APlanSaysWhatGroupedWouldDoForGroupsThatAreNamed) {
  const std::string known = dir_.write("public.csv", "a,b,c\nF,1,0\nM,2,1\nF,3,2\n");
  const auto result = run({"--plan", "--public", known, "--group-by", "a"});
  ASSERT_EQ(result.exit_code, 0) << result.err;
  EXPECT_TRUE(contains(result.out, "Mechanism tandem"));
  EXPECT_TRUE(contains(result.out, "--mechanism grouped --param fine=a would learn each"));
  EXPECT_TRUE(contains(result.out, "Measures 2 groups within 1 coarser ones"));
  const auto json = Document::parse_json(
      run({"--plan", "--json", "--public", known, "--group-by", "a,b"}).out, "stdout");
  const Document& groups = json.at("plan").at("groups");
  EXPECT_EQ(groups.at("columns").as_string(), "a,b");
  EXPECT_EQ(groups.at("steps").as_array()[0].at("fine").as_number(), 20.0);
  EXPECT_GT(groups.at("bytes").as_number(), 0.0);
  expect_error(run({"--plan", "--public", known, "--group-by", "x"}), 2, {"'x'"});
  const auto alone = run({"--plan", "--group-by", "a"});
  EXPECT_EQ(alone.exit_code, 0) << alone.err;
  EXPECT_TRUE(contains(alone.out, "could not learn each by itself: grouped needs public data"));
  const std::string without = dir_.write("without.csv", "b,c\n1,0\n2,1\n3,2\n");
  const auto lacking = run({"--plan", "--public", without, "--group-by", "a"});
  EXPECT_EQ(lacking.exit_code, 0) << lacking.err;
  EXPECT_TRUE(contains(lacking.out, "Mechanism grouped"));
  EXPECT_TRUE(contains(lacking.out, "the plan for groups by a alone"));
  expect_error(run({"--public", known, "--group-by", "a"}), 2, {"--plan", "fine=a"});
}

TEST_F(SynthCommand, PublicDataMayLackTheKeysOfGroups) {
  const std::string known = dir_.write("public.csv", "b,c\n1,0\n2,1\n3,2\n");
  expect_error(run({"--public", known}), 2, {"'a'"});
  const auto result =
      run({"--public", known, "--mechanism", "grouped", "--param", "fine=a", "--epsilon", "10"});
  ASSERT_EQ(result.exit_code, 0) << result.err;
  const std::string rows = read_file(out_ + "/synthetic.csv");
  EXPECT_TRUE(contains(rows, "F,")) << rows.substr(0, 100);
  EXPECT_TRUE(contains(rows, "M,"));
}

TEST_F(SynthCommand, APlanIsRefusedLikeTheRun) {
  expect_error(run({"--plan", "--mechanism", "magic"}), 2, {"'magic'"});
  expect_error(run({"--plan", "--epsilon", "0"}), 2, {"--epsilon"});
  expect_error(run({"--plan", "--mechanism", "independent", "--param", "rounds=3"}), 2,
               {"'rounds'", "no parameters"});
  expect_error(run({"--plan", "--memory-limit", "10MB"}), 2, {"10.0 MB", "--memory-limit"});
}

// ---- Calls that are wrong -----------------------------------------------------------------------

TEST_F(SynthCommand, RefusesWrongCallsInOneSentence) {
  const struct {
    std::vector<std::string> flags;
    std::vector<std::string> named;
  } cases[] = {
      {{"--epsilon", "-1"}, {"--epsilon"}},
      {{"--epsilon", "nan"}, {"--epsilon"}},
      {{"--epsilon", "inf"}, {"--epsilon"}},
      {{"--epsilon", "many"}, {"--epsilon", "many"}},
      {{"--delta", "1"}, {"--delta"}},
      {{"--neighbors", "swap"}, {"'swap'", "replace-one", "add-remove"}},
      {{"--rows-per-person", "0"}, {"--rows-per-person"}},
      {{"--mechanism", "Independent"}, {"'Independent'", "'independent'"}},
      {{"--workload", "all-99way"}, {"99"}},
      {{"--workload", dir_ / "none.json"}, {"none.json"}},
      {{"--param", "rounds"}, {"KEY=VALUE"}},
      {{"--param", "a=1", "--param", "a=2"}, {"'a'", "twice"}},
      {{"--rows", "-3"}, {"--rows"}},
      {{"--rows", "1.5"}, {"--rows"}},
      {{"--seed", "-7"}, {"--seed"}},
      {{"--format", "parquet"}, {"parquet", "csv"}},
      {{"--memory-limit", "lots"}, {"--memory-limit", "8GB"}},
      {{"--memory-limit", "1KB"}, {"--memory-limit"}},
      {{"--threads", "-1"}, {"--threads"}},
      {{"--person", "nobody"}, {"'nobody'"}},
      {{"--public", dir_ / "none.csv"}, {"none.csv"}},
      {{"--ledger", dir_ / "none.ledger"}, {"none.ledger"}},
      {{"--ledger", schema_}, {schema_}},
      {{"--bogus"}, {"--bogus"}},
  };
  for (const auto& [flags, named] : cases) {
    expect_error(run(flags), 2, named);
    EXPECT_FALSE(fs::exists(out_)) << flags.front();
    EXPECT_FALSE(fs::exists(out_ + ".partial")) << flags.front();
  }
}

TEST_F(SynthCommand, SaysWhatIsMissing) {
  expect_error(tandem({"synth"}), 2, {"--private"});
  expect_error(tandem({"synth", "--private", private_}), 2, {"--schema"});
  expect_error(tandem({"synth", "--private", private_, "--schema", schema_}), 2, {"--epsilon"});
  expect_error(tandem({"synth", "--private", dir_ / "none.csv", "--schema", schema_, "--epsilon",
                       "1", "--out", out_}),
               2, {"none.csv"});
}

TEST_F(SynthCommand, MessagesNeverTellWhatPrivateRowsHold) {
  const std::string marker = kMarker;
  const std::vector<std::string> files = {
      marker + "\n" + marker + "\n",
      "a,b\n" + marker + ",1\n",
      "a,b,c\n\"" + marker + "\n",
      "a,b,c\n" + marker + "," + marker + "," + marker + "," + marker + "\n",
      "a,b,c\n" + marker + std::string(1, '\0') + ",1,2\n",
      "a,b,c\n" + std::string(17'000'000, 'x') + marker + ",1,2\n",
      "a,b,c,c\n" + marker + ",1,2,2\n",
      "\"a,b,c\n" + marker + "\",1,2\n",
      "a;b;c\n" + marker + ";1;2\n",
  };
  for (std::size_t i = 0; i < files.size(); ++i) {
    private_ = dir_.write("odd" + std::to_string(i) + ".csv", files[i]);
    for (const char* person : {"", "a", "who"}) {
      const auto result = run({"--person", person, "--force"});
      EXPECT_TRUE(result.exit_code == 0 || result.exit_code == 2) << i << ": " << result.err;
      EXPECT_FALSE(contains(result.err + result.out, marker)) << i << ": " << result.err;
      if (result.exit_code == 0) {
        EXPECT_FALSE(contains(read_file(out_ + "/synthetic.csv"), marker)) << i;
      }
    }
  }
}

// ---- The ledger ---------------------------------------------------------------------------------

TEST_F(SynthCommand, IsRefusedByAnEmptyLedgerBeforeItReadsData) {
  make_ledger("1.2");
  ASSERT_EQ(run({"--ledger", ledger_}).exit_code, 0);
  private_ = dir_ / "none.csv";
  out_ = dir_ / "second";
  expect_error(run({"--ledger", ledger_}), 3, {ledger_, "asks for epsilon 1", "left is"});
  EXPECT_FALSE(fs::exists(out_ + ".partial"));
  EXPECT_EQ(tandem({"budget", "verify", "--ledger", ledger_}).exit_code, 0);
}

TEST_F(SynthCommand, ASeededRunIsRefusedByALedger) {
  make_ledger();
  expect_error(run({"--ledger", ledger_, "--seed", "1"}), 3, {ledger_, "seeded"});
  EXPECT_FALSE(fs::exists(out_ + ".partial"));
}

TEST_F(SynthCommand, ALedgerOfOtherTermsRefuses) {
  make_ledger("10", "0");
  expect_error(run({"--ledger", ledger_}), 3, {"delta 0"});
  expect_error(run({"--ledger", ledger_, "--neighbors", "add-remove", "--delta", "0"}), 3,
               {"replace-one", "add-remove"});
  EXPECT_EQ(run({"--ledger", ledger_, "--delta", "0"}).exit_code, 0);
}

TEST_F(SynthCommand, OfTwoThatWouldOverspendTogetherOneIsRefusedBeforeItReadsData) {
  const std::string rows = read_file(private_);
  for (int round = 0; round < 15; ++round) {
    const std::string tag = std::to_string(round);
    ledger_ = dir_ / ("ledger" + tag);
    make_ledger("1.2");
    // Each reads from a pipe that nobody writes to yet: whoever opens it waits.
    std::vector<std::unique_ptr<StartedCommand>> started;
    std::vector<std::string> pipes;
    for (const char* which : {"x", "y"}) {
      pipes.push_back(dir_ / ("pipe" + tag + which + ".csv"));
      ASSERT_EQ(mkfifo(pipes.back().c_str(), 0600), 0);
      private_ = pipes.back();
      out_ = dir_ / ("out" + tag + which);
      started.push_back(std::make_unique<StartedCommand>(arguments({"--ledger", ledger_})));
    }
    while (!started[0]->has_ended() && !started[1]->has_ended()) usleep(500);
    const std::size_t granted = started[0]->has_ended() ? 1 : 0;
    expect_error(started[1 - granted]->wait(), 3, {ledger_});
    EXPECT_FALSE(started[granted]->has_ended());
    std::ofstream(pipes[granted], std::ios::binary) << rows;
    const auto result = started[granted]->wait();
    EXPECT_EQ(result.exit_code, 0) << result.err;
    const auto report = Ledger::open(ledger_).report();
    EXPECT_EQ(report.runs.size(), 1U);
    EXPECT_LE(report.total.epsilon.value(), 1.2);
  }
}

// `command` in a shell, after `before`.
CommandResult run_in_shell(const std::string& before, const std::vector<std::string>& command) {
  std::vector<std::string> call = {"/bin/sh", "-c", before + " exec \"$@\"", "sh"};
  call.insert(call.end(), command.begin(), command.end());
  return test::run_command(call);
}

// Holds a ledger's write lock in another process for so long.
pid_t hold_lock(const std::string& path, std::chrono::milliseconds time) {
  int ready[2];
  if (pipe(ready) != 0) throw std::runtime_error("no pipe");
  const pid_t child = test::start_child([&] {
    sqlite3* db = nullptr;
    sqlite3_open(path.c_str(), &db);
    if (sqlite3_exec(db, "BEGIN IMMEDIATE", nullptr, nullptr, nullptr) != SQLITE_OK) return 1;
    if (write(ready[1], "x", 1) != 1) return 2;
    std::this_thread::sleep_for(time);
    return 0;
  });
  char byte = 0;
  if (read(ready[0], &byte, 1) != 1) throw std::runtime_error("no lock");
  close(ready[0]);
  close(ready[1]);
  return child;
}

TEST_F(SynthCommand, WaitsForALedgerThatIsBusy) {
  make_ledger();
  const pid_t holder = hold_lock(ledger_, std::chrono::milliseconds(700));
  EXPECT_EQ(run({"--ledger", ledger_}).exit_code, 0);
  EXPECT_EQ(test::wait_for(holder), 0);
}

TEST_F(SynthCommand, ALedgerThatStaysBusyFailsTheRunAndItCanGoOnLater) {
  make_ledger();
  const pid_t holder = hold_lock(ledger_, std::chrono::seconds(60));
  expect_error(run({"--ledger", ledger_}), 1, {ledger_});
  kill(holder, SIGKILL);
  test::wait_for(holder);
  EXPECT_TRUE(Ledger::open(ledger_).report().runs.empty());
  const auto result = tandem({"synth", "--resume", "--out", out_});
  EXPECT_EQ(result.exit_code, 0) << result.err;
}

TEST_F(SynthCommand, ALedgerEditedByHandGrantsNothing) {
  make_ledger("1.5");
  ASSERT_EQ(run({"--ledger", ledger_}).exit_code, 0);
  const std::string good = read_file(ledger_);
  out_ = dir_ / "second";
  for (const char* sql :
       {"UPDATE entries SET epsilon = '100' WHERE seq = 1", "UPDATE entries SET rho = '1'",
        "DELETE FROM entries WHERE kind = 'reserve'", "DELETE FROM entries WHERE seq > 1",
        "UPDATE head SET hash = '00'", "DROP TABLE head"}) {
    dir_.write("people.ledger", good);
    sqlite3* db = nullptr;
    ASSERT_EQ(sqlite3_open(ledger_.c_str(), &db), SQLITE_OK);
    // Whatever guards the tables is part of the file, and goes first.
    sqlite3_exec(db,
                 "PRAGMA writable_schema = ON; DELETE FROM sqlite_master WHERE type = 'trigger'",
                 nullptr, nullptr, nullptr);
    sqlite3_close(db);
    ASSERT_EQ(sqlite3_open(ledger_.c_str(), &db), SQLITE_OK);
    EXPECT_EQ(sqlite3_exec(db, sql, nullptr, nullptr, nullptr), SQLITE_OK) << sqlite3_errmsg(db);
    sqlite3_close(db);
    const auto result = run({"--ledger", ledger_, "--epsilon", "0.1"});
    EXPECT_TRUE(result.exit_code == 2 || result.exit_code == 3) << sql << ": " << result.err;
    expect_error(result, result.exit_code, {ledger_});
    EXPECT_FALSE(fs::exists(out_));
    EXPECT_NE(tandem({"budget", "verify", "--ledger", ledger_}).exit_code, 0) << sql;
    fs::remove_all(out_ + ".partial");
  }
}

TEST_F(SynthCommand, ClosedStreamsAreNotMistakenForFiles) {
  make_ledger("1000");
  for (const char* closed : {"exec >&-;", "exec 2>&-;", "exec <&-;", "exec <&- >&- 2>&-;"}) {
    const auto result = run_in_shell(
        closed, arguments({"--ledger", ledger_, "--force", "--delta", "0.9", "--public",
                           dir_.write("pub.csv", "a,b,c\nF,1,1\nM,1,1\n")}));
    const bool heard = contains(closed, "exec 2") || contains(closed, "exec <&-;");
    EXPECT_EQ(result.exit_code, heard ? 0 : 1) << closed << result.err;
    EXPECT_EQ(release().at("format").as_integer(), 2);
    EXPECT_EQ(tandem({"budget", "verify", "--ledger", ledger_}).exit_code, 0);
  }
}

// ---- Trouble with the disk ----------------------------------------------------------------------

TEST_F(SynthCommand, AFullDiskFailsTheRunAndResumeFinishesItLater) {
  make_ledger("1000");
  int failed = 0;
  for (const int blocks :
       {0, 1, 2, 3, 4, 6, 8, 16, 32, 48, 64, 80, 96, 128, 256}) {  // of 512 bytes
    out_ = dir_ / ("full" + std::to_string(blocks));
    const std::string limit = "trap '' XFSZ; ulimit -f " + std::to_string(blocks) + ";";
    const auto result =
        run_in_shell(limit, arguments({"--ledger", ledger_, "--rows", "20000", "--quiet"}));
    EXPECT_EQ(tandem({"budget", "verify", "--ledger", ledger_}).exit_code, 0);
    if (result.exit_code == 0) continue;
    ++failed;
    EXPECT_EQ(result.exit_code, 1) << blocks << ": " << result.err;
    // With a limit of nothing the message itself finds no room.
    if (blocks > 0) expect_error(result, 1, {});
    EXPECT_FALSE(fs::exists(out_)) << blocks;
    const bool begun = fs::exists(out_ + ".partial/.run/run.json");
    const auto later = begun ? tandem({"synth", "--resume", "--out", out_})
                             : run({"--ledger", ledger_, "--rows", "20000"});
    EXPECT_EQ(later.exit_code, 0) << blocks << ": " << later.err;
    EXPECT_EQ(lines_of(out_ + "/synthetic.csv"), 20001U);
  }
  EXPECT_GT(failed, 5);
  const auto report = Ledger::open(ledger_).report();
  for (const auto& run : report.runs) EXPECT_TRUE(run.spent);
}

TEST_F(SynthCommand, AFolderThatCannotBeWrittenFailsTheRun) {
  const std::string locked = dir_ / "locked";
  fs::create_directory(locked);
  const auto as_nobody = [](std::vector<std::string> call) {
    if (geteuid() == 0) {
      call.insert(call.begin(),
                  {"/usr/bin/setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"});
    }
    return call;
  };
  if (geteuid() == 0 && !fs::exists("/usr/bin/setpriv")) {
    GTEST_SKIP() << "root can write anywhere, and this system has no setpriv to be someone else";
  }
  fs::permissions(dir_.path(), fs::perms(0755));
  fs::permissions(locked, fs::perms(0555));
  if (test::run_command(as_nobody({TANDEM_COMMAND, "--version"})).exit_code != 0) {
    GTEST_SKIP() << "the command can't be run as another user here";
  }
  out_ = locked + "/release";
  expect_error(test::run_command(as_nobody(arguments())), 1, {out_, "Permission denied"});
  fs::permissions(locked, fs::perms(0000));
  expect_error(test::run_command(as_nobody(arguments())), 1, {out_, "Permission denied"});
  // A ledger that can be read and not written grants nothing.
  make_ledger();
  fs::permissions(ledger_, fs::perms(0444));
  const std::string open_folder = dir_ / "open";
  fs::create_directory(open_folder);
  fs::permissions(open_folder, fs::perms(0777));
  out_ = open_folder + "/release";
  const auto result = test::run_command(as_nobody(arguments({"--ledger", ledger_})));
  EXPECT_NE(result.exit_code, 0);
  expect_error(result, result.exit_code, {ledger_});
  EXPECT_FALSE(fs::exists(out_));
}

TEST_F(SynthCommand, APlaceThatIsNoneFailsTheRun) {
  if (!fs::exists("/proc/self")) GTEST_SKIP() << "this system has no /proc";
  out_ = "/proc/release";
  expect_error(run(), 1, {"/proc/release"});
  out_ = private_ + "/release";
  expect_error(run(), 1, {private_});
  out_ = dir_ / std::string(300, 'x');
  expect_error(run(), 1, {"xxx"});
  out_ = "";
  expect_error(run(), 2, {"--out"});
}

}  // namespace
}  // namespace tandem
