// SPDX-License-Identifier: Apache-2.0
#include "tandem/base/document.h"

#include <fmt/core.h>

#include <toml++/toml.h>
#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <iterator>
#include <limits>
#include <nlohmann/json.hpp>
#include <set>
#include <system_error>

#include "tandem/base/check.h"
#include "tandem/base/text.h"

namespace tandem {

namespace {

constexpr int kDeepest = 64;        // of nested arrays and objects
constexpr int kQuadraticKeys = 32;  // objects larger than this look keys up in a sorted index

}  // namespace

Document::Document(std::uint64_t value) : value_(static_cast<std::int64_t>(value)) {
  check(value <= static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max()),
        "a number in a document is at most 2^63 - 1");
}

Document Document::array(Array items) {
  Document out;
  out.value_ = std::move(items);
  return out;
}

Document Document::object(Object members) {
  Document out;
  out.value_ = std::move(members);
  return out;
}

std::string_view Document::type_name() const {
  constexpr std::string_view kNames[] = {"null",     "a boolean", "a whole number", "a number",
                                         "a string", "a list",    "a table"};
  return kNames[value_.index()];
}

std::string Document::where() const {
  const std::string name = name_ ? *name_ : "value";
  return path_.empty() ? name : name + ": " + path_;
}

void Document::fail(std::string_view message) const {
  throw UsageError(fmt::format("{} {}", where(), message));
}

bool Document::as_bool() const {
  if (const auto* value = std::get_if<bool>(&value_)) return *value;
  fail(fmt::format("is {}; expected true or false.", type_name()));
}

std::int64_t Document::as_integer() const {
  if (const auto* value = std::get_if<std::int64_t>(&value_)) return *value;
  fail(fmt::format("is {}; expected a whole number.", type_name()));
}

std::int64_t Document::as_integer(std::int64_t least, std::int64_t most) const {
  const std::int64_t value = as_integer();
  if (value < least || value > most) {
    fail(fmt::format("is {}; choose {} to {}.", value, least, most));
  }
  return value;
}

double Document::as_number() const {
  if (const auto* value = std::get_if<std::int64_t>(&value_)) return static_cast<double>(*value);
  if (const auto* value = std::get_if<double>(&value_)) return *value;
  fail(fmt::format("is {}; expected a number.", type_name()));
}

const std::string& Document::as_string() const {
  if (const auto* value = std::get_if<std::string>(&value_)) return *value;
  fail(fmt::format("is {}; expected a string.", type_name()));
}

const Document::Array& Document::as_array() const {
  if (const auto* value = std::get_if<Array>(&value_)) return *value;
  fail(fmt::format("is {}; expected a list.", type_name()));
}

const Document::Object& Document::as_object() const {
  if (const auto* value = std::get_if<Object>(&value_)) return *value;
  fail(fmt::format("is {}; expected a table.", type_name()));
}

const Document* Document::find(std::string_view key) const {
  for (const auto& [name, value] : as_object()) {
    if (name == key) return &value;
  }
  return nullptr;
}

const Document& Document::at(std::string_view key) const {
  if (const auto* value = find(key)) return *value;
  fail(fmt::format("has no {}; add it.", in_quotes(key)));
}

void Document::allow_only(std::span<const std::string_view> keys) const {
  for (const auto& [name, value] : as_object()) {
    if (std::ranges::find(keys, name) != keys.end()) continue;
    std::vector<std::string> known(keys.begin(), keys.end());
    const auto guess = nearest(name, known);
    fail(fmt::format("has an unknown key {}; {}", in_quotes(name),
                     guess ? "did you mean " + in_quotes(*guess) + "?"
                           : "known keys are " + list_names(known, 20) + "."));
  }
}

void Document::set(std::string key, Document value) {
  if (is_null()) value_ = Object{};
  auto& members = std::get<Object>(value_);
  for (auto& [name, old] : members) {
    if (name == key) {
      old = std::move(value);
      return;
    }
  }
  members.emplace_back(std::move(key), std::move(value));
}

void Document::push(Document value) {
  if (is_null()) value_ = Array{};
  std::get<Array>(value_).push_back(std::move(value));
}

namespace {

// A key as a step of a path. Odd and long ones are quoted and cut: every value keeps its path, and
// messages are one line.
std::string path_step(const std::string& key) {
  const bool plain = !key.empty() && key.size() <= 60 && std::ranges::all_of(key, [](const char c) {
    return static_cast<unsigned char>(c) >= 0x20 && c != 0x7f;
  });
  return plain ? key : in_quotes(key);
}

}  // namespace

