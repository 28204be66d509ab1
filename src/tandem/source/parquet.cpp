// SPDX-License-Identifier: Apache-2.0
#include "tandem/source/parquet.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <map>
#include <optional>
#include <span>
#include <string_view>
#include <utility>

#include "tandem/base/check.h"
#include "tandem/base/error.h"
#include "tandem/base/text.h"
#include "tandem/data/arrow_cells.h"
#include "tandem/source/arrow_text.h"
#include "tandem/source/duckdb.h"
#include "tandem/source/source_files.h"

namespace tandem {

namespace {

[[noreturn]] void unreadable(const std::string& path) {
  throw SourceError(fmt::format(
      "{} can't be read as Parquet; it is damaged, cut short, or something else.", path));
}

// ---- One file ----

// A file that is open, under a name that holds nothing of its own.
class OpenFile {
 public:
  explicit OpenFile(const std::string& path) : descriptor_(::open(path.c_str(), kHow)) {
    struct stat status {};
    if (descriptor_ < 0 || fstat(descriptor_, &status) != 0) {
      const int error = errno;
      close();
      throw UsageError(
          fmt::format("{} can't be opened ({}); check the path.", path, std::strerror(error)));
    }
    if (!S_ISREG(status.st_mode)) {
      close();
      throw UsageError(fmt::format("{} is no file; name one, or a folder of them.", path));
    }
    size_ = status.st_size;
  }
  ~OpenFile() { close(); }
  OpenFile(const OpenFile&) = delete;
  OpenFile& operator=(const OpenFile&) = delete;

  // As an argument of SQL. The kernel finds the file by it, whatever becomes of its path.
  std::string in_sql() const { return fmt::format("'/proc/self/fd/{}'", descriptor_); }

  // Whether it starts and ends as Parquet does.
  bool is_marked() const {
    constexpr std::string_view kMark = "PAR1";
    std::array<char, kMark.size()> first{};
    std::array<char, kMark.size()> last{};
    const auto size = static_cast<off_t>(kMark.size());
    return size_ > 2 * size && pread(descriptor_, first.data(), kMark.size(), 0) == size &&
           pread(descriptor_, last.data(), kMark.size(), size_ - size) == size &&
           std::string_view(first.data(), first.size()) == kMark &&
           std::string_view(last.data(), last.size()) == kMark;
  }

 private:
  static constexpr int kHow = O_RDONLY | O_CLOEXEC;

  void close() {
    if (descriptor_ >= 0) ::close(descriptor_);
    descriptor_ = -1;
  }

  int descriptor_;
  off_t size_ = 0;
};

// What a file says of itself.
struct Shape {
  std::string path;
  std::vector<std::string> names;
  std::vector<std::string> formats;  // of Arrow
  std::size_t rows = 0;

