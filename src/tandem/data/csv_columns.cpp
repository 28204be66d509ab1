// SPDX-License-Identifier: Apache-2.0
#include "tandem/data/csv_columns.h"

#include <fmt/core.h>

#include <algorithm>
#include <unordered_set>

#include "tandem/base/error.h"
#include "tandem/base/text.h"

namespace tandem {

namespace {

// What a message may say of a first line that lacks a column. It quotes no name of a private file
// that the schema doesn't know.
std::string what_to_mend(const CsvBlockReader& reader, const CsvHeader& header,
                         const Domain& domain, RowPolicy policy) {
  if (header.inner_carriage_return) {
    return "carriage returns stand inside its first line, so save it with line feeds";
  }
  if (header.names.size() == 1 && !header.names[0].empty() && domain.size() > 1) {
    const char delimiter = reader.format().delimiter;
    return fmt::format("its first line isn't parted by {}, so state its delimiter",
                       delimiter == '\t' ? "tabs" : in_quotes(std::string_view(&delimiter, 1)));
  }
  if (policy == RowPolicy::MustFit) return "its columns are " + list_names(header.names, 12);
  std::vector<std::string> names;
  for (const auto& attribute : domain.attributes()) names.push_back(attribute.name);
  return "its first line must name " + list_names(names, 12);
}

}  // namespace

void check_repeated_names(const std::string& path, std::span<const std::string> names,
                          RowPolicy policy, const Domain& domain) {
  std::unordered_set<std::string_view> seen;
  for (const auto& name : names) {
    if (name.empty() || seen.insert(name).second) continue;
    const bool quotable = policy == RowPolicy::MustFit || domain.find(name);
    throw SchemaError(
        fmt::format("{}, line 1: {} stands there twice; rename one.", path,
                    quotable ? "the column name " + in_quotes(name) : "one column name"));
  }
}

MatchedColumns match_columns(const CsvBlockReader& reader, const CsvHeader& header,
                             const Domain& domain, RowPolicy policy) {
  check_repeated_names(reader.path(), header.names, policy, domain);
  MatchedColumns matched;
  std::vector<bool> found(domain.size(), false);
  for (const auto& name : header.names) {
    const auto id = domain.find(name);
    matched.attributes.push_back(id ? static_cast<int>(*id) : kIgnoredColumn);
    if (id) {
      found[*id] = true;
    } else {
      matched.ignored.push_back(name);
    }
  }
  for (AttributeId id = 0; id < domain.size(); ++id) {
    if (found[id]) continue;
    throw SchemaError(fmt::format("{} has no column {}, which the schema names; {}.", reader.path(),
                                  in_quotes(domain[id].name),
                                  what_to_mend(reader, header, domain, policy)));
  }
  return matched;
}

int find_key(const std::string& path, const CsvHeader& header, const std::string& key_column) {
  if (key_column.empty()) return kIgnoredColumn;
  const auto found = std::ranges::find(header.names, key_column);
  if (found == header.names.end()) {
    throw SchemaError(
        fmt::format("{} has no column {}, named as the person column; check its name.", path,
                    in_quotes(key_column)));
  }
  return static_cast<int>(found - header.names.begin());
}

}  // namespace tandem
