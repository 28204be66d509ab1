// SPDX-License-Identifier: Apache-2.0
#pragma once
// Ctrl-C as a request to stop: work that asks the token ends within a second, and says what became
// of it. A second Ctrl-C ends the process at once; what was drawn is on disk.

#include "tandem/base/cancel.h"

namespace tandem::cli {

// While one exists, SIGINT and SIGTERM request its token. One at a time.
class Interruptible {
 public:
  Interruptible();
  ~Interruptible();
  Interruptible(const Interruptible&) = delete;
  Interruptible& operator=(const Interruptible&) = delete;

  const Cancel& token() const { return token_; }

 private:
  Cancel token_ = Cancel::token();
};

}  // namespace tandem::cli
