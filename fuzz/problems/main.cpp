// SPDX-License-Identifier: Apache-2.0
// Fuzzes whole problems: makes them from seeds, runs them and checks what tandem promises
// (trial.h).
//
//   fuzz_problems [wide] [COUNT [FIRST-SEED]] [--jobs N] [--keep FOLDER]
//
// Problems run in batches, each in a process of its own, so that a crash, an abort or a time-out is
// one more outcome. With --keep their files stay, in FOLDER/SEED.

#include <fmt/core.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <exception>
#include <filesystem>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tandem/base/error.h"
#include "tandem/base/text.h"
#include "trial.h"

namespace tandem::fuzz {
namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

constexpr rlim_t kMostMemory = rlim_t{12} << 30;  // of a process; above every --memory-limit kept
constexpr std::uint64_t kBatch = 20;

volatile sig_atomic_t interrupted = 0;
void interrupt(int /*signal*/) { interrupted = 1; }

struct Call {
  Kind kind = Kind::Small;
  std::uint64_t count = 1000;
  std::uint64_t first = 1;
  int jobs = 2;
  std::string keep;
  // Seconds of computing that a problem may take; a process that waits for ever is given more.
  int patience() const { return kind == Kind::Wide ? 900 : 120; }
  std::string again(std::uint64_t seed) const {
    return fmt::format("./run fuzz problems {}1 {}", kind == Kind::Wide ? "wide " : "", seed);
  }
};

std::uint64_t number(const std::string& text, std::string_view what) {
  const auto value = parse_number(text);
  if (!value || *value < 0 || *value > 1e15 || text.find('.') != std::string::npos) {
    throw UsageError(fmt::format("{} is {}; give a whole number.", what, in_quotes(text)));
  }
  return static_cast<std::uint64_t>(*value);
}

Call parse(const std::vector<std::string>& words) {
  Call call;
  std::vector<std::string> plain;
  for (std::size_t i = 0; i < words.size(); ++i) {
    const bool valued = words[i] == "--jobs" || words[i] == "--keep";
    if (valued && i + 1 == words.size()) throw UsageError(words[i] + " needs a value.");
    if (words[i] == "--jobs") {
      call.jobs = static_cast<int>(number(words[++i], "--jobs"));
    } else if (words[i] == "--keep") {
      call.keep = words[++i];
    } else if (words[i] == "wide" && plain.empty() && call.kind == Kind::Small) {
      call.kind = Kind::Wide;
      call.count = 20;
    } else {
      plain.push_back(words[i]);
    }
  }
  if (plain.size() > 2 || call.jobs < 1) {
    throw UsageError("usage: fuzz_problems [wide] [COUNT [FIRST-SEED]] [--jobs N] [--keep FOLDER]");
  }
  if (!plain.empty()) call.count = number(plain[0], "COUNT");
  if (plain.size() > 1) call.first = number(plain[1], "FIRST-SEED");
  return call;
}

// What a child says, a line each, its fields parted by tabs:
//   begun SEED MECHANISM
//   failed SEED WHAT SENTENCE
//   ended SEED released|refused|(neither) SENTENCE
void send(int pipe, const std::vector<std::string>& fields) {
  std::string line;
  for (const auto& field : fields) {
    if (!line.empty()) line += '\t';
    for (const char letter : field) line += letter == '\t' || letter == '\n' ? ' ' : letter;
  }
  line += '\n';
  for (std::size_t sent = 0; sent < line.size();) {
    const ssize_t wrote = write(pipe, line.data() + sent, line.size() - sent);
    if (wrote < 0 && errno != EINTR) _exit(1);
    if (wrote > 0) sent += static_cast<std::size_t>(wrote);
  }
}

// Ends the process that is still at its problem after so many seconds; 0 stops the clocks.
void set_clocks(int seconds) {
  const itimerval computing = {.it_interval = {}, .it_value = {seconds, 0}};
  setitimer(ITIMER_PROF, &computing, nullptr);
  alarm(static_cast<unsigned>(seconds) * 10);
}

bool was_late(int status) {
  return WIFSIGNALED(status) && (WTERMSIG(status) == SIGPROF || WTERMSIG(status) == SIGALRM);
}

struct Batch {
  std::uint64_t next = 0;  // the seed that runs, or comes next
  std::uint64_t end = 0;
};

void work(const Call& call, Batch batch, const std::string& folder, int pipe) {
  for (; batch.next < batch.end; ++batch.next) {
    const std::string seed = fmt::format("{}", batch.next);
    const std::string place = call.keep.empty() ? folder : call.keep + "/" + seed;
    fs::remove_all(place);
    fs::create_directories(place);
    set_clocks(call.patience());
    const auto outcome =
        try_problem(call.kind, batch.next, place, [&](const std::string& mechanism) {
          send(pipe, {"begun", seed, mechanism});
        });
    set_clocks(0);
    for (const auto& failure : outcome.failures) {
      send(pipe, {"failed", seed, failure.what, failure.sentence});
    }
    const bool died = std::ranges::any_of(outcome.failures, [](const Failure& failure) {
      return failure.what == "death" || failure.what == "broken promise";
    });
    send(pipe, {"ended", seed,
                outcome.released ? "released"
                : died           ? ""
                                 : "refused",
                outcome.refusal});
  }
}

[[noreturn]] void run_child(const Call& call, Batch batch, const std::string& folder, int pipe,
                            pid_t parent) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != parent) _exit(1);
  signal(SIGINT, SIG_IGN);  // the parent decides
  const rlimit memory = {kMostMemory, kMostMemory};
  setrlimit(RLIMIT_AS, &memory);
  const rlimit no_core = {0, 0};
  setrlimit(RLIMIT_CORE, &no_core);
  try {
    work(call, batch, folder, pipe);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "fuzz_problems: %s\n", error.what());
    _exit(1);
  }
  _exit(0);
}

