// SPDX-License-Identifier: Apache-2.0
// kill -9 at any moment of a release: nothing private is drawn twice or for free, nothing half-made
// looks whole, and --resume finishes at the price of an uninterrupted run.

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "support/command.h"
#include "support/errors.h"
#include "support/files.h"
#include "tandem/base/digest.h"
#include "tandem/base/document.h"
#include "tandem/base/rng.h"
#include "tandem/data/csv.h"
#include "tandem/privacy/accountant.h"
#include "tandem/privacy/ledger.h"
#include "tandem/privacy/transcript.h"

namespace tandem {
namespace {

namespace fs = std::filesystem;
using test::CommandResult;
using test::contains;
using test::read_file;
using test::StartedCommand;
using test::TempDir;

// Where a kill found a run.
enum class Stage { NotBegun, Begun, Reserved, Drawing, Drawn, Settled, Published };

const char* name_of(Stage stage) {
  constexpr const char* kNames[] = {"before the run was written down",
                                    "before it was reserved",
                                    "before the first step",
                                    "between steps",
                                    "after the last step",
                                    "after it was settled",
                                    "after it was published"};
  return kNames[static_cast<int>(stage)];
}

class Kill : public testing::Test {
 protected:
  Kill() {
    std::string rows = "a,b,c\n";
    Rng rng(1);
    for (int r = 0; r < 300; ++r) {
      rows += std::to_string(rng.below(8)) + ',' + std::to_string(rng.below(10)) + ',' +
              std::to_string(rng.below(12)) + '\n';
    }
    dir_.write("private.csv", rows);
    dir_.write("schema.json", R"({"a": 8, "b": 10, "c": 12})");
    write_settings(out_);
  }

  void write_settings(const std::string& out) const {
    Document settings = Document::object({{"private", dir_ / "private.csv"},
                                          {"schema", dir_ / "schema.json"},
                                          {"epsilon", 1.0},
                                          {"certify-share", 0.0},  // of as many steps in every run
                                          {"param", parameters_},
                                          {"out", out},
                                          {"ledger", dir_ / "people.ledger"}});
    if (!scripted_) settings.set("mechanism", "independent");  // of so many steps in every run
    dir_.write("settings.json", settings.to_json());
  }

  void new_ledger() const {
    fs::remove(dir_ / "people.ledger");
    fs::remove(dir_ / "people.ledger-journal");
    Ledger::create(dir_ / "people.ledger", {"people", Epsilon(1000.0), Delta(1e-9), PrivacyUnit{}});
  }
  Ledger ledger() const { return Ledger::open(dir_ / "people.ledger"); }

  // The command under test, with more flags.
  std::vector<std::string> command(const std::vector<std::string>& flags) const {
    std::vector<std::string> arguments;
    if (scripted_) {
      arguments = {TANDEM_SCRIPTED_RELEASE, dir_ / "settings.json"};
    } else {
      arguments = {TANDEM_COMMAND, "synth", "--config", dir_ / "settings.json", "--threads", "1"};
    }
    arguments.insert(arguments.end(), flags.begin(), flags.end());
    return arguments;
  }

  CommandResult run(const std::vector<std::string>& flags) const {
    return test::run_command(command(flags));
  }

  void expect_whole(const std::string& out) const {
    const Document release = Document::read(out + "/release.json");
    EXPECT_EQ(release.at("format").as_integer(), 2);
    const Document measurements = Document::read(out + "/measurements.json");
    EXPECT_FALSE(measurements.at("measurements").as_array().empty());
    const auto table = read_csv(out + "/synthetic.csv", Schema::read(dir_ / "schema.json")).table;
    EXPECT_EQ(static_cast<std::int64_t>(table.rows()), release.at("rows").as_integer());
  }

  static std::string run_of(const std::string& out) {
    return Document::read(out + "/release.json").at("ledger").at("run").as_string();
  }

  // The lines of a transcript, except for one that was cut short.
  static std::vector<std::string> lines_of(const std::string& path) {
    std::vector<std::string> lines;
    const std::string text = read_file(path);
    for (std::size_t at = 0, end = 0; (end = text.find('\n', at)) != std::string::npos;
         at = end + 1) {
      lines.push_back(text.substr(at, end - at));
    }
    return lines;
  }

  // What a whole run costs, and its number of steps, from one that nobody interrupted.
  void measure_whole_run() {
    new_ledger();
    const auto begin = std::chrono::steady_clock::now();
    ASSERT_EQ(run({}).exit_code, 0);
    duration_ = std::chrono::steady_clock::now() - begin;
    const auto runs = ledger().report().runs;
    ASSERT_EQ(runs.size(), 1U);
    reserved_ = runs[0].reserved;
    spent_ = *runs[0].spent;
    steps_ = static_cast<std::size_t>(runs[0].steps);
    fs::remove_all(out_);
  }