  std::size_t count(const std::string& name) const {
    return static_cast<std::size_t>(std::ranges::count(names, name));
  }
  std::size_t place(const std::string& name) const {
    return static_cast<std::size_t>(std::ranges::find(names, name) - names.begin());
  }
};

// All rows of a query of this file, as texts. The results are small.
std::vector<std::vector<std::string>> asked(DuckDb& database, const std::string& path,
                                            const std::string& sql) {
  OwnedStream rows = database.query(sql);
  OwnedSchema schema;
  if (rows.empty() || (*rows).get_schema(rows.get(), schema.get()) != 0) unreadable(path);
  std::vector<std::vector<std::string>> out;
  const CellTexts plain;
  for (OwnedArray batch;;) {
    if (!next_of(rows, batch)) unreadable(path);
    if (batch.empty()) return out;
    const std::size_t before = out.size();
    out.resize(before + static_cast<std::size_t>((*batch).length));
    for (std::int64_t c = 0; c < (*batch).n_children; ++c) {
      const ArrowType type = arrow_type(*(*schema).children[c]);
      const ArrowArray& cells = *(*batch).children[c];
      check_array(type, cells, (*batch).offset, (*batch).length);
      const TextColumn texts = texts_of(type, cells, (*batch).offset, (*batch).length, plain);
      for (std::size_t r = 0; r < texts.rows(); ++r) out[before + r].emplace_back(texts[r]);
    }
  }
}

// The columns c0, c1, ... of a file.
std::string table_in_sql(const OpenFile& file, std::size_t columns) {
  std::string names;
  for (std::size_t i = 0; i < columns; ++i) names += fmt::format("{}c{}", i == 0 ? "" : ", ", i);
  return fmt::format("read_parquet({}, hive_partitioning = false) AS t({})", file.in_sql(), names);
}

std::size_t number(const std::string& text) {
  const auto found = parse_integer(text);
  return found && *found > 0 ? static_cast<std::size_t>(*found) : 0;
}

// Decimals with more digits would come as floats, and not as what they are.
constexpr std::size_t kMostDigits = 38;
constexpr const char* kWideDecimal = "wide decimal";

Shape shape_of(DuckDb& database, const std::string& path) {
  const OpenFile file(path);
  Shape out{.path = path, .names = {}, .formats = {}};
  // The tree of columns, each before its children; the library itself renames some that are alike.
  const auto tree =
      asked(database, path,
            fmt::format("SELECT name, coalesce(num_children, 0), coalesce(precision, 0), (SELECT "
                        "sum(num_rows) FROM parquet_file_metadata({0})) "
                        "FROM parquet_schema({0})",
                        file.in_sql()));
  if (tree.empty()) unreadable(path);
  out.rows = number(tree[0][3]);
  std::vector<bool> wide;
  for (std::size_t at = 1; at < tree.size();) {
    out.names.push_back(tree[at][0]);
    wide.push_back(number(tree[at][2]) > kMostDigits);
    for (std::size_t left = 1; left > 0 && at < tree.size(); ++at) left += number(tree[at][1]) - 1;
  }
  if (out.names.empty()) unreadable(path);
  OwnedStream none =
      database.query("SELECT * FROM " + table_in_sql(file, out.names.size()) + " LIMIT 0");
  OwnedSchema schema;
  if (none.empty() || (*none).get_schema(none.get(), schema.get()) != 0) unreadable(path);
  for (std::int64_t c = 0; c < (*schema).n_children; ++c) {
    const ArrowSchema& child = *(*schema).children[c];
    out.formats.emplace_back(child.dictionary != nullptr ? "+" : child.format);
  }
  if (out.formats.size() != out.names.size()) unreadable(path);
  for (std::size_t c = 0; c < wide.size(); ++c) {
    if (wide[c]) out.formats[c] = kWideDecimal;
  }
  return out;
}

// What a cell of a column holds that no schema can describe; empty for plain values.
std::string_view odd_cells(std::string_view format) {
  if (format.starts_with("+l") || format.starts_with("+L") || format.starts_with("+v") ||
      format.starts_with("+w")) {
    return "lists";
  }
  if (format.starts_with("+m")) return "maps";
  if (format.starts_with('+')) return "structs";
  if (format == "z" || format == "Z" || format == "vz" || format.starts_with("w:")) return "bytes";
  if (format == kWideDecimal) return "decimals of more than 38 digits";
  if (format.starts_with("tD") || format.starts_with("ti")) return "durations";
  return "";
}

// ---- A stream of Arrow, from one file ----

// Columns with the names that the file has for them.
struct NamedColumns {
  std::vector<std::string> names;
  std::vector<std::string> formats;
  std::vector<ArrowSchema> columns;
  std::vector<ArrowSchema*> children;
};

void release_column(ArrowSchema* schema) { schema->release = nullptr; }

void release_columns(ArrowSchema* schema) {
  delete static_cast<NamedColumns*>(schema->private_data);  // NOLINT: Arrow's way of owning
  schema->release = nullptr;
}

// REQUIRES: plain columns, without children of their own.
ArrowSchema named_columns(const ArrowSchema& found, const std::vector<std::string>& names) {
  auto held = std::make_unique<NamedColumns>();
  held->names = names;
  for (std::int64_t c = 0; c < found.n_children; ++c) {
    held->formats.emplace_back(found.children[c]->format);
  }
  for (std::size_t c = 0; c < held->formats.size(); ++c) {
    ArrowSchema column{};
    column.format = held->formats[c].c_str();
    column.name = held->names[c].c_str();
    column.flags = ARROW_FLAG_NULLABLE;
    column.release = release_column;
    held->columns.push_back(column);
  }
  for (auto& column : held->columns) held->children.push_back(&column);
  ArrowSchema out{};
  out.format = "+s";
  out.name = "";
  out.n_children = static_cast<std::int64_t>(held->children.size());
  out.children = held->children.data();
  out.release = release_columns;
  out.private_data = held.release();
  return out;
}

// What a stream of one file holds until its end; the file stays open, for it is opened by its
// descriptor.
struct FileStream {
  std::shared_ptr<DuckDb> database;
  std::unique_ptr<OpenFile> file;
  std::vector<std::string> names;
  OwnedStream rows;

