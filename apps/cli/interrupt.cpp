// SPDX-License-Identifier: Apache-2.0
#include "interrupt.h"

#include <unistd.h>

#include <csignal>

namespace tandem::cli {
namespace {

constexpr int kInterrupted = 130;  // the exit code of a command that Ctrl-C ended

const Cancel* current = nullptr;  // a handler has no other way to reach it

void request_stop(int /*signal*/) {
  if (current == nullptr || current->requested()) _exit(kInterrupted);
  current->request();
}

}  // namespace

Interruptible::Interruptible() {
  current = &token_;
  std::signal(SIGINT, request_stop);
  std::signal(SIGTERM, request_stop);
}

Interruptible::~Interruptible() {
  std::signal(SIGINT, SIG_DFL);
  std::signal(SIGTERM, SIG_DFL);
  current = nullptr;
}

}  // namespace tandem::cli