  const LedgerRun* find(const LedgerReport& report, const std::string& id) const {
    for (const auto& run : report.runs) {
      if (run.id == id) return &run;
    }
    return nullptr;
  }

  struct Found {
    Stage stage = Stage::NotBegun;
    std::string run;
    std::vector<std::string> lines;  // of its transcript
  };

  // Looks at what a killed run left, and checks all that must hold at any moment.
  Found look(std::size_t runs_before, const std::string& former) const {
    Found found;
    const Ledger book = ledger();
    const auto verdict = book.verify();
    EXPECT_TRUE(verdict.whole()) << verdict.fault;
    const auto report = book.report();
    EXPECT_LE(report.runs.size(), runs_before + 1);

    if (fs::exists(out_)) {
      expect_whole(out_);
      if (run_of(out_) != former) found.stage = Stage::Published;
    }
    if (found.stage == Stage::Published) {
      found.run = run_of(out_);
      EXPECT_FALSE(fs::exists(out_ + ".partial"));
      EXPECT_EQ(find(report, found.run)->spent, spent_);
      return found;
    }
    if (!fs::exists(out_ + ".partial/.run/run.json")) {
      EXPECT_EQ(report.runs.size(), runs_before);
      EXPECT_FALSE(fs::exists(out_ + ".partial/.run/transcript.jsonl"));
      return found;
    }
    found.stage = Stage::Begun;
    found.run = Document::read(out_ + ".partial/.run/run.json").at("run").as_string();
    found.lines = lines_of(out_ + ".partial/.run/transcript.jsonl");
    for (const auto& line : found.lines) EXPECT_NO_THROW(record_from_line(line, "transcript"));
    const LedgerRun* run = find(report, found.run);
    if (run == nullptr) {
      EXPECT_TRUE(found.lines.empty()) << "drawn without a reservation";
      EXPECT_EQ(report.runs.size(), runs_before);
      return found;
    }
    // The whole run is charged until it is settled, and what it spent is charged for ever.
    EXPECT_EQ(run->reserved, reserved_);
    const Rho charged((run->spent ? *run->spent : reserved_).rho.lower_bound());
    EXPECT_GE((run->spent ? report.spent : report.reserved).epsilon.value(),
              epsilon_of(charged, Delta(1e-9)).value() * (1.0 - 1e-12));
    const auto digests = book.state(found.run).steps;
    if (digests.size() > found.lines.size()) {
      ADD_FAILURE() << "the ledger knows a step that the transcript has lost";
      return found;
    }
    EXPECT_LE(found.lines.size(), digests.size() + 1);  // one may not have reached the ledger
    for (std::size_t i = 0; i < digests.size(); ++i) {
      EXPECT_EQ(digests[i], sha256_hex(found.lines[i]));
    }
    found.stage = found.lines.empty()           ? Stage::Reserved
                  : found.lines.size() < steps_ ? Stage::Drawing
                                                : Stage::Drawn;
    if (run->spent) {
      found.stage = Stage::Settled;
      EXPECT_EQ(run->spent, spent_);
      EXPECT_EQ(found.lines.size(), steps_);
    }
    return found;
  }

  // Starts the command, kills it after a part of its usual time, and looks.
  Found kill_once(const std::vector<std::string>& flags, double part, std::size_t runs_before,
                  const std::string& former) {
    StartedCommand started(command(flags));
    usleep(static_cast<useconds_t>(part *
                                   std::chrono::duration<double, std::micro>(duration_).count()));
    started.kill();
    const auto result = started.wait();
    EXPECT_TRUE(result.exit_code == 137 || result.exit_code == 0) << result.err;
    Found found = look(runs_before, former);
    ++stages_[found.stage];
    ++kills_;
    // A busy machine is slower or faster by the minute: follow it.
    if (found.stage == Stage::Published) duration_ = duration_ * 9 / 10;
    if (found.stage == Stage::NotBegun) duration_ = duration_ * 21 / 20;
    return found;
  }

  void kill_many(int kills) {
    measure_whole_run();
    Rng rng(static_cast<std::uint64_t>(getpid()));
    for (int round = 0; kills_ < kills && !HasFailure(); ++round) {
      if (round % 10 == 0) new_ledger();
      if (rng.below(2) == 0) fs::remove_all(out_);
      const bool replaces = fs::exists(out_);
      const std::string former = replaces ? run_of(out_) : "";
      const std::vector<std::string> begin =
          replaces ? std::vector<std::string>{"--force"} : std::vector<std::string>{};
      const std::size_t runs_before = ledger().report().runs.size();

      std::string id;
      std::vector<std::string> drawn;
      Found found;
      int attempts = static_cast<int>(rng.below(3)) + 1;
      do {
        const bool begun = found.stage != Stage::NotBegun;
        found = kill_once(begun ? std::vector<std::string>{"--resume"} : begin, 1.1 * rng.uniform(),
                          runs_before, former);
        if (!id.empty()) {
          EXPECT_EQ(found.run, id);
        }
        id = found.run;
        if (found.stage == Stage::Published) break;
        // No step that was drawn before is ever another one later.
        ASSERT_GE(found.lines.size(), drawn.size());
        EXPECT_TRUE(std::equal(drawn.begin(), drawn.end(), found.lines.begin()));
        drawn = found.lines;
      } while (--attempts > 0);

      finish(found, begin, runs_before, drawn);
    }
    tell_stages();
  }

