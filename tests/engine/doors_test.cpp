// SPDX-License-Identifier: Apache-2.0
// Releases of rows that are handed over: as a stream, held or in passes, and counted elsewhere.
#include <gtest/gtest.h>

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "support/arrow_tables.h"
#include "support/errors.h"
#include "support/files.h"
#include "support/scripted_mechanism.h"
#include "tandem/base/error.h"
#include "tandem/data/cell_texts.h"
#include "tandem/engine/synth.h"
#include "tandem/privacy/ledger.h"
#include "tandem/query/block_counter.h"

namespace tandem {
namespace {

using test::contains;
using test::error_of;
using test::read_file;
using test::TempDir;

// The same people in a file, in memory, and as codes.
class Doors : public testing::Test {
 protected:
  static constexpr std::size_t kRows = 400;

  Doors() {
    std::string csv = "who,a,b,c\n";
    std::vector<std::string> who;
    std::vector<std::string> a;
    std::vector<std::int64_t> b;
    std::vector<double> c;
    for (std::size_t r = 0; r < kRows; ++r) {
      who.push_back(r % 11 == 0 ? "" : "p" + std::to_string(r / 3));
      a.emplace_back(r % 4 == 0 ? "F" : "M");
      b.push_back(static_cast<std::int64_t>(r % 10));
      c.push_back(static_cast<double>(r * r % 50) / 10.0);
      csv += who.back() + "," + a.back() + "," + std::to_string(b.back()) + "," +
             shortest_text(c.back()) + "\n";
    }
    columns_ = {test::texts_column("who", "u", who), test::texts_column("a", "vu", a),
                test::numbers_column("b", "l", b), test::numbers_column("c", "g", c)};
    csv_ = dir_.write("private.csv", csv);
    run_.settings.schema = dir_.write(
        "schema.toml",
        "[[column]]\nname = 'a'\nvalues = ['F', 'M']\n[[column]]\nname = 'b'\nsize = 10\n"
        "[[column]]\nname = 'c'\nkind = 'real'\nmin = 0\nmax = 5\nbins = 5\n"
        "[[rule]]\nif = 'b = 3'\nthen = 'a = M'\n");
    schema_ = Schema::read(run_.settings.schema);
    run_.settings.private_source = "the frame";
    run_.settings.text.records = "quoted";
    run_.settings.epsilon = 1.0;
    run_.settings.mechanism = "independent";
    run_.settings.certify_share = 0.0;
    run_.settings.out = dir_ / "release";
    run_.find = [](const std::string& /*name*/) { return test::scripted_mechanism(); };
  }

  Door streamed(HowToCount how, std::int64_t breaks_at = -1) {
    return Door::stream(
        {test::open_of({.columns = columns_, .batch = 37, .breaks_at = breaks_at}), 0}, how);
  }

  // Rows as whoever counts elsewhere has them: encoded, and people's shares chosen.
  Door counted(std::int64_t fails_at = -1, double rows = kRows, std::int64_t most_made = 0) {
    RowStream stream{test::open_of({.columns = columns_, .batch = 100}), 0};
    rows_ = *hold_rows(stream,
                       {.schema = schema_,
                        .person = run_.settings.person,
                        .rows_per_person = run_.settings.rows_per_person},
                       1e12);
    calls_ = 0;
    return Door::counted(
        [this, fails_at](std::span<const Clique> cliques, std::span<std::int64_t> counts) {
          if (calls_++ == fails_at) return false;
          MarginalCounter counter(schema_.domain(), {cliques.begin(), cliques.end()});
          counter.add(rows_);
          std::ranges::copy(counter.counts(), counts.begin());
          return true;
        },
        rows, most_made);
  }

  struct Files {
    std::string rows;
    std::string measurements;
    bool operator==(const Files&) const = default;
  };
  Files files() {
    return {read_file(run_.settings.out + "/synthetic.csv"),
            read_file(run_.settings.out + "/measurements.json")};
  }
  Files released(std::optional<Door> given) {
    run_.door = std::move(given);
    run_.settings.private_source = run_.door ? "the frame" : csv_;
    run_.force = true;
    synthesize(run_);
    return files();
  }

  Ledger make_ledger() {
    run_.settings.ledger = dir_ / ("people" + std::to_string(ledgers_++) + ".ledger");
    return Ledger::create(run_.settings.ledger,
                          {"people", Epsilon(10.0), Delta(1e-9), PrivacyUnit{}});
  }

