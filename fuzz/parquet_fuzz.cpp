// SPDX-License-Identifier: Apache-2.0
// Parquet: what sources mean as files, and what becomes of what DuckDB hands over, which is made of
// the input by a stand-in for its library. Where TANDEM_DUCKDB names the real one, one input in
// eight is a file's bytes instead.
//
// Promised: a pattern means files below its folder, sorted, each once; a table or one line that
// quotes no row; rows as codes are what their CSV text is read as; streams are released.

#include <dlfcn.h>
#include <fcntl.h>
#include <sys/stat.h>

#include <array>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <limits>
#include <optional>

#include "arrow_input.h"
#include "tandem/base/error.h"
#include "tandem/data/csv.h"
#include "tandem/data/schema.h"
#include "tandem/source/open.h"
#include "tandem/source/parquet.h"
#include "tandem/source/row_stream.h"
#include "tandem/source/source_files.h"

namespace {

using namespace tandem;
using fuzz::promise;
namespace fs = std::filesystem;

constexpr const char* kVariable = "TANDEM_DUCKDB";

// ---- The stand-in: ADBC 1.0.0 as source/duckdb.cpp lays it out ----

struct DriverError {
  char* message;
  std::int32_t vendor_code;
  std::array<char, 5> sqlstate;
  void (*release)(DriverError*);
};
struct Object {
  void* private_data;
  void* private_driver;
};
using OnObject = unsigned char (*)(Object*, DriverError*);
using OnTwo = unsigned char (*)(Object*, Object*, DriverError*);

// The functions of a driver that are called, by their places after its first three members.
struct Driver {
  std::array<void*, 3> before;
  OnObject database_init;
  OnObject database_new;
  unsigned char (*database_set_option)(Object*, const char*, const char*, DriverError*);
  OnObject database_release;
  std::array<void*, 5> unused_of_connection;
  OnTwo connection_init;
  OnObject connection_new;
  std::array<void*, 2> set_option_and_read_partition;
  OnObject connection_release;
  void* connection_rollback;
  std::array<void*, 2> statement_bind;
  unsigned char (*execute_query)(Object*, ArrowArrayStream*, std::int64_t*, DriverError*);
  std::array<void*, 2> execute_partitions;
  OnTwo statement_new;
  void* statement_prepare;
  OnObject statement_release;
  void* statement_set_option;
  unsigned char (*set_sql_query)(Object*, const char*, DriverError*);
};

// What one input says of a file: its columns, and the batches of its rows.
struct Plan {
  fuzz::Bytes* from = nullptr;
  std::vector<std::string> names;
  std::unique_ptr<fuzz::ArrowTable> table;
  bool tame = true;
  int fails_at = -1;  // the call that fails; -1: none
  int calls = 0;
  int streams = 0;
  int batches = 2;
};
Plan plan;
std::string statement;

bool fails() { return plan.calls++ == plan.fails_at; }

// A small answer of the library: texts and whole numbers.
struct Answer {
  std::vector<std::vector<std::string>> texts;  // of each column that has texts
  std::vector<std::vector<std::int64_t>> numbers;
};

// A stream of tables, the first of which describes it.
struct Stream {
  std::unique_ptr<fuzz::ArrowTable> own;
  fuzz::ArrowTable* table = nullptr;
  std::vector<std::size_t> columns;  // of the table, in this order
  int left = 0;
  // The structures that are handed over, for those columns.
  std::vector<ArrowSchema> schemas;
  std::vector<ArrowSchema*> schema_pointers;
  std::vector<ArrowArray> arrays;
  std::vector<ArrowArray*> array_pointers;
};

ArrowArrayStream stream_of(std::unique_ptr<Stream> held) {
  ArrowArrayStream out{};
  ++plan.streams;
  out.private_data = held.release();
  out.get_schema = [](ArrowArrayStream* self, ArrowSchema* to) {
    auto& now = *static_cast<Stream*>(self->private_data);
    if (fails()) return 5;
    *to = now.table->schema();
    now.schemas.clear();
    now.schema_pointers.clear();
    for (const auto c : now.columns) now.schemas.push_back(*to->children[c]);
    for (auto& schema : now.schemas) now.schema_pointers.push_back(&schema);
    to->children = now.schema_pointers.data();
    to->n_children = static_cast<std::int64_t>(now.schemas.size());
    return 0;
  };
  out.get_next = [](ArrowArrayStream* self, ArrowArray* to) {
    auto& now = *static_cast<Stream*>(self->private_data);
    if (fails()) {
      if (plan.fails_at % 2 == 0) throw std::runtime_error("a cell, word for word");
      return 5;
    }
    *to = ArrowArray{};
    if (now.left-- <= 0) return 0;
    *to = now.table->batch();
    now.arrays.clear();
    now.array_pointers.clear();
    for (const auto c : now.columns) now.arrays.push_back(*to->children[c]);
    for (auto& array : now.arrays) now.array_pointers.push_back(&array);
    to->children = now.array_pointers.data();
    to->n_children = static_cast<std::int64_t>(now.arrays.size());
    return 0;
  };
  out.get_last_error = [](ArrowArrayStream*) { return "a cell, word for word"; };
  out.release = [](ArrowArrayStream* self) {
    delete static_cast<Stream*>(self->private_data);
    self->release = nullptr;
    --plan.streams;
  };
  return out;
}

template <class T>
void set_buffer(fuzz::ArrowNode& node, const std::vector<T>& values) {
  std::vector<unsigned char> raw(values.size() * sizeof(T));
  if (!raw.empty()) std::memcpy(raw.data(), values.data(), raw.size());
  node.buffers.push_back(std::move(raw));
}

// A table of columns that are all texts or all whole numbers.
std::unique_ptr<Stream> answer_of(const Answer& answer) {
  auto out = std::make_unique<Stream>();
  out->own = std::make_unique<fuzz::ArrowTable>();
  const auto add = [&](std::unique_ptr<fuzz::ArrowNode> node, std::size_t rows) {
    node->length = static_cast<std::int64_t>(rows);
    for (const auto& buffer : node->buffers) node->pointers.push_back(buffer.data());
    node->pointers[0] = nullptr;
    node->buffer_count = static_cast<std::int64_t>(node->buffers.size());
    out->columns.push_back(out->own->columns.size());
    out->own->columns.push_back(std::move(node));
    out->own->length = static_cast<std::int64_t>(rows);
  };
  for (const auto& texts : answer.texts) {
    auto node = std::make_unique<fuzz::ArrowNode>();
    node->format = "u";
    std::vector<std::int32_t> ends = {0};
    std::vector<char> bytes;
    for (const auto& text : texts) {
      bytes.insert(bytes.end(), text.begin(), text.end());
      ends.push_back(static_cast<std::int32_t>(bytes.size()));
    }
    node->buffers.emplace_back();
    set_buffer(*node, ends);
    set_buffer(*node, bytes);
    add(std::move(node), texts.size());
  }
  for (const auto& numbers : answer.numbers) {
    auto node = std::make_unique<fuzz::ArrowNode>();
    node->format = "l";
    node->buffers.emplace_back();
    set_buffer(*node, numbers);
    add(std::move(node), numbers.size());
  }
  out->own->batch_children = static_cast<std::int64_t>(out->own->columns.size());
  out->table = out->own.get();
  out->left = 1;
  return out;
}

// parquet_schema: the tree of columns, which may be nested, or may be none.
std::unique_ptr<Stream> tree() {
  auto& from = *plan.from;
  Answer out;
  out.texts = {{"schema"}};
  out.numbers = {{static_cast<std::int64_t>(plan.names.size())}, {0}, {0}};
  for (const auto& name : plan.names) {
    const bool nested = !plan.tame && from.one_in(24);
    out.texts[0].push_back(name);
    out.numbers[0].push_back(nested ? from.below(5) : 0);
    out.numbers[1].push_back(!plan.tame && from.one_in(24) ? 40 : 0);
    for (int more = nested ? from.below(4) : 0; more > 0; --more) {
      out.texts[0].push_back("inner");
      out.numbers[0].push_back(from.one_in(8) ? std::numeric_limits<std::int64_t>::max() : 0);
      out.numbers[1].push_back(0);
    }
  }
  const std::int64_t rows =
      plan.tame ? plan.batches * plan.table->length : std::int64_t{from.byte()} << from.below(40);
  out.numbers[2].assign(out.texts[0].size(), rows);
  if (!plan.tame && from.one_in(32)) {
    out.texts[0].clear();
    for (auto& numbers : out.numbers) numbers.clear();
  }
  return answer_of(out);
}

std::unique_ptr<Stream> asked() {
  if (statement.starts_with("SELECT name,")) return tree();
  if (statement.starts_with("SELECT CAST(")) {  // whether floats are whole
    Answer out;
    for (std::size_t at = 0; (at = statement.find("bool_and", at)) != std::string::npos; ++at) {
      out.numbers.push_back({0});
    }
    return answer_of(out);
  }
  auto out = std::make_unique<Stream>();
  out->table = plan.table.get();
  if (statement.starts_with("SET ")) {
    out->left = 0;
    return out;
  }
  out->left = plan.batches;
  const auto end = statement.find(" FROM ");
  if (statement.starts_with("SELECT * ")) {
    out->left = 0;
    for (std::size_t c = 0; c < plan.table->columns.size(); ++c) out->columns.push_back(c);
  } else {
    for (std::size_t at = 0; (at = statement.find('c', at)) < end; ++at) {
      const auto column = static_cast<std::size_t>(std::atoi(statement.c_str() + at + 1));
      promise(column < plan.names.size(), "a column that is asked for is there", statement);
      out->columns.push_back(std::min(column, plan.table->columns.size() - 1));
    }
  }
  return out;
}

}  // namespace