void Document::locate(const std::shared_ptr<const std::string>& name, const std::string& path) {
  name_ = name;
  path_ = path;
  if (auto* items = std::get_if<Array>(&value_)) {
    for (std::size_t i = 0; i < items->size(); ++i) {
      (*items)[i].locate(name, fmt::format("{}[{}]", path, i + 1));
    }
  } else if (auto* members = std::get_if<Object>(&value_)) {
    for (auto& [key, value] : *members) {
      const std::string step = path_step(key);
      value.locate(name, path.empty() ? step : fmt::format("{}.{}", path, step));
    }
  }
}

// Builds a tree from parser events, refusing repeated keys and deep nesting.
class DocumentBuilder {
 public:
  explicit DocumentBuilder(std::string name) : name_(std::move(name)) {}

  void value(Document value) { place(std::move(value)); }
  void open(Document container) {
    if (open_.size() >= kDeepest) {
      throw UsageError(fmt::format("{} nests deeper than {} levels; flatten it.", name_, kDeepest));
    }
    open_.push_back({std::move(container), std::move(key_), {}});
    key_.clear();
  }
  void key(std::string key) {
    auto& top = open_.back();
    auto& members = std::get<Document::Object>(top.container.value_);
    bool repeated = false;
    if (members.size() < kQuadraticKeys) {
      for (const auto& [name, value] : members) repeated = repeated || name == key;
    } else {
      if (top.seen.empty()) {
        for (const auto& [name, value] : members) top.seen.insert(name);
      }
      repeated = top.seen.contains(key);
    }
    if (repeated)
      throw UsageError(fmt::format("{} gives {} twice; keep one.", name_, in_quotes(key)));
    if (!top.seen.empty()) top.seen.insert(key);
    key_ = std::move(key);
  }
  void close() {
    Frame frame = std::move(open_.back());
    open_.pop_back();
    key_ = std::move(frame.key);
    place(std::move(frame.container));
  }
  Document finish() {
    root_.locate(std::make_shared<const std::string>(std::move(name_)), "");
    return std::move(root_);
  }

 private:
  struct Frame {
    Document container;
    std::string key;  // of this container in its parent
    std::set<std::string> seen;
  };

  void place(Document value) {
    if (open_.empty()) {
      root_ = std::move(value);
    } else if (auto& parent = open_.back().container; parent.is_array()) {
      std::get<Document::Array>(parent.value_).push_back(std::move(value));
    } else {
      std::get<Document::Object>(parent.value_).emplace_back(std::move(key_), std::move(value));
      key_.clear();
    }
  }

  std::string name_;
  std::string key_;
  std::vector<Frame> open_;
  Document root_;
};

namespace {

// nlohmann's event interface; the names are the library's.
struct JsonEvents {
  using number_integer_t = nlohmann::json::number_integer_t;
  using number_unsigned_t = nlohmann::json::number_unsigned_t;
  using number_float_t = nlohmann::json::number_float_t;
  using string_t = nlohmann::json::string_t;
  using binary_t = nlohmann::json::binary_t;

  DocumentBuilder& builder;
  const std::string& name;

  bool null() { return builder.value({}), true; }
  bool boolean(bool value) { return builder.value(value), true; }
  bool number_integer(number_integer_t value) { return builder.value(std::int64_t{value}), true; }
  bool number_unsigned(number_unsigned_t value) {
    if (value > static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max())) {
      throw UsageError(fmt::format("{} holds the number {}, above 2^63 - 1.", name, value));
    }
    return builder.value(std::int64_t(value)), true;
  }
  bool number_float(number_float_t value, const string_t& /*text*/) {
    return builder.value(value), true;
  }
  bool string(string_t& value) { return builder.value(std::move(value)), true; }
  bool binary(binary_t& /*value*/) { return false; }
  bool start_object(std::size_t /*elements*/) { return builder.open(Document::object()), true; }
  bool key(string_t& value) { return builder.key(std::move(value)), true; }
  bool end_object() { return builder.close(), true; }
  bool start_array(std::size_t /*elements*/) { return builder.open(Document::array()), true; }
  bool end_array() { return builder.close(), true; }
  bool parse_error(std::size_t position, const std::string& /*token*/,
                   const nlohmann::json::exception& error) {
    // "[...] parse error at line 3, column 7: reason; last read: 'text'", or of a number beyond a
    // double "[...] number overflow parsing '1e999'". The text may be long.
    std::string what = error.what();
    if (const auto at = what.find("at line"); at != std::string::npos) {
      what = what.substr(at + 3, what.find("; last read: ") - (at + 3));
    } else {
      what = fmt::format("the number that ends at byte {} is too large", position);
    }
    throw UsageError(fmt::format("{} is not valid JSON: {}.", name, what));
  }
};

