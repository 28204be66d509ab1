// SPDX-License-Identifier: Apache-2.0
#pragma once
// One line on a terminal that says how far a long piece of work is, and is gone when it ends.
//
// Of private data, rates of progress are for the terminal alone (docs/privacy.md): nothing is ever
// written elsewhere, such as to a log file.

#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <string>

namespace tandem::cli {

class ProgressBar {
 public:
  using Clock = std::function<std::chrono::steady_clock::time_point()>;
  using Write = std::function<void(const std::string&)>;

  // To standard error when it is a terminal and `wanted`; else it stays silent.
  explicit ProgressBar(std::string what, bool wanted = true);
  // To any place with any clock, for tests.
  ProgressBar(std::string what, Write write, Clock clock);
  ~ProgressBar();
  ProgressBar(const ProgressBar&) = delete;
  ProgressBar& operator=(const ProgressBar&) = delete;

  // So many bytes of so many; 0 in all: unknown. Cheap: most calls only look at the clock.
  void bytes(std::size_t done, std::size_t in_all);

  void clear();  // before other text goes to the terminal; the next call draws the line anew

 private:
  void draw(const std::string& line);

  std::string what_;
  Write write_;  // empty: silent
  Clock clock_;
  std::chrono::steady_clock::time_point start_;
  std::chrono::steady_clock::time_point last_;
  bool drawn_ = false;
};

// One line on a terminal that says what a run is doing, for how long, and how long it will take. It
// moves every second, whatever the run is at; gone when the run ends.
class RunLine {
 public:
  explicit RunLine(bool wanted);  // on standard error, when it is a terminal
  ~RunLine();
  RunLine(const RunLine&) = delete;
  RunLine& operator=(const RunLine&) = delete;

  // What is being done. `share` of all work is done; 0: nobody knows.
  void show(const std::string& doing, double share = 0.0);
  void clear();  // before other text goes to the terminal

  // "step 12, 34% of the budget, 42 s, 1 min 21 s left"
  static std::string text(const std::string& doing, double share, double seconds);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;  // none: silent
};

// A bar for each source in turn; copies share it.
std::function<void(const std::string& source, std::size_t read, std::size_t all)> reading_bars(
    bool wanted);

}  // namespace tandem::cli
