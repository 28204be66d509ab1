// SPDX-License-Identifier: Apache-2.0
#include "tandem/privacy/ledger_file.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <sqlite3.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <ctime>
#include <filesystem>
#include <utility>

#include "tandem/base/check.h"

namespace tandem {

namespace fs = std::filesystem;

namespace {

static_assert(SQLITE_VERSION_NUMBER >= 3037000, "STRICT tables need SQLite 3.37");

constexpr int kApplicationId = 0x746e646c;  // "tndl"
constexpr int kFormat = 1;
constexpr int kLongestRow = 1'000'000;  // bytes; real rows stay below 2,000

struct SchemaObject {
  const char* name;
  const char* sql;  // as SQLite keeps it, comments included, for whoever types .schema
};

// In the order of their names. check_structure() admits exactly these.
constexpr std::array<SchemaObject, 4> kSchema = {{
    {"entries",
     R"(CREATE TABLE entries (
  seq             INTEGER PRIMARY KEY,  -- 1, 2, 3, ... without gaps
  time            TEXT NOT NULL,        -- UTC
  kind            TEXT NOT NULL,        -- create, limit, reserve, step, settle
  dataset         TEXT,                 -- create: the terms, fixed for good
  epsilon         TEXT,
  delta           TEXT,
  neighbors       TEXT,                 -- replace-one or add-remove
  rows_per_person INTEGER,
  run             TEXT,                 -- reserve, step, settle: the run's id
  mechanism       TEXT,                 -- reserve
  label           TEXT,                 -- reserve
  pure            TEXT,                 -- reserve, settle: epsilon in units of 2^-80, if pure
  rho             TEXT,                 -- reserve, settle: rho in units of 2^-80
  step            INTEGER,              -- step: 0, 1, 2, ... within the run
  digest          TEXT,                 -- step: SHA-256 of the result
  hash            TEXT NOT NULL         -- SHA-256 of the previous hash and the columns above
) STRICT)"},
    {"entries_by_run", "CREATE INDEX entries_by_run ON entries (run, step)"},
    {"head",
     R"(CREATE TABLE head (
  seq  INTEGER NOT NULL,  -- how many entries there are
  hash TEXT NOT NULL      -- the newest entry's hash
) STRICT)"},
    {"runs",
     R"(CREATE VIEW runs AS
SELECT r.run, r.time, r.mechanism, r.label,
       CAST(r.pure AS REAL) / 1208925819614629174706176.0 AS reserved_epsilon,
       CAST(r.rho AS REAL) / 1208925819614629174706176.0 AS reserved_rho,
       CAST(s.pure AS REAL) / 1208925819614629174706176.0 AS spent_epsilon,
       CAST(s.rho AS REAL) / 1208925819614629174706176.0 AS spent_rho,
       CASE WHEN s.run IS NULL THEN 'open' ELSE 'settled' END AS state
FROM entries r LEFT JOIN entries s ON s.run = r.run AND s.kind = 'settle'
WHERE r.kind = 'reserve' ORDER BY r.seq)"},
}};

constexpr const char* kColumns =
    "seq, time, kind, dataset, epsilon, delta, neighbors, rows_per_person, run, mechanism, label, "
    "pure, rho, step, digest, hash";

std::string utc_now() {
  const std::time_t now = std::time(nullptr);
  std::tm parts{};
  gmtime_r(&now, &parts);
  std::array<char, 32> text{};
  std::strftime(text.data(), text.size(), "%Y-%m-%dT%H:%M:%SZ", &parts);
  return text.data();
}

// SQLite's own words may quote the file: one printable line of a sensible length.
std::string one_line(std::string text) {
  text.resize(std::min<std::size_t>(text.size(), 200));
  for (char& c : text) {
    if (c < 0x20 || c > 0x7e) c = ' ';
  }
  return text;
}

[[noreturn]] void damaged(const std::string& path, std::string_view how) {
  throw UsageError(
      fmt::format("{} is not a whole tandem ledger: {}; restore it from a backup.", path, how));
}