extern "C" __attribute__((visibility("default"))) unsigned char fuzz_adbc_init(int version,
                                                                               void* to,
                                                                               void* /*error*/) {
  promise(version == 1'000'000, "the version that is asked for is 1.0.0");
  if (fails()) return 1;
  auto& driver = *static_cast<Driver*>(to);
  const OnObject well = [](Object*, DriverError*) -> unsigned char { return fails() ? 1 : 0; };
  const OnObject released = [](Object*, DriverError*) -> unsigned char { return 0; };
  const OnTwo both = [](Object*, Object*, DriverError*) -> unsigned char {
    return fails() ? 1 : 0;
  };
  driver.database_init = driver.database_new = driver.connection_new = well;
  driver.database_release = driver.connection_release = driver.statement_release = released;
  driver.connection_init = driver.statement_new = both;
  driver.database_set_option = [](Object*, const char*, const char*,
                                  DriverError*) -> unsigned char { return fails() ? 1 : 0; };
  driver.set_sql_query = [](Object*, const char* sql, DriverError*) -> unsigned char {
    statement = sql;
    return fails() ? 1 : 0;
  };
  driver.execute_query = [](Object*, ArrowArrayStream* out, std::int64_t*,
                            DriverError*) -> unsigned char {
    if (fails()) return 1;
    *out = stream_of(asked());
    return 0;
  };
  return 0;
}