  TempDir dir_{test::in_memory()};
  std::vector<test::ArrowColumn> columns_;
  std::string csv_;
  Schema schema_;
  Table rows_;
  std::int64_t calls_ = 0;
  int ledgers_ = 0;
  SynthRun run_;
};

TEST_F(Doors, OneSeedGivesOneReleaseHoweverRowsAreHandedOver) {
  run_.settings.seed = 4;
  for (const std::string person : {"", "who"}) {
    run_.settings.person = person;
    run_.settings.rows_per_person = person.empty() ? 1 : 2;
    const Files from_file = released(std::nullopt);
    EXPECT_EQ(released(streamed(HowToCount::ByMemory)), from_file);
    EXPECT_EQ(released(streamed(HowToCount::Hold)), from_file);
    EXPECT_EQ(released(streamed(HowToCount::Passes)), from_file);
    EXPECT_EQ(released(counted()), from_file);
  }
}

TEST_F(Doors, AFailureBeforeAnythingIsDrawnSpendsNothing) {
  const Ledger ledger = make_ledger();
  run_.door = streamed(HowToCount::ByMemory, 3);
  EXPECT_EQ(error_of<SourceError>([&] { synthesize(run_); }),
            "The rows could not be read to their end.");
  EXPECT_EQ(Ledger::open(run_.settings.ledger).report().total.epsilon.value(), 0.0);
  EXPECT_FALSE(std::filesystem::exists(run_.settings.out + ".partial"));
}

// Whichever count fails, the ledger keeps what was reserved, and going on ends as if nothing had
// happened.
TEST_F(Doors, AFailingCountCanBeResumed) {
  run_.settings.parameters = {"steps=6"};
  run_.settings.seed = 9;
  const Files whole = released(counted());
  const std::int64_t calls = calls_;
  ASSERT_GE(calls, 3);
  run_.force = true;
  for (std::int64_t call = 0; call < calls; ++call) {
    run_.resume = false;
    run_.door = counted(call);
    const std::string message = error_of<SourceError>([&] { synthesize(run_); });
    EXPECT_TRUE(contains(message, "could not be counted where they lie")) << message;
    if (!std::filesystem::exists(run_.settings.out + ".partial")) continue;  // nothing was drawn
    EXPECT_TRUE(contains(message, "--resume")) << message;
    run_.resume = true;
    run_.door = counted();
    synthesize(run_);
    EXPECT_EQ(files(), whole) << call;
  }
}

TEST_F(Doors, TheLedgerIsRightAfterAFailingCount) {
  run_.settings.parameters = {"steps=6"};
  run_.door = counted();
  make_ledger();
  synthesize(run_);
  const double spent = Ledger::open(run_.settings.ledger).report().total.epsilon.value();
  const std::int64_t calls = calls_;
  run_.force = true;
  for (const bool passes : {false, true}) {
    make_ledger();
    run_.resume = false;
    int opened = 0;
    const auto open = test::open_of({.columns = columns_, .batch = 100});
    const auto fails_later = [&, open] {
      if (opened++ == 2) throw SourceError("The server went away.");
      return open();
    };
    run_.door = passes ? Door::stream({fails_later, 0}, HowToCount::Passes) : counted(calls - 1);
    EXPECT_THROW(synthesize(run_), SourceError);
    const double held = Ledger::open(run_.settings.ledger).report().total.epsilon.value();
    EXPECT_NEAR(held, 1.0, 1e-3);  // all of the run's budget, until it goes on
    run_.resume = true;
    run_.door = passes ? streamed(HowToCount::Passes) : counted();
    synthesize(run_);
    EXPECT_EQ(Ledger::open(run_.settings.ledger).report().total.epsilon.value(), spent);
  }
}

TEST_F(Doors, LittleMemoryMeansPasses) {
  int opened = 0;
  const auto open = test::open_of({.columns = columns_, .batch = 100});
  const auto counting = [&, open] {
    ++opened;
    return open();
  };
  run_.settings.seed = 4;
  run_.settings.rows = 100;
  const Files held = released(Door::stream({counting, 0}, HowToCount::ByMemory));
  EXPECT_EQ(opened, 1);
  opened = 0;
  // Too many to hold: that is known beforehand.
  constexpr std::size_t kMany = 2'000'000'000'000;
  EXPECT_EQ(released(Door::stream({counting, kMany}, HowToCount::ByMemory)), held);
  EXPECT_GT(opened, 2);
}

TEST_F(Doors, RowsThatCanBeReadOnceAreHeldOrRefused) {
  run_.settings.seed = 4;
  run_.settings.rows = 100;
  const Files held = released(streamed(HowToCount::Hold));
  EXPECT_EQ(released(streamed(HowToCount::Once)), held);
  constexpr std::size_t kMany = 2'000'000'000'000;
  run_.door = Door::stream({test::open_of({.columns = columns_}), kMany}, HowToCount::Once);
  EXPECT_EQ(error_of<UsageError>([&] { synthesize(run_); }),
            "The rows don't fit into memory and can be read only once; hand over rows that can be "
            "read again, or raise --memory-limit.");
}

TEST_F(Doors, APartOfTheRowsIsMadeWhereAsked) {
  run_.door = counted(-1, kRows, 50);
  const Document part = synthesize(run_).release;
  EXPECT_EQ(part.at("rows").as_integer(), 50);
  EXPECT_EQ(part.at("warnings").as_array().back().at("key").as_string(), "rows.a_part");
  run_.force = true;
  run_.settings.rows = 60;  // stated
  EXPECT_EQ(synthesize(run_).release.at("rows").as_integer(), 60);
}

// Of ten billion rows on a cluster, those that are made are what memory is for.
TEST_F(Doors, RowsThatAreNotMadeHereNeedNoMemory) {
  run_.door = counted(-1, 1e10, 50);
  run_.settings.memory_limit = "1GB";
  EXPECT_EQ(synthesize(run_).release.at("rows").as_integer(), 50);
}

// Nor does what is refused depend on it: rows beyond what memory holds are not made.
TEST_F(Doors, APrivateNumberOfRowsIsNotTold) {
  run_.settings.memory_limit = "1GB";
  run_.door = counted(-1, 1e10);
  EXPECT_TRUE(contains(error_of<UsageError>([&] { synthesize(run_); }), "may need 30"));
  run_.settings.neighbors = "add-remove";
  const Document many = synthesize(run_).release;
  run_.door = counted();
  run_.force = true;
  const Document few = synthesize(run_).release;
  EXPECT_EQ(many.at("guarantee").to_json(), few.at("guarantee").to_json());
  EXPECT_EQ(many.at("warnings").as_array().size(), few.at("warnings").as_array().size());
}

// What a run would be refused for is known before its rows are read, in the same words.
TEST_F(Doors, ARefusalIsForeseen) {
  make_ledger();
  run_.door = counted();
  foresee(run_);
  EXPECT_FALSE(std::filesystem::exists(run_.settings.out + ".partial"));
  const auto refused = [&] {
    const std::string known = error_of<Error>([&] { foresee(run_); });
    EXPECT_EQ(known, error_of<Error>([&] { synthesize(run_); }));
    return known;
  };
  run_.settings.epsilon = 11.0;
  EXPECT_TRUE(contains(refused(), "this run asks for epsilon 11"));
  run_.settings.epsilon = 10.0;  // all there is
  foresee(run_);
  run_.settings.seed = 1;
  EXPECT_TRUE(contains(refused(), "a seeded run is not private"));
  run_.settings.seed = -1;
  std::filesystem::create_directory(run_.settings.out);
  EXPECT_TRUE(contains(refused(), "exists; choose another --out"));
  run_.settings.epsilon = 0.0;
  EXPECT_TRUE(contains(refused(), "epsilon is missing"));
  EXPECT_EQ(calls_, 0);
}

TEST_F(Doors, ConjunctionsOfTablesTooLargeToCountAreRefusedBeforeTheyCost) {
  run_.settings.schema = dir_.write("wide.toml",
                                    "[[column]]\nname = 'a'\nsize = 100000\n"
                                    "[[column]]\nname = 'b'\nsize = 100000\n");
  run_.settings.workload = dir_.write("few.txt", "a=3 & b=5\n");
  run_.settings.mechanism = "dual-query";
  run_.find = find_mechanism;
  make_ledger();
  run_.door = counted();
  const std::string message = error_of<UsageError>([&] { synthesize(run_); });
  EXPECT_TRUE(contains(message, "names columns whose table is too large")) << message;
  EXPECT_EQ(Ledger::open(run_.settings.ledger).report().total.epsilon.value(), 0.0);
  EXPECT_EQ(calls_, 0);
}

}  // namespace
}  // namespace tandem