void add_toml(DocumentBuilder& builder, const toml::node& node, const std::string& name) {
  if (const auto* table = node.as_table()) {
    // toml++ keeps tables sorted by key; the file's own order is the order a person meant.
    std::vector<std::pair<std::string, const toml::node*>> members;
    for (const auto& [key, value] : *table) members.emplace_back(key.str(), &value);
    std::ranges::stable_sort(members, {}, [](const auto& member) {
      const auto begin = member.second->source().begin;
      return std::pair(begin.line, begin.column);
    });
    builder.open(Document::object());
    for (const auto& [key, value] : members) {
      builder.key(key);
      add_toml(builder, *value, name);
    }
    builder.close();
  } else if (const auto* array = node.as_array()) {
    builder.open(Document::array());
    for (const auto& item : *array) add_toml(builder, item, name);
    builder.close();
  } else if (const auto* text = node.as_string()) {
    builder.value(text->get());
  } else if (const auto* integer = node.as_integer()) {
    builder.value(integer->get());
  } else if (const auto* number = node.as_floating_point()) {
    if (!std::isfinite(number->get())) {
      throw UsageError(fmt::format("{}, line {}: a number is finite; write one in digits.", name,
                                   node.source().begin.line));
    }
    builder.value(number->get());
  } else if (const auto* boolean = node.as_boolean()) {
    builder.value(boolean->get());
  } else {
    throw UsageError(fmt::format("{}, line {}: dates and times are written as strings, in quotes.",
                                 name, node.source().begin.line));
  }
}

// What toml++ 3.3 must not be given, outside strings and comments. It makes a table for each part
// of a dotted key and takes them down by recursion, so a key of a million parts would end the
// program; and it calls characters such as U+3042 unreachable where it looks for white space.
void refuse_odd_toml(std::string_view text, const std::string& name) {
  const auto skip_string = [&](std::size_t at) {  // from its first quote to behind its last
    const char quote = text[at];
    const std::string three(3, quote);
    const bool long_form = text.substr(at, 3) == three;
    for (at += long_form ? 3 : 1; at < text.size(); ++at) {
      if (text[at] == '\\' && quote == '"') {
        ++at;
      } else if (!long_form && (text[at] == quote || text[at] == '\n')) {
        return at + 1;
      } else if (long_form && text.substr(at, 3) == three) {
        at += 3;
        for (int more = 0; more < 2 && at < text.size() && text[at] == quote; ++more) ++at;
        return at;
      }
    }
    return text.size();
  };
  int dots = 0;
  for (std::size_t at = text.starts_with("\xef\xbb\xbf") ? 3 : 0; at < text.size();) {
    const char c = text[at];
    if (static_cast<unsigned char>(c) >= 0x80) {
      throw UsageError(
          fmt::format("{}, line {}: a letter beyond ASCII stands outside quotes; quote it.", name,
                      std::ranges::count(text.substr(0, at), '\n') + 1));
    }
    if (c == '"' || c == '\'') {
      at = skip_string(at);
      continue;
    }
    if (c == '#') {
      at = std::min(text.find('\n', at), text.size());
      continue;
    }
    if (c == '.') {
      if (++dots > kDeepest) {
        throw UsageError(
            fmt::format("{} nests deeper than {} levels; flatten it.", name, kDeepest));
      }
    } else if (std::string_view("\n=,[]{}").find(c) != std::string_view::npos) {
      dots = 0;
    }
    ++at;
  }
}

// How many bytes the character has that a text of UTF-8 starts with; 0: it starts with none.
std::size_t character_bytes(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  if (text.empty() || (byte(0) >= 0x80 && byte(0) < 0xc2) || byte(0) > 0xf4) return 0;
  const std::size_t length = byte(0) < 0x80 ? 1 : byte(0) < 0xe0 ? 2 : byte(0) < 0xf0 ? 3 : 4;
  if (length > text.size()) return 0;
  for (std::size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xc0U) != 0x80U) return 0;
  }
  // Overlong forms, surrogates, and what lies beyond Unicode, by their second byte.
  const bool good = byte(0) == 0xe0   ? byte(1) >= 0xa0
                    : byte(0) == 0xed ? byte(1) < 0xa0
                    : byte(0) == 0xf0 ? byte(1) >= 0x90
                    : byte(0) == 0xf4 ? byte(1) < 0x90
                                      : true;
  return good ? length : 0;
}

