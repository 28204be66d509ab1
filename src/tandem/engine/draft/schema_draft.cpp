// SPDX-License-Identifier: Apache-2.0
#include "tandem/engine/draft/schema_draft.h"

#include <fmt/core.h>
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <unordered_map>
#include <utility>

#include "tandem/base/error.h"
#include "tandem/base/text.h"
#include "tandem/data/codebook.h"
#include "tandem/data/schema.h"
#include "tandem/engine/draft/drafted_from.h"
#include "tandem/engine/draft/relation_proposals.h"
#include "tandem/engine/draft/rule_proposals.h"
#include "tandem/source/open.h"

namespace tandem {

namespace {

// ---- Gathering ----

struct Profiles {
  std::vector<std::string> names;  // in the first file's order
  std::vector<ColumnProfile> columns;
  TextFormat format;  // of the first file; with quoted records if one has such
  std::size_t rows = 0;
};

Profiles profile_sources(const SchemaRequest& request, std::vector<std::string>& doubts) {
  Profiles out;
  for (const auto& source : request.public_sources) {
    const bool first = out.names.empty();
    std::vector<std::ptrdiff_t> slots;  // of each field, or -1
    bool comma = false;
    const auto look_for_line_feed = [&](std::string_view text) {
      if (text.find('\n') != std::string_view::npos) out.format.records = Records::Quoted;
    };
    const auto on_header = [&](std::span<const std::string> names, const TextFormat& format) {
      comma = format.decimal_mark == ',';
      if (first) {
        out.format = format;
        for (const auto& name : names) look_for_line_feed(name);
        for (const auto& name : names) {
          slots.push_back(name.empty() ? -1 : static_cast<std::ptrdiff_t>(out.names.size()));
          if (name.empty()) {
            doubts.emplace_back("A column without a name was left out.");
          } else {
            out.names.push_back(name);
          }
        }
        out.columns.resize(out.names.size());
        return;
      }
      std::vector<bool> found(out.names.size(), false);
      for (const auto& name : names) {
        const auto at = std::ranges::find(out.names, name);
        slots.push_back(at == out.names.end() ? -1 : at - out.names.begin());
        if (slots.back() >= 0) found[static_cast<std::size_t>(slots.back())] = true;
      }
      for (std::size_t i = found.size(); i-- > 0;) {
        if (found[i]) continue;
        throw UsageError(fmt::format("{} has no column {}, which {} has; give files of one kind.",
                                     source, in_quotes(out.names[i]),
                                     request.public_sources.front()));
      }
    };
    std::string room;
    const auto on_row = [&](std::span<const std::string_view> fields, std::size_t /*line*/) {
      ++out.rows;
      for (std::size_t i = 0; i < fields.size(); ++i) {
        std::string_view text = fields[i];
        look_for_line_feed(text);
        if (slots[i] < 0) continue;
        if (comma) {  // in numbers alone: a date's points are its own
          const auto swapped = swap_decimal_marks(text, room);
          if (parse_number(trim(swapped))) text = swapped;
        }
        out.columns[static_cast<std::size_t>(slots[i])].add(text);
      }
    };
    CsvScanOptions options;
    options.progress = progress_of(request.reading, source);
    scan_table(source, nullptr, options, on_header, on_row);
  }
  return out;
}

// ---- Writing ----

std::string toml_text(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (byte < 0x20 || byte == 0x7f) {
      out += fmt::format("\\u{:04x}", byte);
    } else {
      out += c;
    }
  }
  return out + '"';
}

std::string toml_value(const Document& value) {
  if (value.is_string()) return toml_text(value.as_string());
  if (!value.is_array()) return value.to_json();
  std::string out = "[";
  for (const auto& item : value.as_array()) {
    if (out.size() > 1) out += ", ";
    out += toml_value(item);
  }
  return out + "]";
}

// Line feeds and the like would end a comment.
std::string on_one_line(std::string_view text) {
  std::string out(text);
  for (auto& c : out) c = static_cast<unsigned char>(c) < 0x20 || c == 0x7f ? ' ' : c;
  return out;
}

// A comment, folded to the width of a page.
void add_comment(std::string& toml, std::string_view text) {
  std::string line = "#";
  const std::string plain = on_one_line(text);
  for (const auto word : split(plain, ' ')) {
    if (word.empty()) continue;
    if (line.size() > 2 && line.size() + 1 + word.size() > 98) {
      toml += line + '\n';
      line = "#  ";
    }
    line += ' ';
    line += word;
  }
  toml += line + '\n';
}

constexpr std::size_t kLongestList = 90;

void add_column(std::string& toml, const ColumnDraft& draft) {
  toml += '\n';
  for (const auto& text : draft.choices) add_comment(toml, text);
  if (!draft.bounds.empty()) {
    add_comment(toml, fmt::format("UNCLEAR: Bounds {}; values beyond count as the nearer one.",
                                  draft.bounds));
  }
  for (const auto& text : draft.doubts) add_comment(toml, "UNCLEAR: " + text);
  toml += "[[column]]\n";
  std::unordered_map<std::string_view, std::string_view> labels;
  for (const auto& [text, label] : draft.labels) labels.emplace(text, label);
  for (const auto& [key, value] : draft.column.as_object()) {
    const std::string line = fmt::format("{} = {}", key, toml_value(value));
    const bool labelled =
        value.is_array() && !labels.empty() && (key == "values" || key == "special");
    if (!labelled && line.size() <= kLongestList) {
      toml += line + '\n';
      continue;
    }
    if (!value.is_array()) {
      toml += line + '\n';
      continue;
    }
    toml += key + " = [\n";
    std::string row;
    for (const auto& item : value.as_array()) {
      std::string text = toml_value(item) + ",";
      const auto label = item.is_string() ? labels.find(item.as_string()) : labels.end();
      if (labelled) {
        toml += "  " + text;
        if (label != labels.end()) toml += "  # " + on_one_line(label->second);
        toml += '\n';
        continue;
      }
      if (row.size() + text.size() + 1 > kLongestList) {
        toml += "  " + row + '\n';
        row.clear();
      }
      row += (row.empty() ? "" : " ") + text;
    }
    if (!row.empty()) toml += "  " + row + '\n';
    toml += "]\n";
  }
}

void add_format(std::string& toml, const TextFormat& format) {
  if (format == TextFormat{}) return;
  toml += "\n# How private files are written, and the rows of a release.\n[csv]\n";
  toml += fmt::format("encoding = \"{}\"\n", encoding_key(format.encoding));
  toml +=
      fmt::format("delimiter = {}\n",
                  toml_text(format.delimiter == '\t' ? "tab" : std::string(1, format.delimiter)));
  toml += fmt::format("quote = {}\n", toml_text(std::string(1, format.quote)));
  toml += fmt::format("decimal = \"{}\"\n", format.decimal_mark);
  toml += fmt::format("records = \"{}\"", records_key(format.records));
  toml += format.records == Records::Quoted ? "  # quoted values hold line feeds\n" : "\n";
}

std::string relation_lines(const RelationProposal& relation) {
  return fmt::format("[[relation]]  # {} public rows\n{} = {}\n", with_commas(relation.rows),
                     relation.derives ? "derive" : "order", toml_text(relation.text));
}

// As comments, those that a schema takes; some would rule nothing out.
void add_relations(const Schema& schema, const SchemaRequest& request, SchemaDraft& out) {
  const std::string columns = out.toml;
  for (const auto& relation : propose_relations(schema, request.public_sources)) {
    const std::string lines = relation_lines(relation);
    try {
      Schema::from_document(Document::parse_toml(columns + "\n" + lines, "the draft"));
    } catch (const UsageError&) {
      continue;
    }
    if (out.relations++ == 0) {
      out.toml += '\n';
      add_comment(out.toml,
                  "What holds in all public rows. Where that is no chance, uncomment it: all made "
                  "rows then keep it, and a derived column is computed, never measured "
                  "(docs/schema.md).");
    }
    const auto end = lines.find('\n');
    out.toml += "\n# " + lines.substr(0, end + 1) + "# " + lines.substr(end + 1);
  }
}

std::string file_name(const std::string& path) {
  return std::filesystem::path(path).filename().string();
}

}  // namespace

