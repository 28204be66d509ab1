// SPDX-License-Identifier: Apache-2.0
#include "tandem/data/csv.h"

#include <fmt/core.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <optional>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "tandem/base/check.h"
#include "tandem/base/text.h"
#include "tandem/data/byte_source.h"

namespace tandem {

namespace {

constexpr std::size_t kFirstBlockBytes = std::size_t{64} << 10;
constexpr std::size_t kBlockBytes = std::size_t{2} << 20;
constexpr std::size_t kRowsAtOnce = 256;
constexpr char kQuote = '"';
constexpr std::string_view kByteOrderMark = "\xef\xbb\xbf";  // UTF-8's

// Splits records into fields. Text always ends in a line feed, which stops every scan.
class Tokenizer {
 public:
  Tokenizer(RowPolicy policy, char delimiter) : policy_(policy), delimiter_(delimiter) {}

  // The field at p, and a pointer to what ends it: the delimiter or a line feed. nullptr when the
  // field is malformed, which happens with RowPolicy::MustFit only; problem() then says why.
  const char* next(const char* p, const char* end, std::string_view& field) {
    if (*p == kQuote) return next_quoted(p + 1, end, field);
    const char* start = p;
    while (*p != delimiter_ && *p != '\n') ++p;
    field = {start, p};
    if (*p == '\n' && field.ends_with('\r')) field.remove_suffix(1);
    return p;
  }

  // The end of the last whole record in the text, 0 when there is none. Text starts at a record.
  std::size_t whole_records(std::string_view text) const {
    if (policy_ == RowPolicy::Repair || text.find(kQuote) == std::string_view::npos) {
      const auto last = text.rfind('\n');
      return last == std::string_view::npos ? 0 : last + 1;
    }
    enum class State { FieldStart, Plain, Quoted, Closed } state = State::FieldStart;
    std::size_t whole = 0;
    for (std::size_t i = 0; i < text.size(); ++i) {
      const char c = text[i];
      if (state == State::Quoted) {
        if (c == kQuote) state = State::Closed;
      } else if (c == kQuote && state != State::Plain) {
        state = State::Quoted;  // opens a field, or is the second of a doubled quote
      } else if (c == delimiter_ || c == '\n') {
        state = State::FieldStart;
        if (c == '\n') whole = i + 1;
      } else {
        state = State::Plain;
      }
    }
    return whole;
  }

  std::string_view problem() const { return problem_; }

 private:
  const char* next_quoted(const char* p, const char* end, std::string_view& field) {
    unquoted_.clear();
    bool closed = true;
    for (;;) {
      const auto* stop =
          static_cast<const char*>(std::memchr(p, kQuote, static_cast<std::size_t>(end - p)));
      if (policy_ == RowPolicy::Repair) {  // a row ends with its line, come what may
        const auto* line =
            static_cast<const char*>(std::memchr(p, '\n', static_cast<std::size_t>(end - p)));
        if (stop == nullptr || line < stop) stop = line;
      }
      if (stop == nullptr) {
        problem_ = "a quoted value never ends; close its quote";
        return nullptr;
      }
      unquoted_.append(p, stop);
      if (*stop == '\n') {
        p = stop;
        closed = false;
        break;
      }
      p = stop + 1;
      if (*p != kQuote) break;
      unquoted_ += kQuote;
      ++p;
    }
    if (*p == '\r' && p[1] == '\n') ++p;
    if (*p != delimiter_ && *p != '\n') {
      if (policy_ == RowPolicy::MustFit) {
        problem_ = "text follows the closing quote of a value; double the quotes inside values";
        return nullptr;
      }
      const char* rest = p;
      while (*p != delimiter_ && *p != '\n') ++p;
      unquoted_.append(rest, p);
      closed = false;
    }
    if (!closed && *p == '\n' && unquoted_.ends_with('\r')) unquoted_.pop_back();
    field = unquoted_;
    return p;
  }

