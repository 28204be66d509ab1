// SPDX-License-Identifier: Apache-2.0
#pragma once
// Stopping long work from outside: a flag that copies share. Work asks it between small pieces.

#include <atomic>
#include <memory>

namespace tandem {

class Cancel {
 public:
  Cancel() = default;  // never requested
  static Cancel token() {
    Cancel out;
    out.requested_ = std::make_shared<std::atomic<bool>>(false);
    return out;
  }

  // Safe in a signal handler and on any thread. REQUIRES: made by token().
  void request() const { requested_->store(true, std::memory_order_relaxed); }
  bool requested() const {
    return requested_ != nullptr && requested_->load(std::memory_order_relaxed);
  }
  void check() const {
    if (requested()) stop();
  }

 private:
  [[noreturn]] static void stop();  // throws Cancelled
  std::shared_ptr<std::atomic<bool>> requested_;
};

}  // namespace tandem
