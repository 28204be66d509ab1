// SPDX-License-Identifier: Apache-2.0
#include "tandem/engine/release/release_folder.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <filesystem>
#include <set>
#include <string>
#include <vector>

#include "support/errors.h"
#include "support/files.h"
#include "support/processes.h"
#include "tandem/base/error.h"

namespace tandem {
namespace {

namespace fs = std::filesystem;
using test::contains;
using test::error_of;
using test::read_file;
using test::TempDir;

Document record(int number = 1) { return Document::object({{"number", number}}); }

class Folder : public testing::Test {
 protected:
  TempDir dir_;
  std::string out_ = dir_ / "release";
  std::string partial_ = out_ + ".partial";

  ReleaseFolder start(bool force = false, int number = 1) const {
    return ReleaseFolder::start(out_, force, record(number));
  }

  // A whole release whose release.json has this text.
  void make_release(const std::string& text) const {
    auto folder = start(true);
    folder.write("release.json", text);
    folder.publish();
  }

  std::string refusal(bool force) const {
    return error_of<UsageError>([&] { start(force); });
  }
  // One that is known before anything is touched.
  std::string foreseen(bool force) const {
    const auto known = error_of<UsageError>([&] { ReleaseFolder::require_startable(out_, force); });
    EXPECT_EQ(known, refusal(force));
    return known;
  }