namespace {

const Schema& schema() {
  static const Schema out = Schema::from_document(Document::parse_toml(R"(
[csv]
records = "quoted"
[[column]]
name = "a"
values = ["x", "yes", "12", "3.5", ""]
unknown = "x"
[[column]]
name = "b,\"c"
kind = "integer"
min = -100
max = 1000
bins = 7
special = ["N", 1001]
[[column]]
name = "d"
kind = "date"
pattern = "%Y-%m-%d"
min = "1920-01-01"
max = "2020-12-31"
bins = "decade"
[[column]]
name = "e"
size = 300
)",
                                                                       "S"));
  return out;
}

// `work`, or one line that quotes nothing.
template <class Work>
bool done(Work&& work) {
  try {
    work();
    return true;
  } catch (const UsageError& error) {
    fuzz::check_message(error.what(), "");
    promise(std::string_view(error.what()).find("word for word") == std::string_view::npos,
            "what the library says is not told");
  } catch (const SourceError& error) {
    fuzz::check_message(error.what(), "");
    promise(std::string_view(error.what()).find("word for word") == std::string_view::npos,
            "what the library says is not told");
  }
  return false;
}

std::string all_of(const OpenBytes& open) {
  std::string out;
  const auto bytes = open();
  std::array<char, 97> some{};
  while (const std::size_t read = bytes->read(some)) out.append(some.data(), read);
  return out;
}

// Rows as codes, and the CSV text of the same table read again.
void check_two_ways(const std::string& path, bool tame) {
  std::optional<Table> codes;
  std::optional<Table> read;
  const Threads threads;
  done([&] {
    const ParquetTable table(path, threads);
    std::vector<std::string> names;
    for (const auto& attribute : schema().domain().attributes()) names.push_back(attribute.name);
    codes = hold_rows(table.rows_of(names), {.schema = schema(), .person = {}, .threads = threads},
                      1e9);
  });
  std::string text;
  const bool written = done([&] { text = all_of(parquet_text(path, &schema(), "", threads)); });
  done([&] { all_of(parquet_text(path, nullptr, "", threads)); });
  if (!tame || plan.fails_at >= 0) return;
  promise(!codes || written, "what has codes has texts");
  if (!codes) return;
  const fuzz::MemoryFile file(text);
  CsvOptions options;
  options.policy = RowPolicy::Repair;
  promise(done([&] { read = read_csv(file.path(), schema(), options).table; }),
          "the text of a table is read");
  promise(read && codes->rows() == read->rows(), "each row is a record");
  for (AttributeId id = 0; id < codes->domain().size(); ++id) {
    for (std::size_t r = 0; r < codes->rows(); ++r) {
      promise(codes->column(id)[r] == read->column(id)[r], "a cell is what its text is");
    }
  }
}

