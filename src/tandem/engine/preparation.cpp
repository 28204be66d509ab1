// SPDX-License-Identifier: Apache-2.0
#include "tandem/engine/preparation.h"

#include <fmt/core.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <utility>

#include "tandem/base/digest.h"
#include "tandem/base/error.h"
#include "tandem/base/text.h"
#include "tandem/engine/draft/column_profile.h"
#include "tandem/engine/draft/schema_draft.h"
#include "tandem/engine/input_files.h"
#include "tandem/engine/privacy_unit_text.h"
#include "tandem/model/fitted_rows.h"
#include "tandem/privacy/accountant.h"
#include "tandem/source/open.h"

namespace tandem {

namespace {

constexpr double kLeastEpsilon = 1e-6;  // below, noise drowns any table, and then its own integers
constexpr double kMostEpsilon = 1000.0;

Filter filter_of(const SynthSettings& s) {
  if (!(s.epsilon >= kLeastEpsilon) || s.epsilon > kMostEpsilon) {
    throw UsageError(
        fmt::format("--epsilon is missing or out of range; give a number from {:g} to {:g}.",
                    kLeastEpsilon, kMostEpsilon));
  }
  if (!(s.delta >= 0.0) || s.delta >= 1.0) {
    throw UsageError(fmt::format("--delta is {}; choose a number from 0 to below 1.", s.delta));
  }
  if (s.delta == 0.0) return Filter::pure(Epsilon(s.epsilon));
  return Filter::zcdp(rho_of(Epsilon(s.epsilon), Delta(s.delta)));
}

// The schema of the settings: read from its file, or drafted from public data.
struct SchemaOfRun {
  Schema schema;
  std::string text;
};

SchemaOfRun read_schema(const SynthSettings& s, Threads threads, const Note& note) {
  SchemaOfRun out;
  if (!s.schema.empty()) {
    out = {Schema::read(s.schema), read_text_file(s.schema)};
  } else {
    SchemaRequest request;
    request.public_sources = s.public_sources;
    request.propose_rules = false;
    request.threads = threads;
    auto draft = draft_schema(request);
    out.schema = Schema::from_document(Document::parse_toml(draft.toml, "the drafted schema"));
    out.text = std::move(draft.toml);
    if (note) {
      note(
          "Note: without --schema, the columns are as the public data suggests; 'tandem schema' "
          "writes that down for you to edit.");
      for (const auto& doubt : draft.doubts) note("Unclear: " + doubt);
    }
  }
  out.schema = out.schema.with_format(stated_format(s.text, out.schema.format()));
  check_writable(out.schema);
  return out;
}

}  // namespace

std::string automatic_mechanism(bool with_public_data, bool pure) {
  if (pure) return with_public_data ? "mw-pub" : "mst";
  return "tandem";
}

Prepared prepare(const SynthSettings& s, const FindMechanism& find, Threads threads,
                 const Note& note) {
  if (s.private_source.empty()) throw UsageError("--private is missing; name the private table.");
  if (s.schema.empty() && s.public_sources.empty()) {
    throw UsageError(
        "--schema is missing; name the schema of the private table, or public data to draft it "
        "from.");
  }
  if (s.format != "csv") {
    throw UsageError(fmt::format("--format is {}; this version writes csv.", in_quotes(s.format)));
  }
  if (s.rows < 0 || s.rows > kMostRows) {
    throw UsageError(fmt::format("--rows is {}; choose 0 to {}.", s.rows, with_commas(kMostRows)));
  }
  refuse_private_as_public(s.private_source, s.public_sources);
  if (s.seed < -1) {
    throw UsageError(fmt::format("--seed is {}; choose a whole number from 0.", s.seed));
  }
  auto mechanism =
      find(s.mechanism == "auto" ? automatic_mechanism(!s.public_sources.empty(), s.delta == 0.0)
                                 : s.mechanism);
  auto parameters = mechanism.resolve(parse_parameters(s.parameters));
  auto unit = parse_privacy_unit(s.neighbors, s.rows_per_person);
  unit.may_be_absent = !s.person.empty();  // rows that name nobody are dropped
  auto filter = filter_of(s);
  if (filter.currency() == Currency::Pure && !mechanism.pure) {
    throw UsageError(
        fmt::format("{} has no pure guarantee; give a --delta above 0.", mechanism.name));
  }
  if (mechanism.public_data == PublicUse::Needed && s.public_sources.empty()) {
    throw UsageError(fmt::format("{} needs public data; give it with --public.", mechanism.name));
  }
  auto [schema, text] = read_schema(s, threads, note);
  auto workload = Workload::parse(schema.domain(), s.workload);
  auto digest = sha256_hex(text);
  return {std::move(schema),    std::move(text),       std::move(digest),
          std::move(mechanism), std::move(parameters), unit,
          std::move(filter),    std::move(workload)};
}

PublicData load_public(const SynthSettings& s, const Schema& schema, Threads threads,
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
    if (loaded.format != TextFormat{}) {
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

namespace {

double parse_bytes(const std::string& text) {
  static constexpr std::pair<std::string_view, double> kUnits[] = {
      {"TB", 1e12}, {"GB", 1e9}, {"MB", 1e6}, {"kB", 1e3}, {"KB", 1e3}, {"B", 1.0}, {"", 1.0}};
  for (const auto& [unit, bytes] : kUnits) {
    if (!text.ends_with(unit)) continue;
    const auto number =
        parse_number(trim(std::string_view(text).substr(0, text.size() - unit.size())));
    if (number && *number > 0.0) return *number * bytes;
    break;
  }
  throw UsageError(
      fmt::format("--memory-limit is {}; write a size such as 8GB or 500MB.", in_quotes(text)));
}

}  // namespace

double memory_limit(const SynthSettings& s) {
  if (!s.memory_limit.empty()) return parse_bytes(s.memory_limit);
  const double pages = static_cast<double>(sysconf(_SC_PHYS_PAGES));
  return 0.75 * pages * static_cast<double>(sysconf(_SC_PAGE_SIZE));
}

namespace {

constexpr double kOfProcess = 20e6;  // the program, its buffers and threads; bytes

double text_bytes(const std::string& path) {
  std::error_code missing;
  const auto size = static_cast<double>(std::filesystem::file_size(path, missing));
  if (missing) return 0.0;
  return size * (path.ends_with(".gz") ? 10.0 : 1.0);
}

}  // namespace

double most_rows(const std::string& path, const Schema& schema) {
  return text_bytes(path) / (2.0 * static_cast<double>(schema.domain().size()));
}

double expected_rows(const SynthSettings& s, const Schema& schema, const PublicData& data) {
  double rows = 0.0;
  double bytes = 0.0;
  for (const auto& [name, table] : data.tables) rows += static_cast<double>(table.rows());
  for (const auto& source : s.public_sources) bytes += text_bytes(source);
  if (rows == 0.0 || bytes == 0.0) return most_rows(s.private_source, schema);
  return text_bytes(s.private_source) * rows / bytes;
}

double predicted_memory(const SynthSettings& s, const Schema& schema, double of_mechanism) {
  double row = 0.0;
  double cells = 0.0;
  for (const auto& attribute : schema.domain().attributes()) {
    row += static_cast<double>(code_width(attribute.size));
    cells += static_cast<double>(attribute.size);
  }
  const double held = most_rows(s.private_source, schema);
  double rows = held + (s.rows > 0 ? static_cast<double>(s.rows) : held);
  for (const auto& source : s.public_sources) rows += most_rows(source, schema);
  return rows * row + 64.0 * cells + kOfProcess + of_mechanism;
}

void check_memory(const SynthSettings& s, const Schema& schema, double of_mechanism) {
  const double need = predicted_memory(s, schema, of_mechanism);
  if (need <= memory_limit(s)) return;
  const bool tables = of_mechanism < need / 2.0;
  throw UsageError(
      fmt::format("The run may need {} and the limit is {}; raise --memory-limit or choose a {}.",
                  human_bytes(need), human_bytes(memory_limit(s)),
                  tables ? "smaller table"
                         : "smaller --workload, such as random-3way:1000:1, or max-model-mb"));
}

double memory_of_mechanism(const SynthSettings& s, const Prepared& p, const Problem& problem) {
  const double of_mechanism = p.mechanism.memory ? p.mechanism.memory(problem, p.parameters) : 0.0;
  const bool never = bytes_of_fitting(problem.domain, p.workload, 0.0) > kMostBytesOfFitting;
  if (never) return of_mechanism;
  const double rows =
      s.rows > 0 ? static_cast<double>(s.rows) : most_rows(s.private_source, p.schema);
  const double fitting = bytes_of_fitting(problem.domain, p.workload, rows);
  return std::max(of_mechanism, std::min(fitting, kMostBytesOfFitting));
}

Problem problem_of(const Prepared& p, PublicData public_data, double rows_expected) {
  return {p.schema.domain(), p.workload, std::move(public_data), impossible_boxes(p.schema.rules()),
          rows_expected};
}

}  // namespace tandem