  // Goes on, or begins anew when nothing was begun; the end is that of an uninterrupted run.
  void finish(const Found& found, const std::vector<std::string>& begin, std::size_t runs_before,
              const std::vector<std::string>& drawn) const {
    const auto result =
        run(found.stage == Stage::NotBegun ? begin : std::vector<std::string>{"--resume"});
    ASSERT_EQ(result.exit_code, 0) << name_of(found.stage) << ": " << result.err;
    expect_whole(out_);
    EXPECT_FALSE(fs::exists(out_ + ".partial"));
    EXPECT_FALSE(fs::exists(out_ + "/.run"));
    if (!found.run.empty()) {
      EXPECT_EQ(run_of(out_), found.run);
    }
    const Ledger book = ledger();
    EXPECT_TRUE(book.verify().whole());
    const auto report = book.report();
    EXPECT_EQ(report.runs.size(), runs_before + 1);
    EXPECT_EQ(report.runs.back().reserved, reserved_);
    EXPECT_EQ(report.runs.back().spent, spent_);
    const auto digests = book.state(run_of(out_)).steps;
    ASSERT_EQ(digests.size(), steps_);
    for (std::size_t i = 0; i < drawn.size(); ++i) EXPECT_EQ(digests[i], sha256_hex(drawn[i]));
  }

  void tell_stages() {
    for (const auto& [stage, count] : stages_) {
      std::printf("  %4d kills %s\n", count, name_of(stage));
      RecordProperty(name_of(stage), count);
    }
  }

  TempDir dir_{test::in_memory()};
  std::string out_ = dir_ / "release";
  Document parameters_ = Document::array();
  bool scripted_ = true;
  LedgerCharge reserved_;
  LedgerCharge spent_;
  std::size_t steps_ = 0;
  std::chrono::steady_clock::duration duration_{};
  std::map<Stage, int> stages_;
  int kills_ = 0;
};

TEST_F(Kill, AReleaseOfManyStepsKilledAnywhereGoesOnAtTheSamePrice) {
  kill_many(200);
  EXPECT_EQ(steps_, 31U);
  EXPECT_GT(stages_[Stage::Drawing], 20);  // the kills did hit where it matters
}

TEST_F(Kill, TandemSynthKilledAnywhereGoesOnAtTheSamePrice) {
  scripted_ = false;
  write_settings(out_);
  kill_many(100);
}

// Not at a random moment but at each: before every call that changes what a crash would leave.
TEST_F(Kill, AReleaseKilledAtEachChangeOfTheDiskGoesOnAtTheSamePrice) {
  parameters_ = Document::array({"steps=4"});
  write_settings(out_);
  measure_whole_run();
  for (const bool replaces : {false, true}) {
    for (int call = 1;; ++call) {
      if (call % 10 == 1) new_ledger();
      std::string former;
      fs::remove_all(out_);
      if (replaces) {
        ASSERT_EQ(run({}).exit_code, 0);
        former = run_of(out_);
      }
      const std::vector<std::string> begin =
          replaces ? std::vector<std::string>{"--force"} : std::vector<std::string>{};
      const std::size_t runs_before = ledger().report().runs.size();
      auto flags = begin;
      flags.insert(flags.end(), {"--stop-at-call", std::to_string(call)});
      const auto result = run(flags);
      if (result.exit_code == 0) break;  // no such call: all of them were tried
      ASSERT_EQ(result.exit_code, 137) << result.err;
      const Found found = look(runs_before, former);
      ++stages_[found.stage];
      finish(found, begin, runs_before, found.lines);
      ASSERT_FALSE(HasFailure()) << "at call " << call << ", " << name_of(found.stage);
    }
  }
  for (const Stage stage : {Stage::NotBegun, Stage::Begun, Stage::Reserved, Stage::Drawing,
                            Stage::Drawn, Stage::Settled, Stage::Published}) {
    EXPECT_GT(stages_[stage], 0) << name_of(stage);
  }
  tell_stages();
}

// And once more while it goes on.
TEST_F(Kill, ARunKilledAtEachChangeWhileItIsResumedGoesOnAtTheSamePrice) {
  parameters_ = Document::array({"steps=4"});
  write_settings(out_);
  measure_whole_run();
  for (int call = 1;; ++call) {
    if (call % 10 == 1) new_ledger();
    fs::remove_all(out_);
    const std::size_t runs_before = ledger().report().runs.size();
    ASSERT_EQ(run({"--stop-after", "3"}).exit_code, 137);
    const Found first = look(runs_before, "");
    const auto result = run({"--resume", "--stop-at-call", std::to_string(call)});
    if (result.exit_code == 0) break;
    ASSERT_EQ(result.exit_code, 137) << result.err;
    const Found second = look(runs_before, "");
    EXPECT_EQ(second.run, first.run);
    finish(second, {}, runs_before, first.lines);
    ASSERT_FALSE(HasFailure()) << "at call " << call << ", " << name_of(second.stage);
  }
}

// ---- Copies -------------------------------------------------------------------------------------

class Copies : public Kill {
 protected:
  Copies() { new_ledger(); }

