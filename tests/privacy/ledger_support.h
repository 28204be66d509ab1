// SPDX-License-Identifier: Apache-2.0
#pragma once
// Ledgers for tests, in few words.

#include <sqlite3.h>

#include <optional>
#include <string>
#include <vector>

#include "support/cost_for_tests.h"
#include "support/files.h"
#include "tandem/base/digest.h"
#include "tandem/base/error.h"
#include "tandem/privacy/ledger.h"

namespace tandem::test {

inline LedgerTerms terms(double epsilon, double delta) {
  return {"people", Epsilon(epsilon), Delta(delta), PrivacyUnit{}};
}

inline LedgerCharge pure(double epsilon) {
  return {CostForTests::at_least(epsilon), CostForTests::at_least(epsilon * epsilon / 2.0)};
}

inline LedgerCharge zcdp(double rho) { return {std::nullopt, CostForTests::at_least(rho)}; }

inline std::string open_run(Ledger& ledger, const LedgerCharge& charge) {
  return ledger.reserve({"mst", "release", ledger.terms().unit, false}, charge);
}

// Raw SQL on a file, as someone at a prompt would type it.
class Sql {
 public:
  explicit Sql(const std::string& path) {
    sqlite3_open(path.c_str(), &db_);
    run("PRAGMA synchronous = OFF");
  }
  ~Sql() { sqlite3_close(db_); }
  Sql(const Sql&) = delete;
  Sql& operator=(const Sql&) = delete;

  using Rows = std::vector<std::vector<std::string>>;
  // The rows, or nothing when SQLite itself refuses.
  std::optional<Rows> run(const std::string& sql) {
    Rows rows;
    const auto collect = [](void* out, int count, char** values, char**) {
      auto& row = static_cast<Rows*>(out)->emplace_back();
      for (int i = 0; i < count; ++i) row.emplace_back(values[i] == nullptr ? "NULL" : values[i]);
      return 0;
    };
    if (sqlite3_exec(db_, sql.c_str(), collect, &rows, nullptr) != SQLITE_OK) return std::nullopt;
    return rows;
  }
  Rows rows(const std::string& sql) { return run(sql).value(); }

 private:
  sqlite3* db_ = nullptr;
};

// What opening and verifying finds: "" for a whole ledger. Anything but a UsageError escapes.
inline std::string fault_in(const std::string& path) {
  try {
    return Ledger::open(path).verify().fault;
  } catch (const UsageError& error) {
    return error.what();
  }
}

// A small ledger with an entry of every kind; returns its path.
inline std::string sample(const TempDir& dir, const std::string& name = "sample") {
  Ledger ledger = Ledger::create(dir / name, terms(4.0, 1e-9));
  const std::string first = open_run(ledger, pure(1.0));
  const std::string second = open_run(ledger, zcdp(0.01));
  ledger.record_step(first, 0, sha256_hex("a"));
  ledger.record_step(second, 0, sha256_hex("b"));
  ledger.record_step(first, 1, sha256_hex("c"));
  ledger.settle(first, pure(0.5), 2);
  return dir / name;
}

}  // namespace tandem::test