SchemaDraft draft_schema(const SchemaRequest& request) {
  SchemaDraft out;
  if (request.public_sources.empty()) {
    throw UsageError(TANDEM_SETTING("public") " is missing; a schema is drafted from public data.");
  }
  const Codebook codebook =
      request.codebook.empty() ? Codebook() : Codebook::read(request.codebook);
  const Profiles profiles = profile_sources(request, out.doubts);
  if (profiles.rows == 0) {
    throw UsageError(fmt::format("{} has a header and no rows; give public data with rows.",
                                 request.public_sources.front()));
  }

  std::vector<std::string> names;
  for (const auto& source : request.public_sources) names.push_back(file_name(source));
  if (!request.codebook.empty()) names.push_back(file_name(request.codebook));
  add_comment(out.toml, fmt::format("Drafted from {}: public knowledge, for a person to read "
                                    "through and edit.",
                                    list_names(names, 8)));
  add_comment(out.toml,
              "Each line that says UNCLEAR asks for a decision. docs/schema.md explains "
              "the keys.");
  out.toml += "format = 1\n";
  out.toml += drafted_from_line(request.public_sources, request.tables);
  add_format(out.toml, profiles.format);
  std::vector<std::string> bounds;
  for (std::size_t i = 0; i < profiles.names.size(); ++i) {
    const auto draft = draft_column(profiles.names[i], profiles.columns[i],
                                    codebook.find(profiles.names[i]), request.options);
    if (!draft.bounds.empty()) {
      bounds.push_back(fmt::format("{} {}", profiles.names[i], draft.bounds));
    }
    for (const auto& doubt : draft.doubts) {
      out.doubts.push_back(fmt::format("{}: {}", profiles.names[i], doubt));
    }
    if (draft.column.is_null()) {
      out.toml += '\n';
      add_comment(out.toml, fmt::format("UNCLEAR: {}: {}", profiles.names[i], draft.doubts.back()));
      continue;
    }
    ++out.columns;
    add_column(out.toml, draft);
  }
  for (const auto& column : codebook.columns()) {
    if (std::ranges::find(profiles.names, column.name) == profiles.names.end()) {
      out.doubts.push_back(fmt::format(
          "{}: The codebook describes it and the public data doesn't have it; left out.",
          column.name));
    }
  }
  if (!bounds.empty()) {  // what matters most comes first
    out.doubts.insert(out.doubts.begin(),
                      fmt::format("Does the private table lie inside these bounds? Values beyond "
                                  "count as the nearer one: {}.",
                                  fmt::join(bounds, ", ")));
  }
  if (out.columns == 0) {
    throw UsageError(fmt::format("{} has no column that could be described: {}",
                                 request.public_sources.front(), out.doubts.front()));
  }

  if (request.propose_rules) {
    const auto schema = Schema::from_document(Document::parse_toml(out.toml, "the draft"));
    add_relations(schema, request, out);
    const auto rules = propose_rules(schema, request.public_sources, request.threads);
    out.rules = rules.size();
    if (!rules.empty()) {
      out.toml += '\n';
      add_comment(out.toml,
                  "What never occurs together in the public data. Where that is a rule and not "
                  "chance, uncomment it: rows that break a rule are then mended (docs/schema.md).");
      for (const auto& rule : rules) {
        out.toml += fmt::format("\n# [[rule]]  # {} public rows\n# if = {}\n# then = {}\n",
                                with_commas(rule.rows), toml_text(rule.when), toml_text(rule.then));
      }
    }
  }
  return out;
}

