// SPDX-License-Identifier: Apache-2.0
#include "tandem/base/child_process.h"

#include <gtest/gtest.h>

#include <chrono>
#include <fstream>
#include <string>
#include <thread>

#include "support/files.h"
#include "tandem/base/error.h"

namespace tandem {
namespace {

using test::TempDir;

ChildEnd shell(const std::string& script, double seconds = 20.0, const Cancel& cancel = {}) {
  return run_child({"/bin/sh", "-c", script}, {.seconds = seconds}, cancel);
}

TEST(ChildProcess, TellsHowAProgramEnds) {
  EXPECT_EQ(shell("exit 0"), ChildEnd::Finished);
  EXPECT_EQ(shell("exit 3"), ChildEnd::Failed);
  EXPECT_EQ(shell("kill -SEGV $$"), ChildEnd::Failed);
  EXPECT_EQ(run_child({"/nowhere/program"}, {}, {}), ChildEnd::NotStarted);
}

TEST(ChildProcess, EndsOneThatTakesTooLong) {
  EXPECT_EQ(shell("sleep 60", 0.05), ChildEnd::TimedOut);
}

TEST(ChildProcess, EndsWithWhatItStarted) {
  const TempDir dir;
  const std::string file = (dir.path() / "late").string();
  EXPECT_EQ(shell("(sleep 1; touch " + file + ") & wait", 0.05), ChildEnd::TimedOut);
  std::this_thread::sleep_for(std::chrono::milliseconds(1300));
  EXPECT_FALSE(std::ifstream(file).good());
}

TEST(ChildProcess, StopsWhenItIsToldTo) {
  const Cancel stop = Cancel::token();
  std::thread other([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    stop.request();
  });
  EXPECT_THROW(shell("sleep 60", 60.0, stop), Cancelled);
  other.join();
}

TEST(ChildProcess, GetsNoOpenFilesAndNoInput) {
  const TempDir dir;
  const std::string secret = (dir.path() / "secret").string();
  std::ofstream(secret) << "private";
  const std::string list = (dir.path() / "list").string();
  std::FILE* open = std::fopen(secret.c_str(), "rb");
  ASSERT_NE(open, nullptr);
  EXPECT_EQ(shell("ls -l /proc/$$/fd > " + list + "; ! read line"), ChildEnd::Finished);
  std::fclose(open);
  std::ifstream file(list);
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  EXPECT_FALSE(text.empty());
  EXPECT_EQ(text.find("secret"), std::string::npos) << text;
}

TEST(ChildProcess, HasNoMoreMemoryThanItsLimit) {
  // The limit is set once the process runs, so the program waits a little before it asks.
  const std::string script =
      "sleep 0.2; x=$(head -c 200000000 /dev/zero | tr '\\0' a); test ${#x} -gt 100";
  EXPECT_EQ(run_child({"/bin/sh", "-c", script}, {.seconds = 60.0, .bytes = 100'000'000}, {}),
            ChildEnd::Failed);
}

TEST(ChildProcess, FindsProgramsOnThePath) {
  EXPECT_NE(find_program("sh"), "");
  EXPECT_EQ(find_program("/bin/sh"), "/bin/sh");
  EXPECT_EQ(find_program("no-such-program"), "");
  EXPECT_EQ(find_program("/bin/no-such-program"), "");
}

}  // namespace
}  // namespace tandem