  std::set<std::string> names() const {
    std::set<std::string> out;
    for (const auto& entry : fs::recursive_directory_iterator(dir_.path())) {
      out.insert(fs::relative(entry.path(), dir_.path()).string());
    }
    return out;
  }
};

// ---- From start to end --------------------------------------------------------------------------

TEST_F(Folder, IsWholeOnlyOncePublished) {
  EXPECT_FALSE(ReleaseFolder::is_whole(out_));
  EXPECT_FALSE(ReleaseFolder::is_interrupted(out_));
  auto folder = start();
  EXPECT_TRUE(ReleaseFolder::is_interrupted(out_));
  folder.write("release.json", "{}");
  EXPECT_FALSE(fs::exists(out_));
  EXPECT_FALSE(ReleaseFolder::is_whole(out_));
  folder.publish();
  EXPECT_TRUE(ReleaseFolder::is_whole(out_));
  EXPECT_FALSE(ReleaseFolder::is_interrupted(out_));
  EXPECT_EQ(names(), (std::set<std::string>{"release", "release/release.json"}));
}

TEST_F(Folder, ATrailingSlashMeansTheSameFolder) {
  const std::string slashed = out_ + "/";
  auto folder = ReleaseFolder::start(slashed, false, record());
  EXPECT_TRUE(fs::exists(partial_));
  EXPECT_TRUE(ReleaseFolder::is_interrupted(slashed));
  folder.write("release.json", "{}");
  folder.publish();
  EXPECT_TRUE(ReleaseFolder::is_whole(slashed));
  EXPECT_TRUE(ReleaseFolder::is_whole(out_));
}

TEST_F(Folder, MakesTheFoldersAboveIt) {
  auto folder = ReleaseFolder::start(dir_ / "a/b/c", false, record());
  folder.write("release.json", "{}");
  folder.publish();
  EXPECT_TRUE(ReleaseFolder::is_whole(dir_ / "a/b/c"));
}

TEST_F(Folder, WritesFilesWhole) {
  auto folder = start();
  folder.write("text", "first");
  folder.write("text", "second");
  EXPECT_EQ(read_file(folder.file("text")), "second");
  EXPECT_FALSE(fs::exists(folder.file("text.new")));
}

TEST_F(Folder, DiscardingLeavesNothing) {
  auto folder = start();
  folder.write("synthetic.csv", "a\n");
  folder.discard();
  EXPECT_TRUE(names().empty());
}

TEST_F(Folder, NeedsAName) {
  EXPECT_THROW(ReleaseFolder::start("", false, record()), UsageError);
  EXPECT_THROW(ReleaseFolder::resume(""), UsageError);
}

// ---- Resuming -----------------------------------------------------------------------------------

TEST_F(Folder, GoesOnWithItsRecordAndItsFiles) {
  { start(false, 42).write("kept", "yes"); }
  const auto folder = ReleaseFolder::resume(out_);
  EXPECT_EQ(folder.record().at("number").as_integer(), 42);
  EXPECT_EQ(read_file(folder.file("kept")), "yes");
  EXPECT_EQ(folder.transcript(), partial_ + "/.run/transcript.jsonl");
}

TEST_F(Folder, HasNothingToResumeWhenNoneWasBegun) {
  const std::string expected =
      partial_ + " holds no interrupted release; start one without --resume.";
  EXPECT_EQ(error_of<UsageError>([&] { ReleaseFolder::resume(out_); }), expected);
  EXPECT_FALSE(fs::exists(partial_));
  fs::create_directory(partial_);
  EXPECT_EQ(error_of<UsageError>([&] { ReleaseFolder::resume(out_); }), expected);
  make_release("{}");
  EXPECT_EQ(error_of<UsageError>([&] { ReleaseFolder::resume(out_); }), expected);
}

TEST_F(Folder, ADamagedRecordIsAUsageError) {
  { start(); }
  dir_.write("release.partial/.run/run.json", "{\"number\": ");
  EXPECT_THROW(ReleaseFolder::resume(out_), UsageError);
}

TEST_F(Folder, AnInterruptedRunIsNeitherOverwrittenNorForgotten) {
  { start(false, 42).write("kept", "yes"); }
  const auto message = foreseen(false);
  EXPECT_TRUE(contains(message, partial_ + " holds an interrupted release"));
  EXPECT_TRUE(contains(message, "--resume"));
  EXPECT_EQ(ReleaseFolder::resume(out_).record().at("number").as_integer(), 42);
}

TEST_F(Folder, ForceDiscardsAnInterruptedRun) {
  { start(false, 42).write("old", "yes"); }
  const auto folder = start(true, 43);
  EXPECT_EQ(folder.record().at("number").as_integer(), 43);
  EXPECT_FALSE(fs::exists(folder.file("old")));
}

TEST_F(Folder, ARunKilledBeforeItsRecordWasWrittenNeverBegan) {
  for (const char* left : {"", "/.run"}) {
    fs::create_directories(partial_ + left);
    if (*left != 0) dir_.write("release.partial/.run/run.json.new", "{");
    if (*left != 0) dir_.write("release.partial/.run/lock", "");
    EXPECT_FALSE(ReleaseFolder::is_interrupted(out_));
    start().discard();
    EXPECT_TRUE(names().empty());
  }
}

// ---- The lock -----------------------------------------------------------------------------------

TEST_F(Folder, OnlyOneProcessWorksOnARun) {
  int ready[2];
  ASSERT_EQ(pipe(ready), 0);
  const pid_t child = test::start_child([&] {
    auto folder = start();
    if (write(ready[1], "x", 1) != 1) return 1;
    pause();
    return 0;
  });
  char byte = 0;
  ASSERT_EQ(read(ready[0], &byte, 1), 1);
  const std::string busy = partial_ + " is being worked on by another process; wait for it.";
  EXPECT_EQ(error_of<UsageError>([&] { ReleaseFolder::resume(out_); }), busy);
  EXPECT_EQ(refusal(false), busy);
  EXPECT_EQ(refusal(true), busy);
  kill(child, SIGKILL);
  EXPECT_EQ(test::wait_for(child), 128 + SIGKILL);
  EXPECT_NO_THROW(ReleaseFolder::resume(out_));  // a lock dies with its process
  close(ready[0]);
  close(ready[1]);
}

TEST_F(Folder, OfManyThatStartAtOnceOneBegins) {
  for (int round = 0; round < 20; ++round) {
    int go[2];
    ASSERT_EQ(pipe(go), 0);
    std::vector<pid_t> children;
    for (int i = 0; i < 4; ++i) {
      children.push_back(test::start_child([&, i] {
        close(go[1]);
        char byte = 0;
        if (read(go[0], &byte, 1) < 0) return 9;
        try {
          auto folder = start(false, i);
          folder.write("release.json", std::to_string(i));
          folder.publish();
          return 0;
        } catch (const UsageError&) {
          return 2;
        }
      }));
    }
    close(go[0]);
    close(go[1]);  // all go
    int done = 0;
    for (const pid_t child : children) {
      const int code = test::wait_for(child);
      EXPECT_TRUE(code == 0 || code == 2) << code;
      done += code == 0 ? 1 : 0;
    }
    EXPECT_EQ(done, 1);
    EXPECT_EQ(names(), (std::set<std::string>{"release", "release/release.json"}));
    fs::remove_all(out_);
  }
}

TEST_F(Folder, StartsAndDiscardsThatMeetNeverMixUp) {
  std::vector<pid_t> children;
  for (int i = 0; i < 4; ++i) {
    children.push_back(test::start_child([&, i] {
      for (int round = 0; round < 50; ++round) {
        try {
          auto folder = start(false, i);
          folder.write("mine", std::to_string(i));
          if (read_file(folder.file("mine")) != std::to_string(i)) return 1;
          if (ReleaseFolder::is_whole(out_)) return 2;
          folder.discard();
        } catch (const UsageError&) {  // another one works there
        }
      }
      return 0;
    }));
  }
  for (const pid_t child : children) EXPECT_EQ(test::wait_for(child), 0);
  EXPECT_TRUE(names().empty());
}

// ---- Nothing of anyone else's is touched --------------------------------------------------------

TEST_F(Folder, ReplacesAFormerReleaseOnlyByForce) {
  make_release("old");
  EXPECT_EQ(foreseen(false), out_ + " exists; choose another --out, or --force to replace it.");
  EXPECT_FALSE(fs::exists(partial_));
  {
    auto folder = start(true);
    folder.write("release.json", "new");
    EXPECT_EQ(read_file(out_ + "/release.json"), "old");
    folder.publish();
  }
  EXPECT_EQ(read_file(out_ + "/release.json"), "new");
  EXPECT_EQ(names(), (std::set<std::string>{"release", "release/release.json"}));
}

TEST_F(Folder, ReplacesAnEmptyFolderByForce) {
  fs::create_directory(out_);
  EXPECT_TRUE(contains(foreseen(false), "--force"));
  make_release("{}");
  EXPECT_TRUE(ReleaseFolder::is_whole(out_));
}

TEST_F(Folder, NeverReplacesWhatIsNoRelease) {
  fs::create_directory(out_);
  dir_.write("release/thesis.tex", "years of work");
  for (const bool force : {false, true}) {
    EXPECT_EQ(foreseen(force), out_ + " exists and is no release folder; choose another --out.");
  }
  fs::remove_all(out_);
  dir_.write("release", "a file");
  EXPECT_TRUE(contains(foreseen(true), "is no release folder"));
  fs::remove(out_);
  fs::create_symlink(dir_ / "nowhere", out_);
  EXPECT_TRUE(contains(foreseen(true), "is no release folder"));
}

TEST_F(Folder, NeverEmptiesAPartialFolderThatIsNotItsOwn) {
  fs::create_directory(partial_);
  dir_.write("release.partial/thesis.tex", "years of work");
  for (const bool force : {false, true}) {
    EXPECT_EQ(foreseen(force),
              partial_ + " exists and is no interrupted release; choose another --out.");
  }
  EXPECT_EQ(read_file(partial_ + "/thesis.tex"), "years of work");
}

TEST_F(Folder, NeverReplacesWhatAppearedMeanwhile) {
  const auto publish = [&](ReleaseFolder folder) {
    return error_of<UsageError>([&] { folder.publish(); });
  };
  {
    auto folder = start();
    folder.write("release.json", "new");
    fs::create_directory(out_);
    dir_.write("release/release.json", "another");
    EXPECT_TRUE(contains(publish(std::move(folder)), "has appeared since"));
  }
  EXPECT_TRUE(contains(publish(ReleaseFolder::resume(out_)), "move it away and use --resume"));
  EXPECT_EQ(read_file(out_ + "/release.json"), "another");
  fs::remove_all(out_);
  ReleaseFolder::resume(out_).publish();
  EXPECT_EQ(read_file(out_ + "/release.json"), "new");
}

TEST_F(Folder, ForceIsNoLeaveToDeleteWhatAppearedMeanwhile) {
  make_release("old");
  auto folder = start(true);
  folder.write("release.json", "new");
  fs::remove_all(out_);
  fs::create_directory(out_);
  dir_.write("release/thesis.tex", "years of work");
  EXPECT_TRUE(contains(error_of<UsageError>([&] { folder.publish(); }), "has appeared since"));
  EXPECT_EQ(read_file(out_ + "/thesis.tex"), "years of work");
}

TEST_F(Folder, LeavesNeighboursOfASimilarNameAlone) {
  make_release("old");
  for (const char* name : {"release.replaced", "release.former", "release.old"}) {
    fs::create_directory(dir_ / name);
    dir_.write(std::string(name) + "/thesis.tex", "years of work");
  }
  make_release("new");
  for (const char* name : {"release.replaced", "release.former", "release.old"}) {
    EXPECT_EQ(read_file(dir_ / (std::string(name) + "/thesis.tex")), "years of work");
  }
}

// ---- Crashes while a release takes its place ----------------------------------------------------

TEST_F(Folder, ACrashBetweenTheTwoRenamesOfForceCanBeResumed) {
  make_release("old");
  {
    auto folder = start(true);
    folder.write("release.json", "new");
    fs::rename(out_, partial_ + "/.run/former");  // as far as publish() came
  }
  EXPECT_FALSE(ReleaseFolder::is_whole(out_));
  EXPECT_TRUE(ReleaseFolder::is_interrupted(out_));
  EXPECT_TRUE(contains(refusal(false), "--resume"));
  auto folder = ReleaseFolder::resume(out_);
  folder.write("release.json", "new");
  folder.publish();
  EXPECT_EQ(read_file(out_ + "/release.json"), "new");
  EXPECT_EQ(names(), (std::set<std::string>{"release", "release/release.json"}));
}

TEST_F(Folder, ACrashAfterTheLastRenameLeavesAWholeReleaseThatIsTidiedUp) {
  { start().write("release.json", "{\"format\": 1}"); }
  fs::rename(partial_, out_);  // as far as publish() came
  EXPECT_TRUE(ReleaseFolder::is_whole(out_));
  EXPECT_FALSE(ReleaseFolder::is_interrupted(out_));
  EXPECT_EQ(ReleaseFolder::read_release(out_).at("format").as_integer(), 1);
  EXPECT_FALSE(fs::exists(out_ + "/.run"));
  EXPECT_THROW(ReleaseFolder::resume(out_), UsageError);
}

// ---- Trouble with the disk ----------------------------------------------------------------------

TEST_F(Folder, APlaceThatCannotBeWrittenIsASourceError) {
  if (!fs::exists("/proc/self")) GTEST_SKIP() << "this system has no /proc";
  const auto message =
      error_of<SourceError>([] { ReleaseFolder::start("/proc/release", false, record()); });
  EXPECT_TRUE(contains(message, "/proc/release.partial can't be written ("));
  const std::string file = dir_.write("file", "x");
  EXPECT_THROW(ReleaseFolder::start(file + "/release", false, record()), SourceError);
  EXPECT_THROW(ReleaseFolder::start(dir_ / std::string(5000, 'x'), false, record()), SourceError);
}

TEST_F(Folder, AFileThatCannotBeWrittenIsASourceError) {
  auto folder = start();
  fs::create_directory(folder.file("taken.new"));
  EXPECT_THROW(folder.write("taken", "x"), SourceError);
  EXPECT_THROW(sync_to_disk(dir_ / "none"), SourceError);
}

}  // namespace
}  // namespace tandem