SchemaCheck check_schema(const std::string& schema_path, const std::string& public_source,
                         Threads threads, const Reading& reading) {
  const Schema schema = Schema::read(schema_path);
  CsvOptions options;
  options.threads = threads;
  options.progress = progress_of(reading, public_source);
  const CsvTable loaded = load_table(public_source, schema, options);
  SchemaCheck out;
  out.rows = loaded.table.rows();
  out.mended = loaded.mended;
  out.ignored_columns = loaded.ignored_columns;
  for (AttributeId id = 0; id < schema.domain().size(); ++id) {
    out.columns.push_back({.name = schema.domain()[id].name,
                           .size = schema.domain()[id].size,
                           .adapted = loaded.adapted[id]});
  }
  return out;
}

Document to_document(const SchemaCheck& check) {
  Document columns = Document::array();
  for (const auto& [name, size, adapted] : check.columns) {
    columns.push(Document::object({{"name", name},
                                   {"codes", static_cast<std::uint64_t>(size)},
                                   {"adapted", static_cast<std::uint64_t>(adapted)}}));
  }
  Document ignored = Document::array();
  for (const auto& name : check.ignored_columns) ignored.push(name);
  return Document::object({{"format", 1},
                           {"rows", static_cast<std::uint64_t>(check.rows)},
                           {"columns", std::move(columns)},
                           {"mended_rows", static_cast<std::uint64_t>(check.mended)},
                           {"ignored_columns", std::move(ignored)}});
}

std::string to_text(const SchemaCheck& check) {
  std::string out = fmt::format("{} rows fit.\n\n", with_commas(check.rows));
  std::size_t width = 6;
  for (const auto& column : check.columns) width = std::max(width, column.name.size());
  out += fmt::format("  {:<{}}  {:>10}  {:>10}\n", "column", width, "codes", "adapted");
  for (const auto& [name, size, adapted] : check.columns) {
    out += fmt::format("  {:<{}}  {:>10}  {:>10}\n", name, width, with_commas(size),
                       adapted == 0 ? "" : with_commas(adapted));
  }
  out += "\nAdapted values lie beyond a column's bounds or count as 'other'.\n";
  if (check.mended > 0) {
    out += fmt::format("{} rows break a rule of the schema and are mended.\n",
                       with_commas(check.mended));
  }
  if (!check.ignored_columns.empty()) {
    out += fmt::format("Ignored {}, not in the schema.\n", list_names(check.ignored_columns, 8));
  }
  return out;
}

}  // namespace tandem