struct Child {
  pid_t process = 0;
  Batch batch;
  std::string folder;
  std::string mechanism;
  std::string text;  // of a line that has not ended
  Clock::time_point begun;
  bool failed = false;  // the problem that runs
};

class Run {
 public:
  Run(Call call, std::string folder) : call_(std::move(call)), folder_(std::move(folder)) {}

  // Whether all went well.
  bool go() {
    const std::uint64_t end = call_.first + call_.count;
    std::uint64_t next = call_.first;
    std::vector<Batch> again;  // what a child that died left undone
    const std::uint64_t size = call_.kind == Kind::Wide ? 1 : kBatch;
    while (interrupted == 0) {
      while (children_.size() < static_cast<std::size_t>(call_.jobs) &&
             (!again.empty() || next < end)) {
        if (!again.empty()) {
          start(again.back());
          again.pop_back();
        } else {
          start({next, std::min(next + size, end)});
          next = std::min(next + size, end);
        }
      }
      if (children_.empty()) break;
      wait_for_children(again);
      report_progress();
    }
    for (auto& [pipe, child] : children_) {
      kill(child.process, SIGKILL);
      waitpid(child.process, nullptr, 0);
    }
    print_table();
    return failures_ == 0 && interrupted == 0;
  }

 private:
  void start(Batch batch) {
    std::array<int, 2> ends{};
    if (pipe(ends.data()) != 0) throw SourceError("No pipe can be made.");
    Child child;
    child.batch = batch;
    child.folder = fmt::format("{}/{}", folder_, ++started_);
    child.begun = Clock::now();
    std::fflush(nullptr);
    const pid_t parent = getpid();
    child.process = fork();
    if (child.process < 0) throw SourceError("No process can be started.");
    if (child.process == 0) {
      close(ends[0]);
      run_child(call_, batch, child.folder, ends[1], parent);
    }
    close(ends[1]);
    children_[ends[0]] = std::move(child);
  }

