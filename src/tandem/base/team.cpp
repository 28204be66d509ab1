// SPDX-License-Identifier: Apache-2.0
#include "tandem/base/team.h"

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <thread>
#include <vector>

namespace tandem {
namespace {

// How often a thread looks for work before it sleeps: some tens of microseconds.
constexpr int kLooks = 4000;

void pause() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#endif
}

// The state of a team in one word: whether work is open, how many helpers are at it, and a count of
// the calls, so that each is a state of its own.
constexpr std::uint64_t kOpen = 1;
constexpr std::uint64_t kHelper = 2;
constexpr std::uint64_t kHelpers = 0xfffe;
constexpr std::uint64_t kCall = 0x10000;

}  // namespace

struct Team::Impl {
  Threads wanted;
  std::size_t helpers = 0;
  std::atomic<std::uint64_t> state{0};
  std::atomic<bool> stop{false};
  std::atomic<std::size_t> next{0};
  std::size_t tasks = 0;
  const std::function<void(std::size_t)>* task = nullptr;
  std::vector<std::jthread> threads;

  void work() {
    for (std::size_t i = next++; i < tasks; i = next++) (*task)(i);
  }

  void help() {
    std::uint64_t done = 0;  // the last call this thread had a part in
    for (;;) {
      std::uint64_t now = state.load(std::memory_order_acquire);
      const auto idle = [&] { return (now & kOpen) == 0 || now / kCall == done; };
      for (int look = 0; look < kLooks && idle() && !stop; ++look) {
        pause();
        now = state.load(std::memory_order_acquire);
      }
      if (stop) return;
      if (idle()) {
        state.wait(now, std::memory_order_acquire);
        continue;
      }
      if (!state.compare_exchange_weak(now, now + kHelper, std::memory_order_acq_rel)) continue;
      done = now / kCall;
      work();
      const std::uint64_t left = state.fetch_sub(kHelper, std::memory_order_acq_rel) - kHelper;
      if ((left & kHelpers) == 0) state.notify_all();
    }
  }
};

Team::Team(Threads threads) : impl_(std::make_unique<Impl>()) {
  impl_->wanted = threads;
  impl_->helpers = static_cast<std::size_t>(std::clamp(threads.count, 1, 256)) - 1;
}

Team::~Team() {
  impl_->stop = true;
  impl_->state += kCall;
  impl_->state.notify_all();
}

void Team::run(std::size_t tasks, const std::function<void(std::size_t)>& task) {
  impl_->wanted.check();
  if (impl_->helpers == 0 || tasks < 2) {
    for (std::size_t i = 0; i < tasks; ++i) task(i);
    return;
  }
  while (impl_->threads.size() < impl_->helpers) {
    impl_->threads.emplace_back([impl = impl_.get()] { impl->help(); });
  }
  impl_->task = &task;
  impl_->tasks = tasks;
  impl_->next = 0;
  auto& state = impl_->state;
  state.fetch_add(kCall + kOpen, std::memory_order_acq_rel);
  state.notify_all();
  impl_->work();
  // Who has not come by now is not needed.
  std::uint64_t now = state.fetch_sub(kOpen, std::memory_order_acq_rel) - kOpen;
  for (int look = 0; (now & kHelpers) != 0; ++look) {
    if (look < kLooks) {
      pause();
    } else {
      state.wait(now, std::memory_order_acquire);
    }
    now = state.load(std::memory_order_acquire);
  }
}

void run_tasks(Team* team, std::size_t tasks, const std::function<void(std::size_t)>& task) {
  if (team != nullptr) {
    team->run(tasks, task);
    return;
  }
  for (std::size_t i = 0; i < tasks; ++i) task(i);
}

}  // namespace tandem
