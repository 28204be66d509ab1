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
  struct Enough {};
  try {
    scan_table(
        source, &schema, {},
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
  }
  return data;
}

namespace {

// Where public data ends well inside a range, the counts of the range can't say what lies beyond.
void note_ends(const ColumnSchema& column, const Codec& drawing, const Note& note) {
  constexpr double kWorthACut = 0.25;  // of a range that lies beyond
  for (const auto& [code, beyond] : drawing.beyond_public()) {
    const auto& ranges = *drawing.ranges();
    const auto [first, last] = ranges.range(code);
    const auto part =
        static_cast<double>(beyond.last - beyond.first + 1) / static_cast<double>(last - first + 1);
    if (part < kWorthACut) continue;
    const bool above = beyond.last == last;
    const auto end = above ? beyond.first - ranges.stride() : beyond.last + ranges.stride();
    const auto cut = above ? beyond.first : end;
    note(
        fmt::format("Note: in public data {} {} at {}, inside the range {} to {}; add {} to its "
                    "edges, and what "
                    "lies beyond is counted.",
                    in_quotes(column.name), above ? "ends" : "begins", ranges.line().text(end),
                    ranges.line().text(first), ranges.line().text(last), ranges.line().text(cut)));
  }
}

// The columns of one file that are looked at.
struct FieldOfColumn {
  std::size_t field = 0;
  AttributeId id = 0;
};

}  // namespace

Schema learn_inside(const Schema& schema, const std::vector<std::string>& public_sources,
                    const RowCondition& only, const Note& note) {
  if (std::ranges::none_of(schema.columns(), &ColumnSchema::inside_as_public)) return schema;
  std::vector<ColumnProfile> profiles(schema.columns().size());
  for (const auto& source : public_sources) {
    std::vector<FieldOfColumn> wanted;
    std::vector<FieldOfColumn> conditions;
    bool comma = false;
    std::string room;
    const auto text_of = [&](const FieldOfColumn& at, std::span<const std::string_view> fields) {
      const bool swap = comma && schema.columns()[at.id].codec->numeric();
      return swap ? swap_decimal_marks(fields[at.field], room) : fields[at.field];
    };
    scan_table(
        source, &schema, {},
        [&](std::span<const std::string> names, const TextFormat& format) {
          comma = format.decimal_mark == ',';
          for (std::size_t field = 0; field < names.size(); ++field) {
            const auto id = schema.domain().find(names[field]);
            if (!id) continue;
            if (schema.columns()[*id].inside_as_public) wanted.push_back({field, *id});
            if (only.names(*id)) conditions.push_back({field, *id});
          }
        },
        [&](std::span<const std::string_view> fields, std::size_t /*line*/) {
          const bool meant = std::ranges::all_of(conditions, [&](const FieldOfColumn& at) {
            return only.allows(at.id,
                               schema.columns()[at.id].codec->encode(text_of(at, fields)).code);
          });
          if (!meant) return;
          for (const auto& at : wanted) profiles[at.id].add(text_of(at, fields));
        });
  }
  std::vector<std::shared_ptr<const Codec>> codecs;
  for (std::size_t id = 0; id < schema.columns().size(); ++id) {
    codecs.push_back(schema.columns()[id].codec);
    if (profiles[id].rows() == 0) continue;
    auto drawing = codecs[id]->drawing_as(profiles[id].sample());
    if (!drawing) continue;
    if (note) note_ends(schema.columns()[id], *drawing, note);
    codecs[id] = std::move(drawing);
  }
  return schema.with_codecs(std::move(codecs));
}

Schema follow_rows(const Schema& writing, const Table& rows) {
  std::vector<std::shared_ptr<const Codec>> codecs;
  for (AttributeId id = 0; id < writing.domain().size(); ++id) {
    const auto& codec = writing.columns()[id].codec;
    codecs.push_back(codec);
    if (!writing.columns()[id].inside_as_public) continue;
    std::vector<std::size_t> counts(codec->size(), 0);
    rows.column(id).visit([&](auto codes) {
      for (const auto code : codes) ++counts[code];
    });
    if (auto following = codec->drawing_for(counts)) codecs[id] = std::move(following);
  }
  return writing.with_codecs(std::move(codecs));
}

}  // namespace tandem
