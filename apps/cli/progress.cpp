// SPDX-License-Identifier: Apache-2.0
#include "progress.h"

#include <fmt/core.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <condition_variable>
#include <cstdio>
#include <memory>
#include <mutex>
#include <stop_token>
#include <thread>
#include <utility>

#include "tandem/base/text.h"

namespace tandem::cli {

namespace {

using std::chrono::milliseconds;

constexpr milliseconds kQuickEnough{500};  // work that ends sooner shows no line
constexpr milliseconds kBetweenLines{100};
constexpr std::size_t kBarCells = 24;
constexpr const char* kEraseLine = "\r\x1b[K";

std::string bar(double part) {
  const auto filled = static_cast<std::size_t>(part * static_cast<double>(kBarCells));
  return "[" + std::string(filled, '#') + std::string(kBarCells - filled, '.') + "]";
}

void to_terminal(const std::string& text) {
  std::fputs(text.c_str(), stderr);
  std::fflush(stderr);
}

std::string in_time(double seconds) {
  const auto whole = std::lround(seconds);
  if (whole < 60) return fmt::format("{} s", whole);
  return fmt::format("{} min {:02} s", whole / 60, whole % 60);
}

std::string time_left(double seconds) { return in_time(seconds) + " left"; }

}  // namespace

ProgressBar::ProgressBar(std::string what, bool wanted)
    : ProgressBar(std::move(what),
                  wanted && isatty(STDERR_FILENO) != 0 ? Write(to_terminal) : Write(),
                  std::chrono::steady_clock::now) {}

ProgressBar::ProgressBar(std::string what, Write write, Clock clock)
    : what_(std::move(what)), write_(std::move(write)), clock_(std::move(clock)) {
  start_ = clock_();
  last_ = start_ + kQuickEnough - kBetweenLines;
}

ProgressBar::~ProgressBar() { clear(); }

void ProgressBar::bytes(std::size_t done, std::size_t in_all) {
  if (!write_) return;
  const auto now = clock_();
  if (now - last_ < kBetweenLines) return;
  last_ = now;
  const double seconds = std::chrono::duration<double>(now - start_).count();
  const auto read = static_cast<double>(done);
  const auto rate = human_bytes(read / seconds) + "/s";
  if (in_all == 0) {
    draw(fmt::format("{}: {}, {}", what_, human_bytes(read), rate));
    return;
  }
  const double part = std::min(read / static_cast<double>(in_all), 1.0);
  std::string line = fmt::format("{} {} {:3.0f}%  {} of {}, {}", what_, bar(part), 100.0 * part,
                                 human_bytes(read), human_bytes(static_cast<double>(in_all)), rate);
  if (part > 0.0) line += ", " + time_left(seconds * (1.0 - part) / part);
  draw(line);
}

void ProgressBar::clear() {
  if (!drawn_) return;
  write_(kEraseLine);
  drawn_ = false;
}

void ProgressBar::draw(const std::string& line) {
  write_(kEraseLine + line);
  drawn_ = true;
}

struct RunLine::Impl {
  std::mutex mutex;
  std::condition_variable_any changed;
  std::string doing;  // empty: nothing is shown
  double share = 0.0;
  std::chrono::steady_clock::time_point start = std::chrono::steady_clock::now();
  std::jthread ticker{};  // last, so that it ends first

  void draw() {
    if (doing.empty()) return;
    const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
    to_terminal(kEraseLine + text(doing, share, seconds.count()));
  }
};

RunLine::RunLine(bool wanted) {
  if (!wanted || isatty(STDERR_FILENO) == 0) return;
  impl_ = std::make_unique<Impl>();
  impl_->ticker = std::jthread([impl = impl_.get()](const std::stop_token& stop) {
    std::unique_lock lock(impl->mutex);
    while (!stop.stop_requested()) {
      impl->changed.wait_for(lock, stop, std::chrono::seconds(1), [] { return false; });
      if (!stop.stop_requested()) impl->draw();
    }
  });
}

RunLine::~RunLine() { clear(); }

void RunLine::show(const std::string& doing, double share) {
  if (!impl_) return;
  const std::lock_guard lock(impl_->mutex);
  impl_->doing = doing;
  impl_->share = share;
  impl_->draw();
}

void RunLine::clear() {
  if (!impl_) return;
  const std::lock_guard lock(impl_->mutex);
  if (!impl_->doing.empty()) to_terminal(kEraseLine);
  impl_->doing.clear();
}

std::string RunLine::text(const std::string& doing, double share, double seconds) {
  std::string out = fmt::format("{}, {}", doing, in_time(seconds));
  if (share > 0.0 && share < 1.0) {
    out += ", " + time_left(seconds * (1.0 - share) / share);
  }
  return out;
}

std::function<void(const std::string&, std::size_t, std::size_t)> reading_bars(bool wanted) {
  if (!wanted || isatty(STDERR_FILENO) == 0) return {};
  struct Current {
    std::string source;
    std::unique_ptr<ProgressBar> bar;
  };
  return [current = std::make_shared<Current>()](const std::string& source, std::size_t read,
                                                 std::size_t all) {
    if (!current->bar || current->source != source) {
      current->source = source;
      current->bar = std::make_unique<ProgressBar>("reading " + source);
    }
    current->bar->bytes(read, all);
    if (all > 0 && read >= all) current->bar.reset();
  };
}

}  // namespace tandem::cli
