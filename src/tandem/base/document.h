// SPDX-License-Identifier: Apache-2.0
#pragma once
// JSON and TOML as one tree, so that a schema, workload, codebook or configuration is read by one
// piece of code whatever its format, and third-party headers stay in one file.
//
// Every value knows where it came from ("schema.toml, columns[2].size"), for error messages.

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace tandem {

class Document {
 public:
  using Member = std::pair<std::string, Document>;
  using Array = std::vector<Document>;
  using Object = std::vector<Member>;  // in the file's order; keys are unique

  Document() = default;  // null
  Document(bool value) : value_(value) {}
  Document(int value) : value_(std::int64_t{value}) {}
  Document(std::int64_t value) : value_(value) {}
  Document(std::uint64_t value);  // InternalError above the largest int64
  Document(double value) : value_(value) {}
  Document(std::string value) : value_(std::move(value)) {}
  Document(std::string_view value) : value_(std::string(value)) {}
  Document(const char* value) : value_(std::string(value)) {}
  static Document array(Array items = {});
  static Document object(Object members = {});

  bool is_null() const { return std::holds_alternative<std::monostate>(value_); }
  bool is_bool() const { return std::holds_alternative<bool>(value_); }
  bool is_integer() const { return std::holds_alternative<std::int64_t>(value_); }
  bool is_string() const { return std::holds_alternative<std::string>(value_); }
  bool is_array() const { return std::holds_alternative<Array>(value_); }
  bool is_object() const { return std::holds_alternative<Object>(value_); }
  std::string_view type_name() const;

  // Reading: a value of another type is a UsageError that says where, what and what was expected.
  bool as_bool() const;
  std::int64_t as_integer() const;
  std::int64_t as_integer(std::int64_t least, std::int64_t most) const;
  double as_number() const;
  const std::string& as_string() const;
  const Array& as_array() const;
  const Object& as_object() const;

  const Document* find(std::string_view key) const;  // nullptr when absent; on objects only
  const Document& at(std::string_view key) const;    // an error that names the missing key
  void allow_only(std::span<const std::string_view> keys) const;  // an error that names a stranger

  // Building.
  void set(std::string key, Document value);
  void push(Document value);

  // "file, path.to[2].value", or only the file for the root.
  std::string where() const;
  [[noreturn]] void fail(std::string_view message) const;  // UsageError "WHERE message"

  // Text to tree. `name` is what messages call the text, usually the path of its file.
  static Document parse_json(std::string_view text, const std::string& name);
  static Document parse_toml(std::string_view text, const std::string& name);
  static Document read(const std::string& path);  // by extension: .toml, else JSON

  // Tree to JSON text: keys in order, numbers that read back to the same value.
  std::string to_json(int indent = 0) const;

 private:
  friend class DocumentBuilder;
  void locate(const std::shared_ptr<const std::string>& name, const std::string& path);

  std::variant<std::monostate, bool, std::int64_t, double, std::string, Array, Object> value_;
  std::shared_ptr<const std::string> name_;  // shared by all values of one text
  std::string path_;
};

// The whole of a file of at most `limit` bytes; SourceError when it can't be read.
std::string read_text_file(const std::string& path, std::size_t limit = 256'000'000);

}  // namespace tandem
