// SPDX-License-Identifier: Apache-2.0
#pragma once
// What the gate has given out, step by step. Results are kept here before they are used, so that
// an interrupted run goes on without drawing anything twice.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace tandem {

class Ledger;

struct StepRecord {
  std::string request;  // digest of what was asked: a resumed run must ask the same
  std::vector<std::vector<std::int64_t>> results;
  // What the run's budget was charged for it: grains of the run's currency, and of rho.
  std::string cost = "0";
  std::string rho = "0";
  std::string stream{};  // where a seeded stream was after it; empty for every other
  bool operator==(const StepRecord&) const = default;
};

class Transcript {
 public:
  virtual ~Transcript() = default;
  // The record of this step from an earlier attempt, if it was reached.
  virtual std::optional<StepRecord> recall(std::size_t step) = 0;
  // Keeps the record of the next step; it is durable, and the only one for its step, on return.
  virtual void commit(std::size_t step, const StepRecord& record) = 0;
};

// In memory: for runs that are never resumed.
std::unique_ptr<Transcript> memory_transcript(std::vector<StepRecord> recorded = {});

// In a file, one JSON line a step, each forced to disk. With a ledger, the digest of each line is
// recorded there too before the result is used: of two copies of one run, only one gets past.
// A last line cut short by a crash was never used and is dropped. UsageError on a damaged file.
std::unique_ptr<Transcript> file_transcript(const std::string& path, std::shared_ptr<Ledger> ledger,
                                            const std::string& run);

// The lines of a transcript file as they are there, without one that a crash cut short.
std::vector<std::string> transcript_lines(const std::string& path);

std::string to_line(const StepRecord& record);
StepRecord record_from_line(const std::string& line, const std::string& where);

}  // namespace tandem
