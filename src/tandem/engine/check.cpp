// SPDX-License-Identifier: Apache-2.0
#include "tandem/engine/check.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <numeric>
#include <utility>

#include "tandem/base/error.h"
#include "tandem/base/text.h"
#include "tandem/engine/checked.h"
#include "tandem/engine/draft/drafted_from.h"
#include "tandem/engine/fit/hints.h"
#include "tandem/engine/privacy_unit_text.h"
#include "tandem/engine/text_table.h"
#include "tandem/source/source_files.h"

namespace tandem {

namespace {

constexpr int kFormat = 1;
// Lines on a screen; the document has all.
constexpr std::size_t kShownWrong = 8;
constexpr std::size_t kShownNotes = 4;
constexpr std::size_t kShownColumns = 8;

FileCheck check_file(const std::string& source, bool is_private, const Schema& schema,
                     const std::vector<std::string>& origins, const CheckRequest& request) {
  FitOptions options;
  options.reading = {.policy = is_private ? RowPolicy::Repair : RowPolicy::MustFit,
                     .format = {},
                     .threads = request.threads,
                     .progress = progress_of(request.reading, source)};
  options.lenient = true;
  options.rows_per_person = static_cast<std::size_t>(request.rows_per_person);
  if (is_private) options.person = request.person;
  FileCheck out{is_private, fit_file(source, schema, options), {}};
  out.findings = findings_of(out.fit, schema, options.reading.policy, options.rows_per_person);
  const auto is_one = [&](const std::string& file) { return is_origin(file, origins); };
  if (is_private && !origins.empty() && std::ranges::any_of(source_files(source), is_one)) {
    out.findings.push_back(
        {.kind = "drafted-from-it",
         .text = "The schema was drafted from this very file: which values and bounds it names is "
                 "private then; draft it from public data or a codebook."});
    put_worst_first(out.findings);
  }
  return out;
}

}  // namespace

bool FileCheck::wrong() const {
  return std::ranges::any_of(findings, [](const Finding& f) { return f.wrong; });
}

bool CheckResult::wrong() const {
  return std::ranges::any_of(files, [](const FileCheck& file) { return file.wrong(); });
}

CheckResult check_files(const CheckRequest& request) {
  if (request.private_sources.empty() && request.public_sources.empty()) {
    throw UsageError(TANDEM_SETTING("private") " is missing; name the file to check.");
  }
  if (!request.person.empty() && request.private_sources.empty()) {
    throw UsageError(TANDEM_SETTING("person") " is of private files; name one.");
  }
  parse_privacy_unit("replace-one", request.rows_per_person);  // refuses what synth would
  const Document document = Document::read(request.schema);
  const Schema read = Schema::from_document(document);
  const Schema schema = read.with_format(stated_format(request.text, read.format()));
  CheckResult result;
  result.schema = request.schema;
  for (const auto& attribute : schema.domain().attributes()) {
    result.columns.push_back(attribute.name);
  }
  for (const auto& rule : schema.rules()) result.rules.push_back(rule.text);
  for (const auto& source : request.private_sources) {
    result.files.push_back(check_file(source, true, schema, drafted_from(document), request));
    if (!remember_check(request.schema, source)) {
      result.notes.push_back(
          fmt::format("{}.checked can't be written, so 'tandem synth' will not know of this check.",
                      request.schema));
    }
  }
  for (const auto& source : request.public_sources) {
    result.files.push_back(check_file(source, false, schema, {}, request));
  }
  return result;
}

// ---- JSON ----

namespace {

std::string read_as(const FileFit& fit) {
  return is_parquet(fit.path) ? "Parquet" : describe(fit.format);
}

Document count(std::size_t value) { return {static_cast<std::uint64_t>(value)}; }

Document names_document(const std::vector<std::string>& names) {
  Document out = Document::array();
  for (const auto& name : names) out.push(readable(name));
  return out;
}

Document examples_document(const TextCounts& texts) {
  constexpr std::size_t kExamples = 10;
  Document out = Document::array();
  for (const auto& [text, times] : texts.most_frequent(kExamples)) {
    out.push(Document::object({{"text", readable(text)}, {"times", count(times)}}));
  }
  return out;
}

Document column_document(const std::string& name, const ColumnFit& fit) {
  Document out = Document::object({{"column", name}});
  for (std::size_t i = 0; i < kValueFits; ++i) out.set(kValueFitNames[i], count(fit.counts[i]));
  out.set("examples", Document::object({{"unfit", examples_document(fit.unfit)},
                                        {"other", examples_document(fit.other)},
                                        {"beyond", examples_document(fit.beyond)}}));
  return out;
}

Document file_document(const CheckResult& result, const FileCheck& file) {
  const FileFit& fit = file.fit;
  const RecordFit& r = fit.records;
  Document columns = Document::array();
  for (std::size_t id = 0; id < fit.columns.size(); ++id) {
    columns.push(column_document(result.columns[id], fit.columns[id]));
  }
  Document rules = Document::array();
  for (std::size_t i = 0; i < fit.broken_rules.size(); ++i) {
    rules.push(Document::object({{"rule", result.rules[i]}, {"rows", count(fit.broken_rules[i])}}));
  }
  Document relations = Document::array();
  for (const auto& [text, judged, broken] : fit.relations) {
    relations.push(
        Document::object({{"relation", text}, {"judged", count(judged)}, {"rows", count(broken)}}));
  }
  Document people;
  if (fit.people) {
    people = Document::object({{"people", count(fit.people->people)},
                               {"most_rows", count(fit.people->most_rows)},
                               {"above_bound", count(fit.people->above_bound)},
                               {"dropped_rows", count(fit.people->dropped_rows)},
                               {"blank_rows", count(fit.people->blank_rows)},
                               {"spelled_alike", count(fit.people->spelled_alike)}});
  }
  return Document::object(
      {{"file", fit.path},
       {"private", file.is_private},
       {"wrong", file.wrong()},
       {"read_as", read_as(fit)},
       {"rows", count(fit.rows)},
       {"findings", to_document(file.findings)},
       {"columns", std::move(columns)},
       {"records", Document::object({{"short_rows", count(r.short_rows)},
                                     {"long_rows", count(r.long_rows)},
                                     {"malformed", count(r.malformed)},
                                     {"line_feeds_inside_quotes", count(r.quoted_line_feeds)},
                                     {"cut_records", count(r.cut_records)}})},
       {"rules", std::move(rules)},
       {"relations", std::move(relations)},
       {"rows_that_break_a_rule", count(fit.rows_breaking)},
       {"people", std::move(people)},
       {"missing_columns", names_document(fit.missing_columns)},
       {"ignored_columns", names_document(fit.ignored_columns)}});
}

}  // namespace

Document to_document(const CheckResult& result) {
  Document files = Document::array();
  for (const auto& file : result.files) files.push(file_document(result, file));
  return Document::object({{"format", kFormat},
                           {"internal", true},
                           {"schema", result.schema},
                           {"wrong", result.wrong()},
                           {"files", std::move(files)}});
}

// ---- Text ----

namespace {

std::string list_of(const std::vector<Finding>& findings, bool wrong, std::size_t most) {
  std::string out;
  std::size_t found = 0;
  for (const auto& finding : findings) {
    if (finding.wrong != wrong || ++found > most) continue;
    out += "  " + finding.text + "\n";
  }
  if (found > most) out += fmt::format("  and {} more; --json has them all.\n", found - most);
  return out;
}

std::string columns_text(const CheckResult& result, const FileFit& fit) {
  std::vector<std::size_t> order(fit.columns.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  const auto odd = [&](std::size_t id) {
    return fit.columns[id].values() - fit.columns[id].count(ValueFit::Exact);
  };
  std::erase_if(order, [&](std::size_t id) { return odd(id) == 0; });
  std::ranges::stable_sort(order, std::ranges::greater{}, [&](std::size_t id) {
    const auto& column = fit.columns[id];
    return std::pair(column.misfits(), odd(id));
  });
  const std::size_t whole = fit.columns.size() - order.size() - fit.missing_columns.size();
  std::string out;
  if (!order.empty()) {
    TextTable table;
    table.add({"column", "fits", "adapted", "other", "beyond", "unfit", "missing"});
    const auto cell = [](std::size_t value) { return value == 0 ? "" : with_commas(value); };
    for (std::size_t i = 0; i < std::min(order.size(), kShownColumns); ++i) {
      const auto& c = fit.columns[order[i]];
      table.add({readable(result.columns[order[i]]), with_commas(c.count(ValueFit::Exact)),
                 cell(c.count(ValueFit::Between)), cell(c.count(ValueFit::Other)),
                 cell(c.outside()), cell(c.count(ValueFit::Unfit)),
                 cell(c.count(ValueFit::Missing))});
    }
    out += "\n" + table.text();
    if (order.size() > kShownColumns) {
      out += fmt::format("  {} more\n", order.size() - kShownColumns);
    }
  }
  if (fit.rows > 0 && whole > 0) {
    out += fmt::format("{}  {} column{} {} in every row\n", order.empty() ? "\n" : "",
                       with_commas(whole), whole == 1 ? "" : "s", whole == 1 ? "fits" : "fit");
  }
  return out;
}

}  // namespace

std::string to_text(const CheckResult& result) {
  std::string out = "INTERNAL: for the steward alone; not for publication\n";
  for (const auto& file : result.files) {
    const FileFit& fit = file.fit;
    out += fmt::format("\n{} ({}): {} rows, read as {}\n", fit.path,
                       file.is_private ? "private" : "public", with_commas(fit.rows), read_as(fit));
    const std::string wrong = list_of(file.findings, true, kShownWrong);
    const std::string notes = list_of(file.findings, false, kShownNotes);
    out += wrong.empty() ? "\nNothing is wrong.\n" : "\nWRONG:\n" + wrong;
    if (!notes.empty()) out += "\nWorth knowing:\n" + notes;
    out += columns_text(result, fit);
  }
  return out;
}

}  // namespace tandem
