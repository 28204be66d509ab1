// SPDX-License-Identifier: Apache-2.0
#include "tandem/mechanism/answers/answer_names.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>
#include <vector>

namespace tandem {
namespace {

// A group, a column or a value as it is, or in quotes (doubled inside) where a reader who splits
// the name at its signs would take it apart.
std::string part(const std::string& text) {
  static constexpr std::array<std::string_view, 7> kSigns = {": ", " & ", "=", "|",
                                                             "..", "*",   "\""};
  const bool plain =
      std::ranges::none_of(
          kSigns, [&](std::string_view sign) { return text.find(sign) != std::string::npos; }) &&
      !text.starts_with("& ") && !text.ends_with(" &");
  if (plain) return text;
  std::string out = "\"";
  for (const char c : text) out += c == '"' ? "\"\"" : std::string(1, c);
  return out + '"';
}

std::string label(const Attribute& attribute, std::size_t code) {
  return attribute.labels.empty() ? fmt::format("{}", code) : part(attribute.labels[code]);
}

std::string range(const Attribute& attribute, std::size_t first, std::size_t last) {
  if (first == last) return label(attribute, first);
  return label(attribute, first) + ".." + label(attribute, last);
}

// "a|b" where a row counts some values once each, otherwise its coefficients: "2*a-1*b".
std::string weighted_values(const Attribute& attribute, std::span<const std::int64_t> row) {
  bool plain = true;
  for (const auto coefficient : row) plain = plain && (coefficient == 0 || coefficient == 1);
  std::string out;
  for (std::size_t code = 0; code < row.size(); ++code) {
    if (row[code] == 0) continue;
    if (plain) {
      out += fmt::format("{}{}", out.empty() ? "" : "|", label(attribute, code));
    } else {
      out += fmt::format("{}{}*{}", row[code] > 0 && !out.empty() ? "+" : "", row[code],
                         label(attribute, code));
    }
  }
  return out.empty() ? "none" : out;
}

// What each row of a column's queries asks for; empty where it asks for all values together.
std::vector<std::string> names_of(const Attribute& attribute, const ColumnQueries& queries) {
  const std::size_t n = attribute.size;
  std::vector<std::string> out;
  const auto add = [&](const std::string& what) {
    out.push_back(part(attribute.name) + "=" + what);
  };
  switch (queries.kind) {
    case ColumnQueries::Kind::Identity:
      for (std::size_t code = 0; code < n; ++code) add(label(attribute, code));
      break;
    case ColumnQueries::Kind::Total:
      out.emplace_back();
      break;
    case ColumnQueries::Kind::Prefix:
      for (std::size_t last = 0; last < n; ++last) add(range(attribute, 0, last));
      break;
    case ColumnQueries::Kind::Ranges:
      for (std::size_t first = 0; first < n; ++first) {
        for (std::size_t last = first; last < n; ++last) add(range(attribute, first, last));
      }
      break;
    case ColumnQueries::Kind::Given:
      for (std::size_t r = 0; r * n < queries.given.size(); ++r) {
        add(weighted_values(attribute, std::span(queries.given).subspan(r * n, n)));
      }
      break;
  }
  return out;
}

}  // namespace

void for_each_query_name(const Domain& domain, const NamedProduct& product,
                         const std::function<void(std::string name)>& take) {
  const auto& [clique, factors, weight] = product.queries;
  std::vector<std::vector<std::string>> names;
  for (std::size_t i = 0; i < clique.size(); ++i) {
    names.push_back(names_of(domain[clique[i]], factors[i]));
  }
  const std::string group = product.group.empty() ? "" : part(product.group) + ": ";
  std::vector<std::size_t> row(names.size(), 0);
  for (;;) {
    std::string text;
    for (std::size_t i = 0; i < names.size(); ++i) {
      const std::string& one = names[i][row[i]];
      if (!one.empty()) text += (text.empty() ? "" : " & ") + one;
    }
    take(group + (text.empty() ? "all" : text));
    std::size_t i = row.size();
    while (i > 0 && ++row[i - 1] == names[i - 1].size()) row[--i] = 0;
    if (i == 0) return;
  }
}

}  // namespace tandem