  static FileStream& of(ArrowArrayStream* stream) {
    return *static_cast<FileStream*>(stream->private_data);
  }
  static int get_schema(ArrowArrayStream* stream, ArrowSchema* out) {
    FileStream& self = of(stream);
    OwnedSchema found;
    if ((*self.rows).get_schema(self.rows.get(), found.get()) != 0) return EIO;
    if ((*found).n_children != static_cast<std::int64_t>(self.names.size())) return EIO;
    *out = named_columns(*found, self.names);
    return 0;
  }
  static int get_next(ArrowArrayStream* stream, ArrowArray* out) {
    OwnedArray batch;
    if (!next_of(of(stream).rows, batch)) return EIO;
    *out = std::exchange(*batch.get(), ArrowArray{});
    return 0;
  }
  static const char* get_last_error(ArrowArrayStream* /*stream*/) { return nullptr; }
  static void release(ArrowArrayStream* stream) {
    delete &of(stream);  // NOLINT: Arrow's way of owning
    stream->release = nullptr;
  }
};

OwnedStream rows_of_file(const Shape& shape, const std::vector<std::string>& names,
                         std::shared_ptr<DuckDb> database) {
  auto held = std::make_unique<FileStream>();
  held->file = std::make_unique<OpenFile>(shape.path);
  if (!held->file->is_marked()) unreadable(shape.path);
  std::string columns;
  for (const auto& name : names) {
    columns += fmt::format("{}c{}", columns.empty() ? "" : ", ", shape.place(name));
  }
  held->rows = database->query(
      fmt::format("SELECT {} FROM {}", columns, table_in_sql(*held->file, shape.names.size())));
  if (held->rows.empty()) unreadable(shape.path);
  held->database = std::move(database);
  held->names = names;
  ArrowArrayStream out{.get_schema = FileStream::get_schema,
                       .get_next = FileStream::get_next,
                       .get_last_error = FileStream::get_last_error,
                       .release = FileStream::release,
                       .private_data = held.release()};
  return OwnedStream(&out);
}

}  // namespace

// ---- The table ----

struct ParquetTable::Files {
  std::string source;
  int threads = 1;
  std::vector<Shape> shapes;
  std::string decoder{};
};

ParquetTable::ParquetTable(const std::string& source, const Threads& threads) {
  auto files =
      std::make_shared<Files>(Files{.source = source, .threads = threads.count, .shapes = {}});
  const auto paths = source_files(source);
  for (const auto& path : paths) {  // needs no library, and says what is wrong without one
    if (!OpenFile(path).is_marked()) unreadable(path);
  }
  DuckDb database(threads.count);
  const auto version = asked(database, source, "SELECT library_version FROM pragma_version()");
  files->decoder = fmt::format("DuckDB {}, SHA-256 {}", version.at(0).at(0), database.digest());
  for (const auto& path : paths) {
    threads.check();
    files->shapes.push_back(shape_of(database, path));
    auto names = files->shapes.back().names;
    auto first = files->shapes.front().names;
    std::ranges::sort(names);
    std::ranges::sort(first);
    if (names == first) continue;
    throw SchemaError(fmt::format("{} has other columns than {}; give files of one table.", path,
                                  files->shapes.front().path));
  }
  files_ = std::move(files);
}

ParquetTable::~ParquetTable() = default;
ParquetTable::ParquetTable(ParquetTable&&) noexcept = default;
ParquetTable& ParquetTable::operator=(ParquetTable&&) noexcept = default;

const std::vector<std::string>& ParquetTable::names() const { return files_->shapes[0].names; }

const std::string& ParquetTable::decoder() const { return files_->decoder; }

std::size_t ParquetTable::rows() const {
  std::size_t out = 0;
  for (const auto& shape : files_->shapes) out += shape.rows;
  return out;
}

RowStream ParquetTable::rows_of(const std::vector<std::string>& columns) const {
  check(!columns.empty(), "rows have columns");
  for (const auto& name : columns) {
    const std::size_t times = files_->shapes[0].count(name);
    if (times == 0) {
      throw SchemaError(
          fmt::format("{} has no column {}, which the schema names; add it, or take it out of the "
                      "schema.",
                      files_->source, in_quotes(name)));
    }
    if (times > 1) {
      throw SchemaError(fmt::format("{} has two columns {}; rename or drop one.", files_->source,
                                    in_quotes(name)));
    }
    for (const auto& shape : files_->shapes) {
      const auto odd = odd_cells(shape.formats[shape.place(name)]);
      if (odd.empty()) continue;
      const bool nested = shape.formats[shape.place(name)].starts_with('+');
      throw SchemaError(fmt::format(
          "The column {} of {} holds {}; {}.", in_quotes(name), shape.path, odd,
          nested ? "give one plain value in each cell" : "write them as text or other numbers"));
    }
  }
  // One database for all that is opened of these rows, from the first time on.
  auto database = std::make_shared<std::shared_ptr<DuckDb>>();
  RowStream out;
  out.rows = rows();
  out.when_broken = fmt::format(
      "{} can't be read to its end as Parquet; it is damaged, cut short, or was changed.",
      files_->source);
  for (std::size_t i = 0; i < files_->shapes.size(); ++i) {
    OpenRows open = [files = files_, i, columns, database] {
      if (!*database) *database = std::make_shared<DuckDb>(files->threads);
      return rows_of_file(files->shapes[i], columns, *database);
    };
    if (i == 0) {
      out.open = std::move(open);
    } else {
      out.then.push_back(std::move(open));
    }
  }
  return out;
}

std::vector<bool> ParquetTable::whole_floats() const {
  std::vector<bool> all(names().size(), true);
  std::vector<bool> any(names().size(), false);
  DuckDb database(files_->threads);
  for (const auto& shape : files_->shapes) {
    const OpenFile file(shape.path);
    std::vector<std::size_t> floats;
    std::string tests;
    for (std::size_t c = 0; c < names().size(); ++c) {
      const std::size_t at = shape.place(names()[c]);
      const bool is_float = shape.formats[at] == "f" || shape.formats[at] == "g";
      all[c] = all[c] && is_float;
      if (!all[c]) continue;
      floats.push_back(c);
      tests += fmt::format(
          "{0}CAST(bool_and(isfinite(c{1}) AND c{1} = trunc(c{1})) FILTER (WHERE NOT isnan(c{1})) "
          "AS INTEGER)",
          tests.empty() ? "" : ", ", at);
    }
    if (floats.empty()) break;
    const auto found =
        asked(database, shape.path,
              fmt::format("SELECT {} FROM {}", tests, table_in_sql(file, shape.names.size())));
    for (std::size_t i = 0; i < floats.size(); ++i) {
      const std::string& whole = found.at(0).at(i);  // empty without a number
      all[floats[i]] = whole != "0";
      any[floats[i]] = any[floats[i]] || whole == "1";
    }
  }
  for (std::size_t c = 0; c < all.size(); ++c) all[c] = all[c] && any[c];
  return all;
}

// ---- As text ----

namespace {

// How the cells of a column are written.
struct Written {
  CellTexts texts;
  bool whole = false;  // floats that are all whole are written without a point
};

// The columns of a table by their place in its header; those without cells have only a name.
struct TextLayout {
  std::vector<std::string> header;
  std::map<std::size_t, Written> columns;
  RowStream stream;
  Threads threads;
};

class ParquetText final : public ByteSource {
 public:
  explicit ParquetText(std::shared_ptr<const TextLayout> layout) : layout_(std::move(layout)) {
    for (const auto& name : layout_->header) {
      if (!text_.empty()) text_ += ',';
      append_field(name, text_);
    }
    text_ += '\n';
  }