// What SQLite refused, by what a person can do about it.
[[noreturn]] void fail(sqlite3* db, int code, const std::string& path) {
  const std::string why = one_line(db != nullptr ? sqlite3_errmsg(db) : sqlite3_errstr(code));
  switch (code & 0xff) {
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
      throw SourceError(path + " is locked by another process; try again when it has finished.");
    case SQLITE_FULL:
      throw SourceError(path + " can't be written: the disk is full; nothing was changed.");
    case SQLITE_READONLY:
    case SQLITE_PERM:
      throw SourceError(
          fmt::format("{} can't be written ({}); check the permissions of the file and its folder.",
                      path, why));
    case SQLITE_CANTOPEN:
      throw SourceError(fmt::format(
          "{} can't be opened ({}); check the permissions of the file and its folder.", path, why));
    case SQLITE_IOERR:
      throw SourceError(
          fmt::format("{} can't be read or written ({}); check the disk.", path, why));
    case SQLITE_NOTADB:
      throw UsageError(path +
                       " is not a tandem ledger; name a file that 'tandem budget create' made.");
    case SQLITE_NOMEM:
      throw SourceError(path + " can't be read: memory is exhausted.");
    default:  // all statements are constant, so the content is not what they expect
      damaged(path, why);
  }
}

}  // namespace

struct LedgerFile::Impl {
  std::string path;       // as the caller named it, for messages
  std::string real_path;  // absolute, symbolic links resolved
  sqlite3* db = nullptr;

  ~Impl() { sqlite3_close_v2(db); }

  void connect(std::chrono::milliseconds patience);
  void run(const char* sql) const;
  std::string one(const char* sql) const;  // the only value of the only row, as text
};

namespace {

class Statement {
 public:
  Statement(sqlite3* db, const std::string& path, const std::string& sql) : db_(db), path_(path) {
    const int code =
        sqlite3_prepare_v2(db, sql.c_str(), static_cast<int>(sql.size()), &statement_, nullptr);
    if (code != SQLITE_OK) fail(db_, code, path_);
  }
  ~Statement() { sqlite3_finalize(statement_); }
  Statement(const Statement&) = delete;
  Statement& operator=(const Statement&) = delete;

  void bind(int index, const std::optional<std::string>& text) {
    const int code = text ? sqlite3_bind_text(statement_, index, text->data(),
                                              static_cast<int>(text->size()), SQLITE_TRANSIENT)
                          : sqlite3_bind_null(statement_, index);
    if (code != SQLITE_OK) fail(db_, code, path_);
  }
  void bind(int index, std::int64_t number) {
    const int code = sqlite3_bind_int64(statement_, index, number);
    if (code != SQLITE_OK) fail(db_, code, path_);
  }

  bool step() {  // whether there is a row
    const int code = sqlite3_step(statement_);
    if (code != SQLITE_ROW && code != SQLITE_DONE) fail(db_, code, path_);
    return code == SQLITE_ROW;
  }

  std::optional<std::string> text(int column) const {
    if (sqlite3_column_type(statement_, column) == SQLITE_NULL) return std::nullopt;
    const auto* bytes = reinterpret_cast<const char*>(sqlite3_column_text(statement_, column));
    if (bytes == nullptr) fail(db_, SQLITE_NOMEM, path_);
    return std::string(bytes, static_cast<std::size_t>(sqlite3_column_bytes(statement_, column)));
  }
  std::int64_t number(int column) const { return sqlite3_column_int64(statement_, column); }

 private:
  sqlite3* db_;
  const std::string& path_;
  sqlite3_stmt* statement_ = nullptr;
};

}  // namespace

void LedgerFile::Impl::connect(std::chrono::milliseconds patience) {
  const int code = sqlite3_open_v2(
      real_path.c_str(), &db,
      SQLITE_OPEN_READWRITE | SQLITE_OPEN_PRIVATECACHE | SQLITE_OPEN_EXRESCODE, nullptr);
  if (code != SQLITE_OK) fail(db, code, path);
  sqlite3_busy_timeout(db, static_cast<int>(patience.count()));
  // The file may be hostile: nothing in its schema runs, and rows have a sane size.
  sqlite3_db_config(db, SQLITE_DBCONFIG_DEFENSIVE, 1, nullptr);
  sqlite3_db_config(db, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, nullptr);
  sqlite3_db_config(db, SQLITE_DBCONFIG_ENABLE_TRIGGER, 0, nullptr);
  sqlite3_db_config(db, SQLITE_DBCONFIG_ENABLE_VIEW, 0, nullptr);
  sqlite3_limit(db, SQLITE_LIMIT_LENGTH, kLongestRow);
  run("PRAGMA cell_size_check = ON");
  run("PRAGMA temp_store = MEMORY");
  run("PRAGMA synchronous = EXTRA");
}

void LedgerFile::Impl::run(const char* sql) const {
  const int code = sqlite3_exec(db, sql, nullptr, nullptr, nullptr);
  if (code != SQLITE_OK) fail(db, code, path);
}