  RowPolicy policy_;
  char delimiter_;
  std::string unquoted_;
  std::string_view problem_;
};

std::size_t count_lines(std::string_view text) {
  return static_cast<std::size_t>(std::ranges::count(text, '\n'));
}

// Cuts the bytes of a file into blocks of whole records, each ended by a line feed.
class BlockReader {
 public:
  BlockReader(const std::string& path, RowPolicy policy, char delimiter)
      : path_(path),
        policy_(policy),
        tokenizer_(policy, delimiter),
        source_(ByteSource::open(path)) {
    rest_.resize(3);
    rest_.resize(source_->read(rest_));
    if (rest_ == kByteOrderMark) rest_.clear();
    if (rest_.starts_with("\xff\xfe") || rest_.starts_with("\xfe\xff")) {
      throw UsageError(fmt::format("{} is UTF-16; save it as UTF-8.", path));
    }
  }

  // The next block, empty at the end of the file.
  std::string next() {
    std::string block = std::move(rest_);
    rest_.clear();
    const std::size_t least = std::exchange(least_, std::min(2 * least_, kBlockBytes));
    while (!ended_) {
      const std::size_t before = block.size();
      const std::size_t wanted = std::max(least, before + std::max(before, least) / 2);
      block.resize(wanted);
      const std::size_t got = source_->read(std::span(block).subspan(before));
      block.resize(before + got);
      ended_ = block.size() < wanted;
      limit_first_record(block);
      if (ended_) break;
      if (const std::size_t whole = tokenizer_.whole_records(block)) {
        rest_ = block.substr(whole);
        block.resize(whole);
        break;
      }
    }
    if (!block.empty() && block.back() != '\n') block += '\n';
    lines_ += count_lines(block);
    return block;
  }

  std::size_t lines() const { return lines_; }  // in all blocks so far
  std::size_t stored_bytes_read() const { return source_->stored_bytes_read(); }

 private:
  // A record beyond the limit: an error, or (private) the record is cut and its rest is passed by.
  // Only the first of a block can be so long: a block grows no further than its first record.
  void limit_first_record(std::string& block) const {
    if (block.size() <= kLongestCsvRecord) return;
    const auto within_limit = std::string_view(block).substr(0, kLongestCsvRecord);
    if (tokenizer_.whole_records(within_limit) > 0) return;
    if (policy_ == RowPolicy::MustFit || lines_ == 0) {  // the header is public
      throw UsageError(fmt::format(
          "{}, line {}: a row is longer than {}; check the file's line ends and quotes.", path_,
          lines_ + 1, human_bytes(static_cast<double>(kLongestCsvRecord))));
    }
    const auto line_end = std::min(block.find('\n', kLongestCsvRecord), block.size());
    block.erase(kLongestCsvRecord, line_end - kLongestCsvRecord);
  }

  std::string path_;
  RowPolicy policy_;
  Tokenizer tokenizer_;
  std::unique_ptr<ByteSource> source_;
  std::string rest_;
  std::size_t least_ = kFirstBlockBytes;  // of the next block; small files cost little
  std::size_t lines_ = 0;
  bool ended_ = false;
};

struct Header {
  std::vector<std::string> names;
  std::size_t bytes = 0;  // up to and with its line feed
};

// The names in the first record. With RowPolicy::Repair that is the first line and no more: a quote
// left open there must not draw in the rows, which are private.
Header read_header(const std::string& path, std::string_view block, RowPolicy policy,
                   char delimiter) {
  const std::string_view line = block.substr(0, block.find('\n') + 1);
  if (policy == RowPolicy::Repair) block = line;
  for (const char c : line) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte < 0x20 && c != '\n' && c != '\r' && c != '\t') {
      throw UsageError(fmt::format(
          "{} is not a text file: its first line holds control characters; name a CSV file.",
          path));
    }
  }
  Header header;
  Tokenizer tokenizer(RowPolicy::MustFit, delimiter);
  const char* p = block.data();
  const char* end = p + block.size();
  for (;;) {
    std::string_view name;
    p = tokenizer.next(p, end, name);
    if (p == nullptr) {
      throw UsageError(fmt::format("{}, line 1: {}.", path, tokenizer.problem()));
    }
    header.names.emplace_back(name);
    if (header.names.size() > kMostCsvColumns) {
      throw UsageError(fmt::format("{} has more than {} columns, the most a table may have.", path,
                                   with_commas(kMostCsvColumns)));
    }
    if (*p == '\n') break;
    ++p;
  }
  header.bytes = static_cast<std::size_t>(p + 1 - block.data());
  return header;
}

constexpr int kIgnored = -1;

