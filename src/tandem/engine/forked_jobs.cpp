// SPDX-License-Identifier: Apache-2.0
#include "tandem/engine/forked_jobs.h"

#include <fmt/core.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <exception>
#include <map>
#include <string_view>
#include <utility>

#include "tandem/base/error.h"

namespace tandem {

namespace {

constexpr char kDone = '+';
constexpr char kFailed = '-';

// A job that was started: its process, and the pipe its text comes through.
struct Running {
  std::size_t index = 0;
  pid_t process = 0;
  std::string text;
};

[[noreturn]] void run_child(int pipe, pid_t parent, std::size_t index,
                            const std::function<std::string(std::size_t)>& job) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);  // no orphans when this program is killed
  if (getppid() != parent) _exit(1);
  std::string text;
  try {
    text = kDone + job(index);
  } catch (const std::exception& error) {
    text = kFailed + std::string(error.what());
  }
  for (std::size_t sent = 0; sent < text.size();) {
    const ssize_t wrote = write(pipe, text.data() + sent, text.size() - sent);
    if (wrote < 0 && errno != EINTR) _exit(1);
    if (wrote > 0) sent += static_cast<std::size_t>(wrote);
  }
  _exit(0);
}

class Pool {
 public:
  explicit Pool(const std::function<std::string(std::size_t)>& job) : job_(job) {}
  ~Pool() {
    for (const auto& [pipe, running] : running_) {
      kill(running.process, SIGKILL);
      waitpid(running.process, nullptr, 0);
      close(pipe);
    }
  }
  Pool(const Pool&) = delete;
  Pool& operator=(const Pool&) = delete;

  std::size_t size() const { return running_.size(); }

  void start(std::size_t index) {
    std::array<int, 2> ends{};
    if (pipe(ends.data()) != 0) fail();
    std::fflush(nullptr);  // or both processes would write what is still waiting
    const pid_t parent = getpid();
    const pid_t child = fork();
    if (child < 0) fail();
    if (child == 0) {
      close(ends[0]);
      run_child(ends[1], parent, index, job_);
    }
    close(ends[1]);
    running_[ends[0]] = {.index = index, .process = child, .text = {}};
  }

  // Waits until a job has ended.
  std::pair<std::size_t, JobOutcome> next() {
    for (;;) {
      std::vector<pollfd> pipes;
      for (const auto& [pipe, running] : running_) pipes.push_back({pipe, POLLIN, 0});
      if (poll(pipes.data(), pipes.size(), -1) < 0 && errno != EINTR) fail();
      for (const auto& [pipe, events, returned] : pipes) {
        if (returned == 0) continue;
        std::array<char, 4096> buffer{};
        const ssize_t got = read(pipe, buffer.data(), buffer.size());
        if (got > 0) running_[pipe].text.append(buffer.data(), static_cast<std::size_t>(got));
        if (got == 0) return end(pipe);
      }
    }
  }

 private:
  std::pair<std::size_t, JobOutcome> end(int pipe) {
    const Running ended = std::move(running_[pipe]);
    running_.erase(pipe);
    close(pipe);
    int status = 0;
    rusage usage{};
    while (wait4(ended.process, &status, 0, &usage) < 0 && errno == EINTR) {
    }
    JobOutcome outcome;
    outcome.peak_mb = static_cast<double>(usage.ru_maxrss) / 1024.0;  // of kilobytes
    if (WIFSIGNALED(status)) {
      outcome.text = fmt::format("its process was ended by signal {}", WTERMSIG(status));
    } else if (ended.text.empty()) {
      outcome.text = "its process gave no result";
    } else {
      outcome.done = ended.text[0] == kDone;
      outcome.text = ended.text.substr(1);
    }
    return {ended.index, outcome};
  }

  [[noreturn]] static void fail() {
    throw SourceError(fmt::format("A process can't be started ({}).", std::strerror(errno)));
  }

  const std::function<std::string(std::size_t)>& job_;
  std::map<int, Running> running_;  // by its pipe
};

}  // namespace

void run_forked(std::size_t count, int at_once, const std::function<std::string(std::size_t)>& job,
                const std::function<void(std::size_t, const JobOutcome&)>& finished) {
  Pool pool(job);
  std::size_t started = 0;
  while (started < count || pool.size() > 0) {
    while (started < count && pool.size() < static_cast<std::size_t>(at_once)) {
      pool.start(started++);
    }
    const auto [index, outcome] = pool.next();
    finished(index, outcome);
  }
}

}  // namespace tandem
