// SPDX-License-Identifier: Apache-2.0
#pragma once
// One entry of a ledger's chain, and its hash. Every entry is a row of one table; what does not
// apply to its kind is absent.

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace tandem {

struct LedgerEntry {
  std::int64_t seq = 0;  // 1, 2, 3, ...
  std::string time;      // UTC, "2026-01-31T12:00:00Z"
  std::string kind;      // create, limit, reserve, step, settle

  // create; a limit has epsilon alone
  std::optional<std::string> dataset;
  std::optional<std::string> epsilon;  // shortest decimal that reads back to the same double
  std::optional<std::string> delta;
  std::optional<std::string> neighbors;
  std::optional<std::int64_t> rows_per_person;

  std::optional<std::string> run;        // reserve, step, settle
  std::optional<std::string> mechanism;  // reserve
  std::optional<std::string> label;      // reserve
  std::optional<std::string> pure;       // reserve, settle: grains of epsilon, if the run is pure
  std::optional<std::string> rho;        // reserve, settle: grains of rho
  std::optional<std::int64_t> step;      // step
  std::optional<std::string> digest;     // step

  std::string hash;
};

// Column by column in the table's order, numbers in decimal; the hash is the last.
inline constexpr std::size_t kLedgerColumns = 16;
using LedgerFields = std::array<std::optional<std::string>, kLedgerColumns>;
LedgerFields to_fields(const LedgerEntry& entry);
std::optional<LedgerEntry> to_entry(const LedgerFields& fields);  // absent when malformed

// SHA-256 of "tandem-ledger-1\n", the previous entry's hash, and every field but the hash itself:
// "LENGTH:BYTES," when present, "-" when absent, which no two different entries share.
//
// Privacy: no claim; tampering that leaves the hashes alone is visible, rewriting them all is not.
std::string chain_hash(std::string_view previous, const LedgerEntry& entry);

inline constexpr std::string_view kNoPreviousHash =
    "0000000000000000000000000000000000000000000000000000000000000000";

}  // namespace tandem