  void wait_for_children(std::vector<Batch>& again) {
    std::vector<pollfd> pipes;
    for (const auto& [pipe, child] : children_) pipes.push_back({pipe, POLLIN, 0});
    if (poll(pipes.data(), pipes.size(), 1000) < 0 && errno != EINTR) {
      throw SourceError("The children can't be heard.");
    }
    if (interrupted != 0) return;
    for (const auto& [pipe, events, returned] : pipes) {
      if (returned == 0) continue;
      std::array<char, 4096> buffer{};
      const ssize_t got = read(pipe, buffer.data(), buffer.size());
      Child& child = children_[pipe];
      if (got > 0) {
        child.text.append(buffer.data(), static_cast<std::size_t>(got));
        take_lines(child);
      } else if (got == 0) {
        bury(child, again);
        close(pipe);
        children_.erase(pipe);
      }
    }
  }

  void take_lines(Child& child) {
    for (auto at = child.text.find('\n'); at != std::string::npos; at = child.text.find('\n')) {
      std::vector<std::string> fields(1);
      for (const char letter : child.text.substr(0, at)) {
        if (letter == '\t') {
          fields.emplace_back();
        } else {
          fields.back() += letter;
        }
      }
      child.text.erase(0, at + 1);
      fields.resize(4);
      if (fields[0] == "begun") {
        child.mechanism = fields[2];
        child.begun = Clock::now();
      } else if (fields[0] == "failed") {
        fail(child, fields[2], fields[3]);
      } else {
        end(child, fields[2], fields[3]);
      }
    }
  }

  void fail(Child& child, const std::string& what, const std::string& sentence) {
    // A problem counts once for each kind of failure, however many of its runs show it.
    const bool first = seen_.emplace(child.batch.next, what).second;
    if (first) ++table_[child.mechanism][what];
    if (first || call_.count == 1) {
      fmt::print("FAILURE {}: seed {}, {}: {}\n  again with: {}\n", what, child.batch.next,
                 child.mechanism, sentence, call_.again(child.batch.next));
      std::fflush(stdout);
    }
    if (!child.failed) ++failures_;
    child.failed = true;
  }

  void end(Child& child, const std::string& how, const std::string& refusal) {
    ++table_[child.mechanism]["problems"];
    if (!how.empty()) ++table_[child.mechanism][how];
    if (how == "refused" && !child.failed) ++refusals_[child.mechanism + ": " + shape_of(refusal)];
    const double seconds = std::chrono::duration<double>(Clock::now() - child.begun).count();
    if (seconds > slowest_) {
      slowest_ = seconds;
      slowest_seed_ = child.batch.next;
    }
    ++done_;
    ++child.batch.next;
    child.failed = false;
  }

  // The sentence with its numbers left out, so that like refusals are counted together.
  static std::string shape_of(const std::string& sentence) {
    std::string out;
    for (const char letter : sentence) {
      const bool digit = letter >= '0' && letter <= '9';
      if (digit && !out.empty() && out.back() == '#') continue;
      out += digit ? '#' : letter;
    }
    return out;
  }

  // A child that ended: well, or in the middle of a problem.
  void bury(Child& child, std::vector<Batch>& again) {
    int status = 0;
    while (waitpid(child.process, &status, 0) < 0 && errno == EINTR) {
    }
    std::error_code ignored;
    fs::remove_all(child.folder, ignored);
    if (child.batch.next >= child.batch.end) return;
    if (was_late(status)) {
      fail(child, "time-out", fmt::format("no end after {} s", call_.patience()));
    } else if (WIFSIGNALED(status)) {
      fail(child, "crash",
           fmt::format("signal {} ({})", WTERMSIG(status), strsignal(WTERMSIG(status))));
    } else {
      fail(child, "crash", "the process ended before its problem did");
    }
    ++table_[child.mechanism]["problems"];
    ++done_;
    if (++child.batch.next < child.batch.end) again.push_back(child.batch);
  }

  void report_progress() {
    const auto now = Clock::now();
    if (now - reported_ < std::chrono::seconds(10)) return;
    reported_ = now;
    fmt::print(stderr, "  {} of {} problems, {} with a failure, {:.0f} s\n", with_commas(done_),
               with_commas(call_.count), failures_, seconds_since_start());
  }

