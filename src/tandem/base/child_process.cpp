// SPDX-License-Identifier: Apache-2.0
#include "tandem/base/child_process.h"

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <string_view>
#include <thread>

#include "tandem/base/check.h"
#include "tandem/base/text.h"

extern char** environ;

namespace tandem {

namespace {

using Clock = std::chrono::steady_clock;

bool runs(const std::string& path) { return access(path.c_str(), X_OK) == 0; }

// What a child starts with: no files but an empty input and outputs that lead nowhere, no blocked
// signals, and a group of its own, so that Ctrl-C reaches it through this process alone.
class Beginning {
 public:
  Beginning() {
    posix_spawn_file_actions_init(&actions_);
    posix_spawn_file_actions_addopen(&actions_, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_addopen(&actions_, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
    posix_spawn_file_actions_addopen(&actions_, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
    posix_spawn_file_actions_addclosefrom_np(&actions_, STDERR_FILENO + 1);
    posix_spawnattr_init(&attributes_);
    sigset_t none;
    sigset_t all;
    sigemptyset(&none);
    sigfillset(&all);
    posix_spawnattr_setsigmask(&attributes_, &none);
    posix_spawnattr_setsigdefault(&attributes_, &all);
    posix_spawnattr_setpgroup(&attributes_, 0);
    posix_spawnattr_setflags(
        &attributes_, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETPGROUP);
  }
  ~Beginning() {
    posix_spawn_file_actions_destroy(&actions_);
    posix_spawnattr_destroy(&attributes_);
  }
  Beginning(const Beginning&) = delete;
  Beginning& operator=(const Beginning&) = delete;

  // The process, or 0 when there is none.
  pid_t start(const std::vector<std::string>& arguments) const {
    std::vector<std::string> copies(arguments);
    std::vector<char*> words;
    for (auto& word : copies) words.push_back(word.data());
    words.push_back(nullptr);
    pid_t child = 0;
    return posix_spawn(&child, words[0], &actions_, &attributes_, words.data(), environ) == 0
               ? child
               : 0;
  }

 private:
  posix_spawn_file_actions_t actions_{};
  posix_spawnattr_t attributes_{};
};

// Kills the child and takes leave of it, unless it has ended.
class Child {
 public:
  explicit Child(pid_t pid) : pid_(pid) {}
  ~Child() {
    if (pid_ == 0) return;
    kill(-pid_, SIGKILL);  // and whatever it started
    while (waitpid(pid_, nullptr, 0) < 0 && errno == EINTR) {
    }
  }
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;

  bool has_ended(int& status) {
    const pid_t ended = waitpid(pid_, &status, WNOHANG);
    if (ended == 0 || (ended < 0 && errno == EINTR)) return false;
    if (ended < 0) status = -1;  // somebody else took its status
    pid_ = 0;
    return true;
  }

 private:
  pid_t pid_;
};

}  // namespace

std::string find_program(const std::string& name) {
  if (name.find('/') != std::string::npos) return runs(name) ? name : "";
  const char* path = std::getenv("PATH");
  for (const auto folder : split(path == nullptr ? "/usr/bin:/bin" : path, ':')) {
    const std::string full = std::string(folder) + "/" + name;
    if (!folder.empty() && runs(full)) return full;
  }
  return "";
}

ChildEnd run_child(const std::vector<std::string>& arguments, const ChildLimits& limits,
                   const Cancel& cancel) {
  check(!arguments.empty(), "a child is a program");
  constexpr auto kShortestNap = std::chrono::microseconds(200);
  constexpr auto kLongestNap = std::chrono::milliseconds(10);
  cancel.check();
  const auto until = Clock::now() + std::chrono::duration<double>(limits.seconds);
  const pid_t pid = Beginning().start(arguments);
  if (pid == 0) return ChildEnd::NotStarted;
  Child child(pid);
  const rlimit memory{limits.bytes, limits.bytes};
  prlimit(pid, RLIMIT_AS, &memory, nullptr);
  Clock::duration nap = kShortestNap;
  int status = 0;
  while (!child.has_ended(status)) {
    cancel.check();
    if (Clock::now() >= until) return ChildEnd::TimedOut;
    std::this_thread::sleep_for(nap);
    nap = std::min<Clock::duration>(2 * nap, kLongestNap);
  }
  return status == 0 ? ChildEnd::Finished : ChildEnd::Failed;
}

}  // namespace tandem
