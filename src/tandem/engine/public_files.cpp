// SPDX-License-Identifier: Apache-2.0
#include "tandem/engine/public_files.h"

#include <fmt/core.h>

#include <algorithm>
#include <utility>

#include "tandem/base/text.h"
#include "tandem/engine/draft/column_profile.h"
#include "tandem/engine/input_files.h"
#include "tandem/source/open.h"

namespace tandem {
namespace {

// Those of the columns that the file has not.
std::vector<AttributeId> lacking(const std::string& source, const Schema& schema,
                                 const std::vector<std::string>& may_lack) {
  std::vector<AttributeId> out;
  if (may_lack.empty()) return out;
  require_file(source);
  struct Enough {};
  try {
    scan_csv(
        source, {},
        [&](std::span<const std::string> names, const TextFormat& /*format*/) {
          for (const auto& name : may_lack) {
            const auto id = schema.domain().find(name);
            if (id && std::ranges::find(names, name) == names.end()) out.push_back(*id);
          }
          throw Enough{};
        },
        [](std::span<const std::string_view> /*fields*/, std::size_t /*line*/) {});
  } catch (const Enough&) {
  }
  return out;
}

// Rules stay out of it: they may speak of columns that are not there.
CsvTable load_without(const std::string& source, const Schema& schema,
                      const std::vector<AttributeId>& lacking, const CsvOptions& options) {
  std::vector<ColumnSchema> columns;
  for (AttributeId id = 0; id < schema.domain().size(); ++id) {
    if (std::ranges::find(lacking, id) == lacking.end()) columns.push_back(schema.columns()[id]);
  }
  CsvTable loaded = load_table(source, Schema(std::move(columns), schema.format()), options);
  std::vector<Column> all;
  std::vector<std::size_t> adapted;
  AttributeId next = 0;
  for (AttributeId id = 0; id < schema.domain().size(); ++id) {
    if (std::ranges::find(lacking, id) == lacking.end()) {
      adapted.push_back(loaded.adapted[next]);
      all.push_back(std::move(loaded.table.column(next++)));
    } else {
      adapted.push_back(0);
      all.emplace_back(schema.domain()[id].size, loaded.table.rows());
    }
  }
  loaded.table = Table(schema.domain(), std::move(all));
  loaded.adapted = std::move(adapted);
  return loaded;
}

}  // namespace

PublicData load_public(const SynthSettings& s, const Schema& schema, const Threads& threads,
                       const Note& note, const Reading& reading,
                       const std::vector<std::string>& may_lack) {
  const auto say = [&](const std::string& sentence) {
    if (note) note("Note: " + sentence);
  };
  PublicData data;
  const auto names = display_names(s.public_sources);
  for (const auto& source : s.public_sources) {
    CsvOptions options;
    options.threads = threads;
    options.progress = progress_of(reading, source);
    const auto missing = lacking(source, schema, may_lack);
    CsvTable loaded = missing.empty() ? load_table(source, schema, options)
                                      : load_without(source, schema, missing, options);
    if (!loaded.ignored_columns.empty()) {
      say(fmt::format("{}: ignored {}, not in the schema.", source,
                      list_names(loaded.ignored_columns, 8)));
    }
    if (describe(loaded.format) != describe(TextFormat{})) {
      say(fmt::format("{}: read as {}.", source, describe(loaded.format)));
    }
    std::vector<std::string> adapted;
    for (AttributeId id = 0; id < schema.domain().size(); ++id) {
      if (loaded.adapted[id] > 0) adapted.push_back(schema.domain()[id].name);
    }
    if (!adapted.empty()) {
      say(fmt::format("{}: some values of {} lie beyond their bounds or count as 'other'.", source,
                      list_names(adapted, 8)));
    }
    if (loaded.mended > 0) {
      say(fmt::format("{}: {} rows break a rule of the schema and were mended.", source,
                      with_commas(loaded.mended)));
    }
    data.tables.push_back({names[data.tables.size()], std::move(loaded.table)});
    const auto rows = static_cast<double>(data.tables.back().table.rows());
    if (rows > 0.0 && s.delta > 1.0 / rows) {
      say(fmt::format("delta {:g} is above one over the rows of {}; a smaller delta is customary.",
                      s.delta, source));
    }
  }
  return data;
}

Schema learn_inside(const Schema& schema, const std::vector<std::string>& public_sources) {
  if (std::ranges::none_of(schema.columns(), &ColumnSchema::inside_as_public)) return schema;
  std::vector<ColumnProfile> profiles(schema.columns().size());
  for (const auto& source : public_sources) {
    std::vector<std::pair<std::size_t, std::size_t>> wanted;  // field, attribute
    bool comma = false;
    std::string room;
    scan_csv(
        source, {},
        [&](std::span<const std::string> names, const TextFormat& format) {
          comma = format.decimal_mark == ',';
          for (std::size_t field = 0; field < names.size(); ++field) {
            const auto id = schema.domain().find(names[field]);
            if (id && schema.columns()[*id].inside_as_public) wanted.emplace_back(field, *id);
          }
        },
        [&](std::span<const std::string_view> fields, std::size_t /*line*/) {
          for (const auto& [field, id] : wanted) {
            const bool swap = comma && schema.columns()[id].codec->numeric();
            profiles[id].add(swap ? swap_decimal_marks(fields[field], room) : fields[field]);
          }
        });
  }
  std::vector<ColumnSchema> columns(schema.columns().begin(), schema.columns().end());
  for (std::size_t id = 0; id < columns.size(); ++id) {
    if (profiles[id].rows() == 0) continue;
    if (auto drawing = columns[id].codec->drawing_as(profiles[id].sample())) {
      columns[id].codec = std::move(drawing);
    }
  }
  return Schema(std::move(columns), schema.format(),
                {schema.rules().begin(), schema.rules().end()});
}

}  // namespace tandem