  double seconds_since_start() const {
    return std::chrono::duration<double>(Clock::now() - start_).count();
  }

  void print_table() const {
    if (!refusals_.empty()) fmt::print("\nRefusals before anything was spent:\n");
    for (const auto& [sentence, times] : refusals_) fmt::print("  {:>6}  {}\n", times, sentence);
    std::vector<std::string> heads = {"problems", "released", "refused"};
    for (const auto& [mechanism, row] : table_) {
      for (const auto& [head, count] : row) {
        if (std::ranges::find(heads, head) == heads.end()) heads.push_back(head);
      }
    }
    fmt::print("\n{:<14}", call_.kind == Kind::Wide ? "wide" : "small");
    for (const auto& head : heads) fmt::print("  {:>8}", head);
    fmt::print("\n");
    std::map<std::string, std::uint64_t> sums;
    const auto print_row = [&](const std::string& name, const auto& row) {
      fmt::print("{:<14}", name);
      for (const auto& head : heads) {
        const auto found = row.find(head);
        fmt::print("  {:>{}}", found == row.end() ? 0 : found->second,
                   std::max<std::size_t>(8, head.size()));
      }
      fmt::print("\n");
    };
    for (const auto& [mechanism, row] : table_) {
      print_row(mechanism, row);
      for (const auto& [head, count] : row) sums[head] += count;
    }
    print_row("all", sums);
    rusage used{};
    getrusage(RUSAGE_CHILDREN, &used);
    const double computed = seconds_of(used.ru_utime) + seconds_of(used.ru_stime);
    fmt::print(
        "\n{} problems in {:.0f} s, {:.0f} ms of computing each, the slowest {:.1f} s (seed {})\n",
        with_commas(done_), seconds_since_start(),
        1000.0 * computed / static_cast<double>(std::max<std::uint64_t>(done_, 1)), slowest_,
        slowest_seed_);
    fmt::print("{} with a failure\n", failures_);
  }

  static double seconds_of(const timeval& time) {
    return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) * 1e-6;
  }

  Call call_;
  std::string folder_;
  std::map<int, Child> children_;  // by their pipe
  std::uint64_t started_ = 0;
  std::uint64_t done_ = 0;
  std::uint64_t failures_ = 0;  // problems with any
  std::map<std::string, std::map<std::string, std::uint64_t>> table_;
  std::set<std::pair<std::uint64_t, std::string>> seen_;
  std::map<std::string, std::uint64_t> refusals_;
  double slowest_ = 0.0;
  std::uint64_t slowest_seed_ = 0;
  Clock::time_point start_ = Clock::now();
  Clock::time_point reported_ = Clock::now();
};

// Memory if there is some: a ledger waits for its disk at every step.
std::string make_folder() {
  const char* stated = std::getenv("TMPDIR");
  std::string path = access("/dev/shm", W_OK) == 0 ? "/dev/shm"
                     : stated != nullptr           ? stated
                                                   : "/tmp";
  path += "/tandem-problems-XXXXXX";
  if (mkdtemp(path.data()) == nullptr) throw SourceError("No temporary folder can be made.");
  return path;
}

int run(const std::vector<std::string>& words) {
  const Call call = parse(words);
  struct sigaction action = {};
  action.sa_handler = interrupt;
  sigaction(SIGINT, &action, nullptr);
  sigaction(SIGTERM, &action, nullptr);
  const std::string folder = make_folder();
  const bool well = Run(call, folder).go();
  fs::remove_all(folder);
  return well ? 0 : 1;
}

}  // namespace
}  // namespace tandem::fuzz

int main(int argc, char** argv) {
  try {
    return tandem::fuzz::run({argv + 1, argv + argc});
  } catch (const std::exception& error) {
    std::fprintf(stderr, "fuzz_problems: %s\n", error.what());
    return 2;
  }
}