  std::size_t read(std::span<char> buffer) override {
    std::size_t filled = 0;
    while (filled < buffer.size()) {
      if (at_ == text_.size() && !refill()) break;
      const std::size_t some = std::min(buffer.size() - filled, text_.size() - at_);
      std::memcpy(buffer.data() + filled, text_.data() + at_, some);
      filled += some;
      at_ += some;
    }
    return filled;
  }

  // In rows, of which the files say how many there are.
  std::size_t stored_bytes_read() const override { return rows_read_; }
  std::size_t stored_bytes() const override { return layout_->stream.rows; }

 private:
  // The text of the next batch; false behind the last.
  bool refill() {
    text_.clear();
    at_ = 0;
    while (text_.empty()) {
      layout_->threads.check();
      if (rows_.empty() && !open_next()) return false;
      OwnedArray batch;
      if (!next_of(rows_, batch)) throw SourceError(layout_->stream.when_broken);
      if (batch.empty()) {
        rows_.reset();
        continue;
      }
      write(*batch);
    }
    return true;
  }

  bool open_next() {
    const RowStream& stream = layout_->stream;
    if (next_ > stream.then.size()) return false;
    rows_ = next_ == 0 ? stream.open() : stream.then[next_ - 1]();
    ++next_;
    schema_.reset();
    if ((*rows_).get_schema(rows_.get(), schema_.get()) != 0) {
      throw SourceError(stream.when_broken);
    }
    return true;
  }

