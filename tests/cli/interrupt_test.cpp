// SPDX-License-Identifier: Apache-2.0
// Ctrl-C at any moment of a release: it stops, says what was spent and how to go on, and what goes
// on gives what an uninterrupted run gives.

#include <gtest/gtest.h>
#include <signal.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <string>
#include <thread>

#include "support/command.h"
#include "support/errors.h"
#include "support/files.h"
#include "tandem/base/document.h"
#include "tandem/base/rng.h"

namespace tandem {
namespace {

namespace fs = std::filesystem;
using test::contains;

class Interrupt : public testing::Test {
 protected:
  Interrupt() {
    Rng rng(1);
    std::string rows = "a,b,c,d,e,f,g,h\n";
    for (int r = 0; r < 3000; ++r) {
      std::uint64_t before = rng.below(4);
      for (int column = 0; column < 8; ++column) {
        before = rng.uniform() < 0.6 ? before : rng.below(4);
        rows += std::to_string(before) + (column == 7 ? "\n" : ",");
      }
    }
    private_ = dir_.write("private.csv", rows);
    schema_ = dir_.write("schema.json",
                         R"({"a": 4, "b": 4, "c": 4, "d": 4, "e": 4, "f": 4, "g": 4, "h": 4})");
  }

  std::vector<std::string> call(const std::string& out) const {
    return {TANDEM_COMMAND, "synth", "--private",  private_,   "--schema", schema_,
            "--epsilon",    "3",     "--seed",     "5",        "--out",    out,
            "--mechanism",  "aim",   "--workload", "all-3way", "--quiet"};
  }

  test::TempDir dir_;
  std::string private_;
  std::string schema_;
};

TEST_F(Interrupt, StopsAndGoesOnAsIfNothingHadHappened) {
  const std::string whole = dir_ / "whole";
  ASSERT_EQ(test::run_command(call(whole)).exit_code, 0);
  const std::size_t steps = Document::read(whole + "/release.json").at("steps").as_array().size();
  Rng rng(2);
  int stopped = 0;
  for (int moment = 0; moment < 6; ++moment) {
    const std::string out = dir_ / ("out" + std::to_string(moment));
    test::StartedCommand started(call(out));
    // When it has come so far, within its first half: however fast the machine is at the moment.
    const std::size_t far = 1 + rng.below(steps / 2);
    const auto lines = [&] {
      std::ifstream transcript(out + ".partial/.run/transcript.jsonl");
      std::string line;
      std::size_t count = 0;
      while (std::getline(transcript, line)) ++count;
      return count;
    };
    for (int i = 0; lines() < far && !fs::exists(out) && i < 20'000; ++i) {
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    kill(started.pid(), SIGINT);
    const auto result = started.wait();
    if (result.exit_code == 0) continue;  // it was done already
    ASSERT_EQ(result.exit_code, 130) << result.err;
    ++stopped;
    EXPECT_TRUE(contains(result.err, "tandem: Stopped on request. "));
    if (!fs::exists(out + ".partial")) {
      EXPECT_TRUE(contains(result.err, "Nothing was spent"));
      continue;
    }
    EXPECT_TRUE(contains(result.err,
                         "% of the budget is spent and nothing is lost: 'tandem synth "
                         "--resume --out " +
                             out + "' goes on at no extra cost."))
        << result.err;
    const auto resumed =
        test::run_command({TANDEM_COMMAND, "synth", "--resume", "--out", out, "--quiet"});
    ASSERT_EQ(resumed.exit_code, 0) << resumed.err;
    for (const char* name : {"synthetic.csv", "measurements.json", "model.bin"}) {
      EXPECT_TRUE(read_text_file(out + "/" + name) == read_text_file(whole + "/" + name)) << name;
    }
  }
  EXPECT_GE(stopped, 3);
}

}  // namespace
}  // namespace tandem