// Bytes that are no UTF-8, such as those of an odd file name, become U+FFFD: JSON has no others.
void append_json_string(std::string& out, std::string_view text) {
  out += '"';
  for (std::size_t at = 0; at < text.size(); ++at) {
    const char c = text[at];
    switch (c) {
      case '"':
        out += "\\\"";
        break;
      case '\\':
        out += "\\\\";
        break;
      case '\n':
        out += "\\n";
        break;
      case '\r':
        out += "\\r";
        break;
      case '\t':
        out += "\\t";
        break;
      default:
        if (static_cast<unsigned char>(c) < 0x20) {
          out += fmt::format("\\u{:04x}", static_cast<unsigned>(c));
        } else if (static_cast<unsigned char>(c) < 0x80) {
          out += c;
        } else if (const std::size_t bytes = character_bytes(text.substr(at)); bytes > 0) {
          out += text.substr(at, bytes);
          at += bytes - 1;
        } else {
          out += "\xef\xbf\xbd";
        }
    }
  }
  out += '"';
}

void append_json(std::string& out, const Document& value, int indent, int depth);

template <class Items, class Append>
void append_items(std::string& out, const Items& items, char open, char close, int indent,
                  int depth, Append append) {
  out += open;
  const auto new_line = [&](int levels) {
    if (indent > 0)
      out.append("\n").append(static_cast<std::size_t>(indent) * static_cast<std::size_t>(levels),
                              ' ');
  };
  bool first = true;
  for (const auto& item : items) {
    if (!first) out += ',';
    first = false;
    new_line(depth + 1);
    append(item);
  }
  if (!first) new_line(depth);
  out += close;
}

void append_json(std::string& out, const Document& value, int indent, int depth) {
  if (value.is_object()) {
    append_items(out, value.as_object(), '{', '}', indent, depth, [&](const auto& member) {
      append_json_string(out, member.first);
      out += indent > 0 ? ": " : ":";
      append_json(out, member.second, indent, depth + 1);
    });
  } else if (value.is_array()) {
    append_items(out, value.as_array(), '[', ']', indent, depth,
                 [&](const auto& item) { append_json(out, item, indent, depth + 1); });
  } else if (value.is_string()) {
    append_json_string(out, value.as_string());
  } else if (value.is_null()) {
    out += "null";
  } else if (value.is_integer()) {
    out += std::to_string(value.as_integer());
  } else if (value.type_name() == "a number") {
    const double number = value.as_number();
    check(std::isfinite(number), "a number in a document is finite");
    std::string text = fmt::format("{}", number);
    if (text.find_first_of(".e") == std::string::npos) text += ".0";
    out += text;
  } else {
    out += value.as_bool() ? "true" : "false";
  }
}

}  // namespace

Document Document::parse_json(std::string_view text, const std::string& name) {
  DocumentBuilder builder(name);
  JsonEvents events{builder, name};
  nlohmann::json::sax_parse(text, &events);
  return builder.finish();
}

Document Document::parse_toml(std::string_view text, const std::string& name) {
  refuse_odd_toml(text, name);
  DocumentBuilder builder(name);
  try {
    add_toml(builder, toml::parse(text, name), name);
  } catch (const toml::parse_error& error) {
    std::string what(error.description().substr(0, 200));  // may quote the text, line ends and all
    std::ranges::replace_if(
        what, [](const char c) { return c >= 0 && c < 0x20; }, ' ');
    throw UsageError(fmt::format("{}, line {}: {}.", name, error.source().begin.line, what));
  }
  return builder.finish();
}

Document Document::read(const std::string& path) {
  const std::string text = read_text_file(path);
  return path.ends_with(".toml") ? parse_toml(text, path) : parse_json(text, path);
}

std::string Document::to_json(int indent) const {
  std::string out;
  append_json(out, *this, indent, 0);
  return out;
}

std::string read_text_file(const std::string& path, std::size_t limit) {
  std::error_code unknown;  // what can't be looked at can't be opened either
  if (std::filesystem::is_directory(path, unknown)) {
    throw UsageError(fmt::format("{} is a folder; name a file.", path));
  }
  std::FILE* file = std::fopen(path.c_str(), "rb");
  if (file == nullptr) {
    throw UsageError(
        fmt::format("{} can't be opened ({}); check the path.", path, std::strerror(errno)));
  }
  std::string text;
  std::vector<char> buffer(std::size_t{1} << 16);
  std::size_t got = 0;
  while ((got = std::fread(buffer.data(), 1, buffer.size(), file)) > 0 && text.size() <= limit) {
    text.append(buffer.data(), got);
  }
  const bool broken = std::ferror(file) != 0;
  std::fclose(file);
  if (broken) throw SourceError(fmt::format("{} can't be read.", path));
  if (text.size() > limit) {
    throw UsageError(fmt::format("{} is larger than {}; is it the right file?", path,
                                 human_bytes(static_cast<double>(limit))));
  }
  return text;
}

}  // namespace tandem
