// SPDX-License-Identifier: Apache-2.0
#pragma once
// The flags of a command, declared beside the variables they fill. The parser behind it (CLI11, a
// heavy header) stays in args.cpp.

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "tandem/base/parallel.h"

namespace tandem::cli {

class Args {
 public:
  explicit Args(void* app) : app_(app) {}

  enum class Need { Optional, Required };

  void option(const std::string& flag, std::string& value, const std::string& help,
              Need need = Need::Optional);
  void option(const std::string& flag, std::vector<std::string>& value, const std::string& help,
              Need need = Need::Optional);
  void option(const std::string& flag, double& value, const std::string& help,
              Need need = Need::Optional);
  void option(const std::string& flag, std::int64_t& value, const std::string& help,
              Need need = Need::Optional);
  void flag(const std::string& flag, bool& value, const std::string& help);
  void option(const std::string& flag, bool& value, const std::string& help) {
    this->flag(flag, value, help);
  }

  // Whether the command line gave this flag; for settings that a file may give instead.
  bool given(const std::string& flag) const;

 private:
  void* app_;  // the parser's own object for one command
};

// Text for the person at the terminal; a run never fails because nobody can read it.
void tell(const std::string& text);

// The flags that every long command has.
struct CommonFlags {
  std::int64_t threads = 0;  // 0: all cores
  bool json = false;
  bool quiet = false;

  void declare(Args& args);
  Threads thread_count() const;                  // UsageError when out of range
  void note(const std::string& text) const;      // to standard error, unless quiet
  void complain(const std::string& text) const;  // to standard error, always
};

class Command {
 public:
  virtual ~Command() = default;
  virtual std::string name() const = 0;
  virtual std::string summary() const = 0;
  virtual void declare(Args& args) = 0;
  virtual int run() = 0;  // an exit code
  // What it writes is for the steward alone: nobody else of the machine may read it.
  virtual bool internal() const { return false; }
};

// Parses the command line and runs the command it names. Returns the exit code: 0 done, 1 the run
// failed, 2 the call is wrong, 3 the ledger refuses, 130 it was interrupted.
int run_commands(int argc, const char* const* argv,
                 const std::vector<std::unique_ptr<Command>>& commands);

}  // namespace tandem::cli
