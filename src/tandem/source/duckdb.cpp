// SPDX-License-Identifier: Apache-2.0
#include "tandem/source/duckdb.h"

#include <dlfcn.h>
#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <mutex>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "tandem/base/digest.h"
#include "tandem/base/error.h"
#include "tandem/base/text.h"

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
constexpr const char* kDigest = "TANDEM_DUCKDB_SHA256";
constexpr const char* kPython = "TANDEM_PYTHON_LIBRARY";
constexpr const char* kEntry = "duckdb_adbc_init";
// Where a system has it. LD_LIBRARY_PATH is not asked: whoever sets it would run code beside
// private rows.
constexpr const char* kPlaces[] = {
    "/usr/local/lib/libduckdb.so", "/usr/lib/x86_64-linux-gnu/libduckdb.so",
    "/usr/lib/aarch64-linux-gnu/libduckdb.so", "/usr/lib/libduckdb.so"};

[[noreturn]] void unusable(const std::string& named) {
  throw UsageError(fmt::format(
      "{} is no DuckDB library that can be used; name a whole libduckdb.so of version 1.2 or "
      "later, "
      "or the module of Python's duckdb, in {}, or read Parquet in Python, with tandem.synthesize.",
      named, kVariable));
}

std::string variable(const char* name) {
  const char* stated = std::getenv(name);
  return stated == nullptr ? "" : stated;
}

std::string library_path() {
  const std::string stated = variable(kVariable);
  // A bare name would be looked for elsewhere than the file whose digest is taken.
  std::error_code ignored;
  if (!stated.empty()) return std::filesystem::absolute(stated, ignored);
  for (const char* place : kPlaces) {
    if (std::filesystem::exists(place)) return place;
  }
  throw UsageError(
      fmt::format("Parquet is read through DuckDB's library, and this machine has none: 'pip "
                  "install duckdb' has "
                  "it in its module (scripts/duckdb.sh shows how it is found); name it in {}, or "
                  "read Parquet in "
                  "Python, with tandem.synthesize.",
                  kVariable));
}

// Python's own libraries that a module may ask for, by paths alone: one that is named, one that
// lies beside it, then the system's.
std::vector<std::string> pythons_of(const std::filesystem::path& module) {
  constexpr std::string_view kMark = ".cpython-3";
  const std::string name = module.filename();
  const auto at = name.find(kMark);
  const bool any = name.find(".abi3.") != std::string::npos;  // of any Python from 3.12 on
  if (at == std::string::npos && !any) return {};
  std::vector<std::string> out;
  if (const auto stated = variable(kPython); !stated.empty()) out.push_back(stated);
  std::error_code ignored;
  for (const auto& file : std::filesystem::directory_iterator(module.parent_path(), ignored)) {
    const std::string beside = file.path().filename();
    if (beside.starts_with("libpython3.") && beside.ends_with(".so.1.0"))
      out.push_back(file.path());
  }
  std::vector<std::string> names;
  if (at != std::string::npos) {
    const auto first = at + kMark.size();
    names.push_back("libpython3." + name.substr(first, name.find('-', first) - first) + ".so.1.0");
  }
  for (int minor = 20; any && minor >= 12; --minor) {
    names.push_back(fmt::format("libpython3.{}.so.1.0", minor));
  }
  for (const auto& library : names) {
    for (const char* place : kPlaces) {
      out.push_back(std::filesystem::path(place).parent_path() / library);
    }
  }
  return out;
}

// The module of Python's duckdb is the library and asks for Python's own, whose names it finds once
// that is there. Nothing of Python runs.
void load_python_of(const std::string& module) {
  const auto pythons = pythons_of(module);
  const auto loads = [](const std::string& path) {
    return dlopen(path.c_str(), RTLD_NOW | RTLD_GLOBAL) != nullptr;
  };
  if (pythons.empty() || std::ranges::any_of(pythons, loads)) return;
  throw UsageError(fmt::format(
      "{} is the module of Python's duckdb, which needs {} or another of its Python; "
      "install Python's shared library (on Debian the package libpython3.11, or of your "
      "version), or name a libduckdb.so in {}.",
      module, pythons.front(), kVariable));
}

struct Loaded {
  InitFunction init = nullptr;
  std::string path;
  std::string digest;
};

const Loaded& loaded(const std::string& path) {
  static std::mutex guard;
  static std::map<std::string, Loaded> known;  // it is never closed: what it has started outlives a
                                               // database
  const std::lock_guard lock(guard);
  if (const auto found = known.find(path); found != known.end()) return found->second;
  std::string digest;
  try {
    digest = sha256_of_file(path);
  } catch (const SourceError&) {
    unusable(path);
  }
  // Before a line of it runs.
  std::string wanted = variable(kDigest);
  for (char& c : wanted) c = c >= 'A' && c <= 'F' ? static_cast<char>(c - 'A' + 'a') : c;
  if (!wanted.empty() && wanted != digest) {
    throw UsageError(fmt::format("{} is not the library whose SHA-256 {} states; name that one.",
                                 path, kDigest));
  }
  load_python_of(path);
  void* library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  void* entry = library == nullptr ? nullptr : dlsym(library, kEntry);
  if (entry == nullptr) unusable(path);
  // NOLINTNEXTLINE: how POSIX hands out functions
  return known.emplace(path, Loaded{reinterpret_cast<InitFunction>(entry), path, digest})
      .first->second;
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
  const Loaded& found = loaded(library_path());
  if (!library_->open(found.init, threads)) {
    library_.reset();
    unusable(found.path);
  }
  run("SET enable_external_file_cache = false");  // earlier versions have no such cache
  if (!run("SET TimeZone = 'UTC'")) unusable(found.path);
  digest_ = found.digest;
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