  // A run of three steps, and a copy of its folder. What comes next is a measurement: two draws of
  // it are never alike.
  void interrupt_and_copy() const {
    ASSERT_EQ(run({"--stop-after", "3"}).exit_code, 137);
    fs::copy(out_ + ".partial", copy_ + ".partial", fs::copy_options::recursive);
  }

  CommandResult go_on(const std::string& out, const std::string& stop_after = "0") const {
    write_settings(out);
    return run({"--resume", "--stop-after", stop_after});
  }

  void expect_refused(const CommandResult& result) const {
    EXPECT_EQ(result.exit_code, 3) << result.err;
    EXPECT_TRUE(contains(result.err, "another copy of this run has drawn step"));
    EXPECT_EQ(std::ranges::count(result.err, '\n'), 1) << result.err;
  }

  std::string copy_ = dir_ / "copy";
};

TEST_F(Copies, ACopyIsRefusedOnceTheOriginalHasGoneOn) {
  interrupt_and_copy();
  ASSERT_EQ(go_on(out_, "4").exit_code, 137);
  for (int i = 0; i < 3; ++i) {
    expect_refused(go_on(copy_));
    EXPECT_EQ(lines_of(copy_ + ".partial/.run/transcript.jsonl").size(), 3U);
  }
  EXPECT_EQ(go_on(out_).exit_code, 0);
  expect_refused(go_on(copy_));
  EXPECT_FALSE(fs::exists(copy_));
  EXPECT_TRUE(ledger().verify().whole());
}

TEST_F(Copies, TheOriginalIsRefusedOnceACopyHasGoneOn) {
  interrupt_and_copy();
  ASSERT_EQ(go_on(copy_, "4").exit_code, 137);
  expect_refused(go_on(out_));
  EXPECT_EQ(go_on(copy_).exit_code, 0);
  expect_refused(go_on(out_));
  EXPECT_FALSE(fs::exists(out_));
  EXPECT_EQ(ledger().report().runs.size(), 1U);
}

TEST_F(Copies, OfTwoThatGoOnAtOnceOneFinishes) {
  for (int round = 0; round < 10; ++round) {
    write_settings(out_);
    fs::remove_all(out_);
    fs::remove_all(copy_);
    fs::remove_all(copy_ + ".partial");
    fs::remove_all(out_ + ".partial");
    interrupt_and_copy();
    fs::copy(dir_ / "settings.json", dir_ / "first.json", fs::copy_options::overwrite_existing);
    write_settings(copy_);
    StartedCommand first({TANDEM_SCRIPTED_RELEASE, dir_ / "first.json", "--resume"});
    StartedCommand second({TANDEM_SCRIPTED_RELEASE, dir_ / "settings.json", "--resume"});
    const int codes[] = {first.wait().exit_code, second.wait().exit_code};
    EXPECT_EQ(std::min(codes[0], codes[1]), 0);
    EXPECT_EQ(std::max(codes[0], codes[1]), 3);
    EXPECT_NE(fs::exists(out_), fs::exists(copy_));
  }
  EXPECT_TRUE(ledger().verify().whole());
}

TEST_F(Copies, ACopyOfAFinishedRunTellsTheSameAgainAndCostsNothing) {
  ASSERT_EQ(run({"--stop-after", "31"}).exit_code, 137);
  fs::copy(out_ + ".partial", copy_ + ".partial", fs::copy_options::recursive);
  ASSERT_EQ(go_on(out_).exit_code, 0);
  const double spent = ledger().report().total.epsilon.value();
  ASSERT_EQ(go_on(copy_).exit_code, 0);
  EXPECT_EQ(read_file(copy_ + "/measurements.json"), read_file(out_ + "/measurements.json"));
  EXPECT_EQ(read_file(copy_ + "/synthetic.csv"), read_file(out_ + "/synthetic.csv"));
  EXPECT_EQ(ledger().report().total.epsilon.value(), spent);
}

}  // namespace
}  // namespace tandem