  void write(const ArrowArray& batch) {
    std::vector<TextColumn> cells;
    for (const auto& [place, written] : layout_->columns) {
      const std::size_t child = cells.size();
      const ArrowType type = arrow_type(*(*schema_).children[child]);
      const ArrowArray& array = *batch.children[child];
      check_array(type, array, batch.offset, batch.length);
      cells.push_back(texts_of(type, array, batch.offset, batch.length, written.texts));
      if (written.whole) drop_points(cells.back());
    }
    const std::size_t columns = layout_->header.size();
    for (std::size_t r = 0; r < static_cast<std::size_t>(batch.length); ++r) {
      const std::size_t begin = text_.size();
      auto next = layout_->columns.begin();
      for (std::size_t c = 0, child = 0; c < columns; ++c) {
        if (c > 0) text_ += ',';
        if (next == layout_->columns.end() || next->first != c) continue;
        append_field(cells[child++][r], text_);
        ++next;
      }
      if (text_.size() == begin) text_ += "\"\"";  // an empty line is no row
      text_ += '\n';
    }
    rows_read_ += static_cast<std::size_t>(batch.length);
  }

  // Whole numbers as Python writes them: 24 for 24.0, all digits for 1e+16.
  static void drop_points(TextColumn& column) {
    TextColumn out;
    for (std::size_t r = 0; r < column.rows(); ++r) {
      const auto value = parse_number(column[r]);
      out.bytes += value ? fmt::format("{:.0f}", *value) : std::string(column[r]);
      out.ends.push_back(out.bytes.size());
    }
    column = std::move(out);
  }

  std::shared_ptr<const TextLayout> layout_;
  std::string text_;
  std::size_t at_ = 0;
  std::size_t next_ = 0;  // file
  std::size_t rows_read_ = 0;
  OwnedStream rows_;
  OwnedSchema schema_;
};

// How each column of a schema is written, those that are derived among them.
std::map<std::string, CellTexts> texts_of_schema(const Schema& schema, const std::string& key) {
  std::map<std::string, CellTexts> out;
  for (const auto& column : schema.columns()) out.emplace(column.name, CellTexts(column));
  for (const auto& derived : schema.relations().derived) {
    out.emplace(derived.column.name, CellTexts(derived.column));
  }
  if (!key.empty()) out.emplace(key, CellTexts());
  return out;
}

}  // namespace

OpenBytes parquet_text(const std::string& source, const Schema* schema, const std::string& key,
                       const Threads& threads) {
  const ParquetTable table(source, threads);
  auto layout = std::make_shared<TextLayout>();
  layout->header = table.names();
  layout->threads = threads;
  const auto known =
      schema != nullptr ? texts_of_schema(*schema, key) : std::map<std::string, CellTexts>();
  const auto whole = schema != nullptr ? std::vector<bool>() : table.whole_floats();
  std::vector<std::string> wanted;
  for (std::size_t c = 0; c < layout->header.size(); ++c) {
    const std::string& name = layout->header[c];
    const auto found = known.find(name);
    if (schema != nullptr && found == known.end()) continue;
    layout->columns.emplace(c, schema != nullptr
                                   ? Written{.texts = found->second}
                                   : Written{.texts = CellTexts(), .whole = whole[c]});
    wanted.push_back(name);
  }
  if (wanted.empty()) {  // rows there are nevertheless
    throw SchemaError(fmt::format("{} has none of the schema's columns; its columns are {}.",
                                  source, list_names(layout->header, 12)));
  }
  layout->stream = table.rows_of(wanted);
  return [layout = std::shared_ptr<const TextLayout>(std::move(layout))] {
    return std::make_unique<ParquetText>(layout);
  };
}

}  // namespace tandem
