// SPDX-License-Identifier: Apache-2.0
#include "tandem/engine/settings.h"

#include <fmt/core.h>

#include <algorithm>

#include "tandem/base/error.h"
#include "tandem/base/text.h"

namespace tandem {

namespace {

void read(const Document& value, std::string& out) { out = value.as_string(); }
void read(const Document& value, double& out) { out = value.as_number(); }
void read(const Document& value, std::int64_t& out) { out = value.as_integer(); }
void read(const Document& value, bool& out) { out = value.as_bool(); }

std::string scalar_text(const Document& value) {
  if (value.is_string()) return value.as_string();
  if (value.is_array() || value.is_object()) value.fail("is a list or table; expected one value.");
  return value.to_json();
}

void read(const Document& value, std::vector<std::string>& out) {
  out.clear();
  if (value.is_array()) {
    for (const auto& item : value.as_array()) out.push_back(item.as_string());
  } else if (value.is_object()) {
    for (const auto& [key, item] : value.as_object()) out.push_back(key + "=" + scalar_text(item));
  } else {
    out.push_back(value.as_string());
  }
}

Document write(const std::string& value) { return value; }
Document write(double value) { return value; }
Document write(std::int64_t value) { return value; }
Document write(bool value) { return value; }
Document write(const std::vector<std::string>& value) {
  return Document::array({value.begin(), value.end()});
}

}  // namespace

void apply(const Document& document, SynthSettings& settings,
           const std::function<bool(std::string_view)>& keep) {
  std::vector<std::string_view> keys;
  for_each_setting(settings,
                   [&](std::string_view name, auto&, std::string_view) { keys.push_back(name); });
  document.allow_only(keys);
  for_each_setting(settings, [&](std::string_view name, auto& variable, std::string_view) {
    const Document* value = document.find(name);
    if (value != nullptr && !keep(name)) read(*value, variable);
  });
}

Document to_document(const SynthSettings& settings) {
  Document document = Document::object();
  for_each_setting(settings, [&](std::string_view name, const auto& variable, std::string_view) {
    document.set(std::string(name), write(variable));
  });
  return document;
}

TextFormat stated_format(const FormatSettings& s, TextFormat format) {
  if (!s.encoding.empty()) {
    const auto encoding = parse_encoding(s.encoding);
    if (!encoding) {
      throw UsageError(fmt::format(
          TANDEM_SETTING("encoding") " is {}; choose utf-8, latin-1, utf-16le or utf-16be.",
          in_quotes(s.encoding)));
    }
    format.encoding = *encoding;
  }
  if (!s.delimiter.empty()) {
    const auto delimiter = parse_character(s.delimiter);
    if (!delimiter) {
      throw UsageError(
          fmt::format(TANDEM_SETTING("delimiter") " is {}; give one character, or tab.",
                      in_quotes(s.delimiter)));
    }
    format.delimiter = *delimiter;
  }
  if (!s.decimal.empty()) {
    if (s.decimal != "." && s.decimal != ",") {
      throw UsageError(fmt::format(TANDEM_SETTING("decimal") " is {}; choose '.' or ','.",
                                   in_quotes(s.decimal)));
    }
    format.decimal_mark = s.decimal[0];
  }
  if (!s.records.empty()) {
    const auto records = parse_records(s.records);
    if (!records) {
      throw UsageError(fmt::format(TANDEM_SETTING("records") " is {}; choose lines or quoted.",
                                   in_quotes(s.records)));
    }
    format.records = *records;
  }
  require_usable(format);
  return format;
}

}  // namespace tandem