std::string LedgerFile::Impl::one(const char* sql) const {
  Statement statement(db, path, sql);
  return statement.step() ? statement.text(0).value_or("") : "";
}

LedgerFile::LedgerFile(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
LedgerFile::LedgerFile(LedgerFile&&) noexcept = default;
LedgerFile& LedgerFile::operator=(LedgerFile&&) noexcept = default;
LedgerFile::~LedgerFile() = default;

const std::string& LedgerFile::path() const { return impl_->path; }

LedgerFile LedgerFile::create(const std::string& path, const LedgerEntry& first,
                              std::chrono::milliseconds patience) {
  if (path.empty()) throw UsageError("A ledger needs the name of a file.");
  // Claim the name, so that of two creators one wins and nothing is overwritten. SQLite then fills
  // the file in one transaction; a crash before its end leaves it empty, which open() refuses.
  const int fd = ::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
  if (fd < 0 && errno == EEXIST) {
    throw UsageError(path + " exists already; a ledger is never overwritten, choose another name.");
  }
  if (fd < 0) {
    throw SourceError(
        fmt::format("{} can't be made ({}); check the path.", path, std::strerror(errno)));
  }
  ::close(fd);

  auto impl = std::make_unique<Impl>();
  impl->path = path;
  impl->real_path = fs::absolute(path).string();
  LedgerFile file(std::move(impl));
  try {
    file.impl_->connect(patience);
    file.impl_->run("PRAGMA page_size = 4096");
    file.impl_->run("PRAGMA auto_vacuum = NONE");
    Transaction all(file, Transaction::Write);
    file.impl_->run(fmt::format("PRAGMA application_id = {}", kApplicationId).c_str());
    file.impl_->run(fmt::format("PRAGMA user_version = {}", kFormat).c_str());
    for (const auto& object : kSchema) file.impl_->run(object.sql);
    file.impl_->run(
        fmt::format("INSERT INTO head (seq, hash) VALUES (0, '{}')", kNoPreviousHash).c_str());
    file.append(first);
    all.commit();
  } catch (...) {
    file.impl_.reset();
    ::unlink(path.c_str());
    throw;
  }
  return file;
}

LedgerFile LedgerFile::open(const std::string& path, std::chrono::milliseconds patience) {
  std::error_code error;
  const fs::path real = fs::canonical(path, error);
  const fs::file_status status = fs::status(real, error);
  if (path.empty() || !fs::exists(status)) {
    throw UsageError(path + " can't be found; make a ledger with 'tandem budget create'.");
  }
  if (!fs::is_regular_file(status)) {
    throw UsageError(path + " is not a file; name a ledger that 'tandem budget create' made.");
  }
  if (fs::file_size(real, error) == 0) {
    throw UsageError(path +
                     " is empty, perhaps because its creation was interrupted; remove it "
                     "and create the ledger again.");
  }
  // SQLite would take a stray WAL file for the newest content, whatever made it.
  const auto refuse_wal = [&] {
    throw UsageError(
        fmt::format("{} is in SQLite's WAL mode, in which a copy may miss runs; run "
                    "sqlite3 on it with 'PRAGMA journal_mode = DELETE', or move a "
                    "stray {}-wal away.",
                    path, path));
  };
  if (fs::exists(real.string() + "-wal", error)) refuse_wal();

  auto impl = std::make_unique<Impl>();
  impl->path = path;
  impl->real_path = real.string();
  impl->connect(patience);
  if (impl->one("PRAGMA application_id") != std::to_string(kApplicationId)) {
    fail(nullptr, SQLITE_NOTADB, path);
  }
  if (const std::string format = impl->one("PRAGMA user_version");
      format != std::to_string(kFormat)) {
    throw UsageError(
        fmt::format("{} has ledger format {}, and this tandem knows format {}; use "
                    "the tandem that made it, or a newer one.",
                    path, format, kFormat));
  }
  if (impl->one("PRAGMA journal_mode") != "delete") refuse_wal();
  LedgerFile file(std::move(impl));
  {
    const Transaction view(file, Transaction::Read);
    file.check_structure();
  }
  return file;
}

void LedgerFile::check_structure() const {
  Statement schema(impl_->db, path(), "SELECT name, sql FROM sqlite_schema ORDER BY name");
  for (const auto& object : kSchema) {
    if (!schema.step() || schema.text(0) != object.name || schema.text(1) != object.sql) {
      damaged(path(), fmt::format("its table or view '{}' is missing or changed", object.name));
    }
  }
  if (schema.step()) damaged(path(), "it has a table, index, view or trigger that isn't its own");

  if (const std::string verdict = impl_->one("PRAGMA integrity_check(1)"); verdict != "ok") {
    damaged(path(), "SQLite finds " + one_line(verdict));
  }
  const auto pages = impl_->one("PRAGMA page_count");
  const auto page_size = impl_->one("PRAGMA page_size");
  std::error_code error;
  if (fs::file_size(impl_->real_path, error) != std::stoull(pages) * std::stoull(page_size)) {
    damaged(path(), "the file is cut off or has something appended");
  }
}

LedgerFile::Transaction::Transaction(const LedgerFile& file, Kind kind) : file_(file) {
  file_.impl_->run(kind == Write ? "BEGIN IMMEDIATE" : "BEGIN");
}

LedgerFile::Transaction::~Transaction() {
  // SQLite has already rolled back after some errors; then this does nothing.
  if (open_) sqlite3_exec(file_.impl_->db, "ROLLBACK", nullptr, nullptr, nullptr);
}

void LedgerFile::Transaction::commit() {
  file_.impl_->run("COMMIT");
  open_ = false;
}

void LedgerFile::each(const std::function<bool(const LedgerEntry&)>& visit) const {
  Statement rows(impl_->db, path(), fmt::format("SELECT {} FROM entries ORDER BY seq", kColumns));
  for (std::int64_t count = 1; rows.step(); ++count) {
    LedgerFields fields;
    for (std::size_t i = 0; i < fields.size(); ++i) fields[i] = rows.text(static_cast<int>(i));
    const auto entry = to_entry(fields);
    if (!entry) damaged(path(), fmt::format("entry {} is malformed", count));
    if (!visit(*entry)) return;
  }
}

LedgerFile::Head LedgerFile::head() const {
  Statement row(impl_->db, path(), "SELECT seq, hash FROM head");
  if (!row.step()) damaged(path(), "its head is missing");
  Head head{row.number(0), row.text(1).value_or("")};
  if (row.step()) damaged(path(), "it has two heads");
  return head;
}

LedgerFile::Head LedgerFile::newest() const {
  Statement row(impl_->db, path(), "SELECT seq, hash FROM entries ORDER BY seq DESC LIMIT 1");
  if (!row.step()) damaged(path(), "it has no entries");
  return {row.number(0), row.text(1).value_or("")};
}

LedgerFile::Progress LedgerFile::progress(const std::string& run) const {
  Progress progress;
  Statement ends(impl_->db, path(), "SELECT kind FROM entries WHERE run = ? AND step IS NULL");
  ends.bind(1, run);
  while (ends.step()) {
    (ends.text(0) == "settle" ? progress.settled : progress.reserved) = true;
  }
  Statement last(impl_->db, path(), "SELECT max(step) + 1 FROM entries WHERE run = ?");
  last.bind(1, run);
  if (last.step()) progress.steps = last.number(0);
  return progress;
}

std::optional<std::string> LedgerFile::digest(const std::string& run, std::int64_t step) const {
  Statement row(impl_->db, path(), "SELECT digest FROM entries WHERE run = ? AND step = ?");
  row.bind(1, run);
  row.bind(2, step);
  return row.step() ? row.text(0) : std::nullopt;
}

std::vector<std::string> LedgerFile::digests(const std::string& run) const {
  Statement rows(impl_->db, path(),
                 "SELECT digest FROM entries WHERE run = ? AND step IS NOT NULL ORDER BY step");
  rows.bind(1, run);
  std::vector<std::string> all;
  while (rows.step()) all.push_back(rows.text(0).value_or(""));
  return all;
}

LedgerEntry LedgerFile::append(LedgerEntry entry) {
  const Head last = head();
  check(last.seq >= 0 && last.seq < (std::int64_t{1} << 62), "a ledger's head has a sane number");
  entry.seq = last.seq + 1;
  entry.time = utc_now();
  entry.hash = chain_hash(last.hash, entry);

  Statement insert(impl_->db, path(),
                   fmt::format("INSERT INTO entries ({}) VALUES "
                               "(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
                               kColumns));
  const LedgerFields fields = to_fields(entry);
  for (std::size_t i = 0; i < fields.size(); ++i) insert.bind(static_cast<int>(i) + 1, fields[i]);
  insert.step();

  Statement move(impl_->db, path(), "UPDATE head SET seq = ?, hash = ?");
  move.bind(1, entry.seq);
  move.bind(2, entry.hash);
  move.step();
  return entry;
}

}  // namespace tandem