// What a message may say of the first line. A private file without a header has a row there, so of
// a private file only the names that the schema knows are ever quoted.
std::string expected_header(const Header& header, const Domain& domain, RowPolicy policy) {
  if (policy == RowPolicy::MustFit) return "its columns are " + list_names(header.names, 12);
  std::vector<std::string> names;
  for (const auto& attribute : domain.attributes()) names.push_back(attribute.name);
  return "its first line must name " + list_names(names, 12);
}

// For each column of the file, its attribute, or kIgnored.
std::vector<int> match_columns(const std::string& path, const Header& header, const Domain& domain,
                               RowPolicy policy, std::vector<std::string>& ignored) {
  std::vector<int> slots;
  std::vector<bool> found(domain.size(), false);
  std::unordered_map<std::string_view, std::size_t> seen;
  for (std::size_t i = 0; i < header.names.size(); ++i) {
    const auto& name = header.names[i];
    if (!name.empty() && !seen.emplace(name, i).second) {
      const bool quotable = policy == RowPolicy::MustFit || domain.find(name);
      throw SchemaError(
          fmt::format("{}, line 1: {} stands there twice; rename one.", path,
                      quotable ? "the column name " + in_quotes(name) : "one column name"));
    }
    const auto id = domain.find(name);
    slots.push_back(id ? static_cast<int>(*id) : kIgnored);
    if (id) {
      found[*id] = true;
    } else {
      ignored.push_back(name);
    }
  }
  for (AttributeId id = 0; id < domain.size(); ++id) {
    if (!found[id]) {
      throw SchemaError(fmt::format("{} has no column {}, which the schema names; {}.", path,
                                    in_quotes(domain[id].name),
                                    expected_header(header, domain, policy)));
    }
  }
  return slots;
}

// The position of the key column in the file, or kIgnored when none is asked for.
int find_key(const std::string& path, const Header& header, const std::string& key_column) {
  if (key_column.empty()) return kIgnored;
  const auto found = std::ranges::find(header.names, key_column);
  if (found == header.names.end()) {
    throw SchemaError(
        fmt::format("{} has no column {}, named as the person column; check its name.", path,
                    in_quotes(key_column)));
  }
  return static_cast<int>(found - header.names.begin());
}

struct ParsedBlock {
  std::size_t rows = 0;
  std::vector<std::string> keys;                               // one a row, with a key column
  std::vector<std::vector<std::byte>> columns;                 // codes in the attribute's width
  std::optional<std::pair<std::size_t, std::string>> problem;  // line within the block, sentence
};

class BlockParser {
 public:
  BlockParser(const Schema& schema, std::vector<int> slots, int key, RowPolicy policy,
              char delimiter)
      : schema_(schema),
        slots_(std::move(slots)),
        key_(key),
        policy_(policy),
        delimiter_(delimiter) {}

