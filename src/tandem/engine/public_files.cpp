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

PublicData load_public(const SynthSettings& s, const Schema& schema, const Threads& threads,
                       const Note& note, const Reading& reading) {
  const auto say = [&](const std::string& sentence) {
    if (note) note("Note: " + sentence);
  };
  PublicData data;
  const auto names = display_names(s.public_sources);
  for (const auto& source : s.public_sources) {
    CsvOptions options;
    options.threads = threads;
    options.progress = progress_of(reading, source);
    CsvTable loaded = load_table(source, schema, options);
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
  std::vector<std::shared_ptr<const Codec>> codecs;
  for (std::size_t id = 0; id < schema.columns().size(); ++id) {
    codecs.push_back(schema.columns()[id].codec);
    if (profiles[id].rows() == 0) continue;
    if (auto drawing = codecs[id]->drawing_as(profiles[id].sample())) {
      codecs[id] = std::move(drawing);
    }
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