void try_stand_in(fuzz::Bytes& from) {
  plan = Plan{};
  plan.from = &from;
  plan.tame = !from.one_in(3);
  plan.fails_at = from.one_in(4) ? from.below(60) : -1;
  plan.batches = 1 + from.below(3);
  for (const auto& attribute : schema().domain().attributes()) plan.names.push_back(attribute.name);
  if (!plan.tame && from.one_in(4)) plan.names.push_back(plan.names[from.below(4)]);
  if (from.one_in(3)) {  // a CSV file has no column of any name whatever
    plan.names.insert(plan.names.begin(), plan.tame ? "z" : from.text(6).c_str());
  }
  plan.table = fuzz::arrow_table(from, plan.names, true);
  plan.table->nulls = 0;  // a row is never null as a whole
  plan.table->offset = 0;
  for (const auto& column : plan.table->columns) column->dictionary.reset();
  if (plan.table->columns.empty()) return;
  if (plan.tame && plan.table->columns.size() != plan.names.size()) plan.tame = false;
  const std::string bytes = "PAR1" + from.text(9) + "PAR1";
  const fuzz::MemoryFile file(from.one_in(16) ? from.text(12) : bytes);
  check_two_ways(file.path(), plan.tame);
  promise(plan.streams == 0, "each stream is released");
  promise(plan.table->held == 0, "each structure is released");
}

// ---- Names, patterns and folders ----

class Folders {
 public:
  Folders() : home_(open(".", O_RDONLY | O_DIRECTORY | O_CLOEXEC)) {
    std::string name = access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp";
    name += "/tandem-parquet-fuzz-XXXXXX";
    promise(mkdtemp(name.data()) != nullptr && home_ >= 0, "there is a folder to work in");
    path_ = name;
    const fs::path at(path_);
    for (const char* folder :
         {"year=1", "year=1/month=2", "[a]", ".hidden", "x.parquet", "empty"}) {
      fs::create_directory(at / folder);
    }
    for (const char* file : {"a.parquet", "b.pq", "c.csv", "year=1/d.parquet", "[a]/e.pq", "*.pq",
                             "year=1/month=2/f.parquet", ".hidden/g.pq", "x.parquet/h.parquet"}) {
      std::ofstream(at / file) << "PAR1";
    }
    fs::create_directory_symlink("..", at / "year=1/up");
    fs::create_symlink("nowhere", at / "broken.pq");
  }
  ~Folders() {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
  }
  Folders(const Folders&) = delete;
  Folders& operator=(const Folders&) = delete;

  void enter() const { promise(chdir(path_.c_str()) == 0, "the folder is there"); }
  void leave() const { promise(fchdir(home_) == 0, "the folder before it is there"); }

 private:
  int home_;
  std::string path_;
};

void try_names(fuzz::Bytes& from) {
  static const Folders folders;
  static constexpr std::array kParts = {
      "*",  "?",  "**",     "[a]", "[!b]*", "*.parquet", "*.pq",
      ".*", "/",  "year=*", "[",   "[a",    "month=2",   "d.parquet",
      ".",  "up", "year=1", "***", "[[a]]", "x.parquet", "c.csv"};
  std::string source;
  for (int parts = from.below(7); parts > 0; --parts) {
    source += from.one_in(6) ? from.text(4) : kParts[from.byte() % kParts.size()];
    if (from.one_in(2)) source += '/';
  }
  source = source.c_str();
  while (source.starts_with('/')) source.erase(0, 1);  // nothing outside the folder
  for (std::size_t at; (at = source.find("..")) != std::string::npos;) source.erase(at, 1);
  folders.enter();
  const auto paths = matching_paths(source);
  promise(std::ranges::is_sorted(paths), "paths are sorted");
  promise(std::ranges::adjacent_find(paths) == paths.end(), "each path is there once");
  done([&] {
    const auto files = source_files(source);
    promise(!files.empty(), "a source means a file");
    if (!is_parquet(source) || is_pairs(source)) return;
    promise(std::ranges::is_sorted(files), "files are sorted");
    promise(std::ranges::adjacent_find(files) == files.end(), "each file is read once");
    for (const auto& file : files) {
      std::error_code ignored;
      promise(!fs::is_directory(file, ignored) || file == source, "no folder is read as a file",
              file);
    }
  });
  folders.leave();
}

// The stand-in lies beside the target.
std::string stand_in() {
  std::error_code ignored;
  return (fs::read_symlink("/proc/self/exe", ignored).parent_path() / "libstand_in_duckdb.so")
      .string();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const char* const kGiven = std::getenv(kVariable);
  static const std::string real = kGiven == nullptr ? "" : kGiven;
  fuzz::Bytes from(data, size);
  const int which = from.below(8);
  if (which < 2) {
    try_names(from);
  } else if (which == 7 && !real.empty()) {
    setenv(kVariable, real.c_str(), 1);
    const fuzz::MemoryFile file(fuzz::as_text(data + 1, size - 1));
    plan.fails_at = 0;  // its rows are not known
    check_two_ways(file.path(), false);
  } else {
    setenv(kVariable, stand_in().c_str(), 1);
    try_stand_in(from);
  }
  return 0;
}
