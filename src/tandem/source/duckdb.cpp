// SPDX-License-Identifier: Apache-2.0
#include "tandem/source/duckdb.h"

#include <dlfcn.h>
#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdlib>
#include <utility>

#include "tandem/base/error.h"

namespace tandem {

namespace {

// ---- ADBC 1.0.0, as its specification lays it out ----

using Status = std::uint8_t;  // 0: well

struct AdbcError {
  char* message;
  std::int32_t vendor_code;
  std::array<char, 5> sqlstate;
  void (*release)(AdbcError*);
  std::array<void*, 2> more;  // room for those of version 1.1.0
};

// A database, a connection or a statement: what the library keeps of it, and whose it is.
struct AdbcObject {
  void* private_data;
  void* private_driver;
};

using OnObject = Status (*)(AdbcObject*, AdbcError*);
using OnTwo = Status (*)(AdbcObject*, AdbcObject*, AdbcError*);
using Unused = void (*)();  // a function that is not called here

// The table of functions, in the order of the specification.
struct AdbcDriver {
  void* private_data;
  void* private_manager;
  Status (*release)(AdbcDriver*, AdbcError*);

  OnObject database_init;
  OnObject database_new;
  Status (*database_set_option)(AdbcObject*, const char*, const char*, AdbcError*);
  OnObject database_release;

  Unused connection_commit;
  Unused connection_get_info;
  Unused connection_get_objects;
  Unused connection_get_table_schema;
  Unused connection_get_table_types;
  OnTwo connection_init;
  OnObject connection_new;
  Unused connection_set_option;
  Unused connection_read_partition;
  OnObject connection_release;
  Unused connection_rollback;

  Unused statement_bind;
  Unused statement_bind_stream;
  Status (*statement_execute_query)(AdbcObject*, ArrowArrayStream*, std::int64_t*, AdbcError*);
  Unused statement_execute_partitions;
  Unused statement_get_parameter_schema;
  OnTwo statement_new;
  Unused statement_prepare;
  OnObject statement_release;
  Unused statement_set_option;
  Status (*statement_set_sql_query)(AdbcObject*, const char*, AdbcError*);
  Unused statement_set_substrait_plan;

  // Version 1.1.0 goes on with 24 functions; room for them, should a library write there.
  std::array<Unused, 32> more;
};

constexpr int kAdbcVersion = 1'000'000;  // 1.0.0
using InitFunction = Status (*)(int version, void* driver, AdbcError*);

// ---- The library ----

constexpr const char* kVariable = "TANDEM_DUCKDB";
constexpr const char* kName = "libduckdb.so";
constexpr const char* kEntry = "duckdb_adbc_init";

[[noreturn]] void unusable(const std::string& named) {
  throw UsageError(fmt::format(
      "{} is no DuckDB library that can be used; name a whole libduckdb.so of version 1.2 or later "
      "in {} (the module inside Python's duckdb is none), or read Parquet in Python, with "
      "tandem.synthesize.",
      named, kVariable));
}

std::string library_name() {
  const char* stated = std::getenv(kVariable);
  return stated == nullptr || *stated == '\0' ? kName : stated;
}

InitFunction load() {
  const std::string name = library_name();
  // It is never closed: what it has started and kept outlives a database.
  void* library = dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr && name == kName) {
    throw UsageError(fmt::format(
        "Parquet is read through DuckDB's library, and this machine has none: get libduckdb.so "
        "('npm pack @duckdb/node-bindings-linux-x64' has it, or DuckDB's own downloads) and name "
        "it in {}, or read Parquet in Python, with tandem.synthesize.",
        kVariable));
  }
  void* entry = library == nullptr ? nullptr : dlsym(library, kEntry);
  if (entry == nullptr) unusable(name);
  return reinterpret_cast<InitFunction>(entry);  // NOLINT: how POSIX hands out functions
}

// Whether a call went well. DuckDB may also throw through its C door, and what it says is not kept.
template <class Call>
bool succeeds(Call&& call) {
  AdbcError error{};
  Status status = 1;
  try {
    status = call(&error);
  } catch (...) {
    return false;
  }
  if (error.release != nullptr) error.release(&error);
  return status == 0;
}

}  // namespace

struct DuckDb::Library {
  AdbcDriver driver{};
  AdbcObject database{};
  AdbcObject connection{};
  bool has_database = false;
  bool has_connection = false;

  bool call(OnObject function, AdbcObject& object) const {
    return function != nullptr &&
           succeeds([&](AdbcError* error) { return function(&object, error); });
  }
  bool call(OnTwo function, AdbcObject& object, AdbcObject& of) const {
    return function != nullptr &&
           succeeds([&](AdbcError* error) { return function(&object, &of, error); });
  }
  bool set(const char* option, const std::string& value) {
    return driver.database_set_option != nullptr && succeeds([&](AdbcError* error) {
             return driver.database_set_option(&database, option, value.c_str(), error);
           });
  }

  bool open(InitFunction init, int threads) {
    if (!succeeds([&](AdbcError* error) { return init(kAdbcVersion, &driver, error); })) {
      return false;
    }
    has_database = call(driver.database_new, database);
    if (!has_database) return false;
    // Nothing leaves the memory of this process, and nothing comes in but what a query names.
    const bool alone = set("path", ":memory:") && set("temp_directory", "") &&
                       set("autoload_known_extensions", "false") &&
                       set("autoinstall_known_extensions", "false") &&
                       set("preserve_insertion_order", "true") &&
                       set("memory_limit", "4GB") &&  // of what decodes; rows are handed on
                       set("threads", std::to_string(std::max(1, threads)));
    if (!alone || !call(driver.database_init, database)) return false;
    has_connection = call(driver.connection_new, connection);
    return has_connection && call(driver.connection_init, connection, database);
  }

  ~Library() {
    if (has_connection) call(driver.connection_release, connection);
    if (has_database) call(driver.database_release, database);
  }
};

DuckDb::DuckDb(int threads) : library_(std::make_unique<Library>()) {
  const InitFunction init = load();
  if (!library_->open(init, threads)) {
    library_.reset();
    unusable(library_name());
  }
  run("SET enable_external_file_cache = false");  // earlier versions have no such cache
  if (!run("SET TimeZone = 'UTC'")) unusable(library_name());
}

DuckDb::~DuckDb() = default;

bool DuckDb::run(const std::string& sql) {
  OwnedStream rows = query(sql);
  if (rows.empty()) return false;
  OwnedArray batch;
  return next_of(rows, batch);
}

bool next_of(OwnedStream& rows, OwnedArray& batch) {
  batch.reset();
  try {
    return (*rows).get_next(rows.get(), batch.get()) == 0;
  } catch (...) {
    return false;
  }
}

OwnedStream DuckDb::query(const std::string& sql) {
  const AdbcDriver& driver = library_->driver;
  AdbcObject statement{};
  OwnedStream out;
  if (!library_->call(driver.statement_new, library_->connection, statement)) return out;
  const bool done = succeeds([&](AdbcError* error) {
                      return driver.statement_set_sql_query(&statement, sql.c_str(), error);
                    }) &&
                    succeeds([&](AdbcError* error) {
                      return driver.statement_execute_query(&statement, out.get(), nullptr, error);
                    });
  library_->call(driver.statement_release, statement);
  if (!done) out.reset();
  return out;
}

}  // namespace tandem