  ParsedBlock parse(std::string_view block) const {
    ParsedBlock out;
    const std::size_t attributes = schema_.columns().size();
    out.columns.resize(attributes);
    std::vector<Code> codes(attributes * kRowsAtOnce);  // column by column
    std::size_t pending = 0;

    if (policy_ == RowPolicy::MustFit) {
      if (const auto nul = block.find('\0'); nul != std::string_view::npos) {
        out.problem = {count_lines(block.substr(0, nul)) + 1,
                       "a NUL byte stands there; is this a text file in UTF-8?"};
        return out;
      }
    }

    Tokenizer tokenizer(policy_, delimiter_);
    const char* p = block.data();
    const char* end = p + block.size();
    const auto stop_at = [&](const char* where, std::string sentence) {
      out.problem = {count_lines({block.data(), where}) + 1, std::move(sentence)};
    };
    while (p < end) {
      // Blank lines are no rows, except where one column's empty value looks just so, and in
      // private data, where the number of rows depends on the number of lines alone.
      if (policy_ == RowPolicy::MustFit && slots_.size() > 1 &&
          (*p == '\n' || (*p == '\r' && p[1] == '\n'))) {
        p += *p == '\n' ? 1 : 2;
        continue;
      }
      const char* row_start = p;
      std::size_t field_index = 0;
      if (key_ != kIgnored) out.keys.emplace_back();
      for (;; ++p, ++field_index) {
        std::string_view field;
        const char* stop = tokenizer.next(p, end, field);
        if (stop == nullptr) {
          stop_at(row_start, fmt::format("{}.", tokenizer.problem()));
          return out;
        }
        p = stop;
        if (static_cast<int>(field_index) == key_) out.keys.back() = field;
        if (field_index < slots_.size() && slots_[field_index] != kIgnored) {
          const auto id = static_cast<std::size_t>(slots_[field_index]);
          const auto [code, fit] = schema_.columns()[id].codec->encode(field);
          if (fit == Fit::Unfit && policy_ == RowPolicy::MustFit) {
            stop_at(row_start,
                    fmt::format("column {} holds {}, which is not {}; mend the file or the "
                                "schema.",
                                in_quotes(schema_.columns()[id].name), in_quotes(field),
                                schema_.columns()[id].codec->expected()));
            return out;
          }
          codes[id * kRowsAtOnce + pending] = code;
        }
        if (*p == '\n') break;
      }
      ++p;
      if (field_index + 1 != slots_.size()) {
        if (policy_ == RowPolicy::MustFit) {
          stop_at(row_start, fmt::format("the row has {} fields and the header {}; mend the row.",
                                         field_index + 1, slots_.size()));
          return out;
        }
        for (std::size_t i = field_index + 1; i < slots_.size(); ++i) {
          if (slots_[i] == kIgnored) continue;
          const auto id = static_cast<std::size_t>(slots_[i]);
          codes[id * kRowsAtOnce + pending] = schema_.columns()[id].codec->encode({}).code;
        }
      }
      if (++pending == kRowsAtOnce) flush(codes, pending, out);
    }
    flush(codes, pending, out);
    for (auto& column : out.columns) column.shrink_to_fit();
    return out;
  }

 private:
  // Moves the pending rows to the columns, in each column's width.
  void flush(const std::vector<Code>& codes, std::size_t& pending, ParsedBlock& out) const {
    for (std::size_t id = 0; id < out.columns.size(); ++id) {
      const Code* from = codes.data() + id * kRowsAtOnce;
      const std::size_t width = code_width(schema_.domain()[static_cast<AttributeId>(id)].size);
      auto& bytes = out.columns[id];
      const std::size_t before = bytes.size();
      bytes.resize(before + pending * width);
      std::byte* to = bytes.data() + before;
      const auto narrow = [&]<class T>(T /*width*/) {
        for (std::size_t r = 0; r < pending; ++r) {
          const auto code = static_cast<T>(from[r]);
          std::memcpy(to + r * sizeof(T), &code, sizeof(T));
        }
      };
      if (width == 1) {
        narrow(std::uint8_t{});
      } else if (width == 2) {
        narrow(std::uint16_t{});
      } else {
        narrow(std::uint32_t{});
      }
    }
    out.rows += pending;
    pending = 0;
  }

  const Schema& schema_;
  std::vector<int> slots_;
  int key_;
  RowPolicy policy_;
  char delimiter_;
};

// Numbers keys in order of first appearance; the empty key is 0.
class KeyNumbers {
 public:
  std::uint32_t number(std::string& key) {
    const auto next = static_cast<std::uint32_t>(numbers_.size());
    return numbers_.try_emplace(std::move(key), next).first->second;
  }
  std::size_t size() const { return numbers_.size(); }

 private:
  std::unordered_map<std::string, std::uint32_t> numbers_ = {{"", 0}};
};

// One column after the other, so that only one is held twice.
Table join_blocks(const Domain& domain, std::vector<ParsedBlock>& blocks) {
  std::size_t rows = 0;
  for (const auto& block : blocks) rows += block.rows;
  std::vector<Column> columns;
  for (AttributeId id = 0; id < domain.size(); ++id) {
    Column column(domain[id].size, rows);
    column.visit([&](auto codes) {
      auto* to = reinterpret_cast<std::byte*>(codes.data());
      for (auto& block : blocks) {
        auto& bytes = block.columns[id];
        if (!bytes.empty()) std::memcpy(to, bytes.data(), bytes.size());
        to += bytes.size();
        bytes = {};
      }
    });
    columns.push_back(std::move(column));
  }
  return {domain, std::move(columns)};
}

}  // namespace

CsvTable read_csv(const std::string& path, const Schema& schema, const CsvOptions& options) {
  BlockReader reader(path, options.policy, options.delimiter);
  std::string block = reader.next();
  if (block.empty()) {
    throw UsageError(
        fmt::format("{} is empty; a CSV file starts with a line of column names.", path));
  }
  CsvTable out;
  const Header header = read_header(path, block, options.policy, options.delimiter);
  const int key = find_key(path, header, options.key_column);
  const BlockParser parser(
      schema, match_columns(path, header, schema.domain(), options.policy, out.ignored_columns),
      key, options.policy, options.delimiter);
  if (key != kIgnored) std::erase(out.ignored_columns, options.key_column);
  KeyNumbers keys;

  std::size_t lines_before = count_lines(std::string_view(block).substr(0, header.bytes));
  block.erase(0, header.bytes);
  if (block.empty()) block = reader.next();  // a first row longer than a block

  std::vector<ParsedBlock> parsed;
  const auto at_once = static_cast<std::size_t>(std::max(1, options.threads.count));
  while (!block.empty() || parsed.empty()) {
    std::vector<std::string> texts;
    for (; texts.size() < at_once && !block.empty(); block = reader.next()) {
      texts.push_back(std::move(block));
    }
    const std::size_t first = parsed.size();
    parsed.resize(first + std::max<std::size_t>(texts.size(), 1));
    if (texts.empty()) parsed[first].columns.resize(schema.columns().size());
    parallel_for(texts.size(), options.threads,
                 [&](std::size_t i) { parsed[first + i] = parser.parse(texts[i]); });
    for (std::size_t i = 0; i < texts.size(); ++i) {
      if (const auto& problem = parsed[first + i].problem) {
        throw SchemaError(
            fmt::format("{}, line {}: {}", path, lines_before + problem->first, problem->second));
      }
      lines_before += count_lines(texts[i]);
      for (auto& text : parsed[first + i].keys) out.keys.push_back(keys.number(text));
      parsed[first + i].keys = {};
    }
    if (options.progress) options.progress(reader.stored_bytes_read());
  }
  out.table = join_blocks(schema.domain(), parsed);
  out.distinct_keys = keys.size();
  return out;
}

namespace {

void append_field(std::string& line, std::string_view text, bool only_column) {
  const bool plain = text.find_first_of(",\"\r\n") == std::string_view::npos &&
                     !(text.empty() && only_column) && !text.starts_with(kByteOrderMark);
  if (plain) {
    line += text;
    return;
  }
  line += kQuote;
  for (const char c : text) {
    if (c == kQuote) line += kQuote;
    line += c;
  }
  line += kQuote;
}

class OutputFile {
 public:
  explicit OutputFile(const std::string& path)
      : path_(path), file_(std::fopen(path.c_str(), "wb")) {
    if (file_ == nullptr) fail();
  }
  ~OutputFile() {
    if (file_ != nullptr) std::fclose(file_);
  }
  OutputFile(const OutputFile&) = delete;
  OutputFile& operator=(const OutputFile&) = delete;

  void write(std::string_view text) {
    if (std::fwrite(text.data(), 1, text.size(), file_) != text.size()) fail();
  }
  void close() {
    if (std::fclose(std::exchange(file_, nullptr)) != 0) fail();
  }

 private:
  [[noreturn]] void fail() const {
    throw SourceError(fmt::format("{} can't be written ({}).", path_, std::strerror(errno)));
  }

  std::string path_;
  std::FILE* file_;
};

}  // namespace

void write_csv(const std::string& path, const Schema& schema, const Table& table, Rng& rng) {
  check(schema.domain() == table.domain(), "a table is written with its own schema");
  const std::size_t attributes = schema.columns().size();
  OutputFile file(path);
  std::string text;
  std::string value;
  for (std::size_t c = 0; c < attributes; ++c) {
    if (c > 0) text += ',';
    append_field(text, schema.columns()[c].name, attributes == 1);
  }
  text += '\n';
  for (std::size_t r = 0; r < table.rows(); ++r) {
    for (std::size_t c = 0; c < attributes; ++c) {
      if (c > 0) text += ',';
      const Code code = table.column(static_cast<AttributeId>(c))[r];
      value.clear();
      schema.columns()[c].codec->decode(code, rng, value);
      append_field(text, value, attributes == 1);
    }
    text += '\n';
    if (text.size() > (std::size_t{1} << 20)) {
      file.write(text);
      text.clear();
    }
  }
  file.write(text);
  file.close();
}

}  // namespace tandem
