// SPDX-License-Identifier: Apache-2.0
#include "tandem/engine/fit/findings.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <tuple>
#include <utility>

#include "tandem/base/text.h"
#include "tandem/data/value_line.h"
#include "tandem/engine/fit/hints.h"

namespace tandem {

namespace {

constexpr std::size_t kExamples = 3;
// Shares of a column's values from which a finding is wrong and not only worth knowing.
constexpr double kMuchOther = 0.5;       // 'other' is then no exception
constexpr double kMuchExplained = 0.01;  // 'other', where a hint explains most of it
constexpr double kMuchBeyond = 0.01;     // values beyond the bounds are then more than outliers

// What explains other findings comes before them.
constexpr std::array<std::string_view, 6> kCauses = {
    "unread", "drafted-from-it", "missing-column", "repeated-column", "no-rows", "line-feeds"};

std::string examples(const TextCounts& texts) {
  std::string out;
  for (const auto& [text, times] : texts.most_frequent(kExamples)) {
    if (!out.empty()) out += ", ";
    out += shown(text);
  }
  if (texts.items().size() > kExamples) out += ", ...";
  return out;
}

std::string list_readable(const std::vector<std::string>& names, std::size_t most) {
  std::vector<std::string> texts;
  for (const auto& name : names) texts.push_back(readable(name));
  return list_names(texts, most);
}

// "5 of 20 values of 'ward'", "all 20 values of 'ward'".
std::string so_many(std::size_t count, std::size_t of, std::string_view column) {
  const std::string part = count == of
                               ? fmt::format("all {}", with_commas(of))
                               : fmt::format("{} of {}", with_commas(count), with_commas(of));
  return fmt::format("{} value{} of {}", part, of == 1 ? "" : "s", in_quotes(column));
}

std::string so_many_people(std::size_t count) {
  return with_commas(count) + (count == 1 ? " person has" : " people have");
}
std::string so_many_rows(std::size_t count) {
  return with_commas(count) + (count == 1 ? " row" : " rows");
}

class Collector {
 public:
  Collector(const FileFit& fit, const Schema& schema, RowPolicy policy, std::size_t rows_per_person)
      : fit_(fit), schema_(schema), policy_(policy), rows_per_person_(rows_per_person) {}

  std::vector<Finding> collect() {
    file();
    records();
    for (std::size_t id = 0; id < fit_.columns.size(); ++id) {
      column(schema_.columns()[id], fit_.columns[id]);
    }
    statements();
    if (fit_.people) people(*fit_.people);
    weights();
    put_worst_first(out_);
    return std::move(out_);
  }

 private:
  void add(Finding finding) { out_.push_back(std::move(finding)); }

  void file() {
    if (fit_.unread) {
      add({.kind = "unread",
           .text = fmt::format("The file can't be read{}: {}", fit_.rows > 0 ? " to its end" : "",
                               *fit_.unread) +
                   format_hint(),
           .hint = format_hint().empty() ? "" : "format"});
    }
    if (!fit_.missing_columns.empty()) add(missing());
    for (const auto& name : fit_.repeated_columns) {
      add({.kind = "repeated-column",
           .column = name,
           .text = fmt::format("The column name {} stands twice in the first line; rename one.",
                               shown(name))});
    }
    if (fit_.rows == 0 && !fit_.unread) {
      add({.kind = "no-rows", .text = "The file has a header and no rows."});
    }
    if (!fit_.ignored_columns.empty()) {
      add({.wrong = false,
           .kind = "ignored-columns",
           .count = fit_.ignored_columns.size(),
           .of = fit_.header.size(),
           .text = fmt::format("The schema does not name {}: ignored.",
                               list_readable(fit_.ignored_columns, 8))});
    }
  }

  // " It looks like ...", where another format suggests itself.
  std::string format_hint() const {
    if (!fit_.looks_like) return "";
    const TextFormat& like = *fit_.looks_like;
    std::vector<std::string> keys;
    if (like.encoding != fit_.format.encoding) {
      keys.push_back(fmt::format("encoding = \"{}\"", encoding_key(like.encoding)));
    }
    if (like.delimiter != fit_.format.delimiter) {
      keys.push_back(fmt::format("delimiter = \"{}\"",
                                 like.delimiter == '\t' ? "tab" : std::string(1, like.delimiter)));
    }
    if (like.decimal_mark != fit_.format.decimal_mark) {
      keys.push_back(fmt::format("decimal = \"{}\"", like.decimal_mark));
    }
    if (keys.empty()) return "";
    std::string out = " It looks like ";
    for (std::size_t i = 0; i < keys.size(); ++i) out += (i > 0 ? ", " : "") + keys[i];
    return out + ".";
  }

  Finding missing() const {
    const auto& names = fit_.missing_columns;
    Finding out{
        .kind = "missing-column",
        .column = names.size() == 1 ? names.front() : "",
        .count = names.size(),
        .of = schema_.domain().size(),
        .text = fmt::format("The file lacks {}, which the schema names.", list_readable(names, 4)),
        .hint = "format"};
    if (const auto hint = format_hint(); !hint.empty()) {
      out.text += hint;
      return out;
    }
    out.hint.clear();
    for (const auto& name : names) {
      if (const auto near = nearest(name, fit_.ignored_columns)) {
        out.text += fmt::format(" Is {} what it calls {}?", shown(*near), shown(name));
        out.hint = "name";
        break;
      }
    }
    return out;
  }

  void records() {
    const RecordFit& r = fit_.records;
    const auto rows = [&](std::size_t count, std::string_view what) {
      return fmt::format("{} of {} rows {} (the first on line {})", with_commas(count),
                         with_commas(fit_.rows), what, with_commas(r.first_odd_line));
    };
    if (r.short_rows > 0) {
      add({.kind = "short-rows",
           .count = r.short_rows,
           .of = fit_.rows,
           .text = rows(r.short_rows, "have fewer fields than the header") +
                   (policy_ == RowPolicy::Repair ? ": what is missing is read as empty." : ".")});
    }
    if (r.long_rows > 0) {
      add({.kind = "long-rows",
           .count = r.long_rows,
           .of = fit_.rows,
           .text = rows(r.long_rows, "have more fields than the header") +
                   (policy_ == RowPolicy::Repair ? ": the surplus is dropped." : ".")});
    }
    if (r.malformed > 0) {
      add({.kind = "malformed",
           .count = r.malformed,
           .of = fit_.rows,
           .text = rows(r.malformed, "have quotes that do not pair") + "."});
    }
    // Where records are read whole, line feeds inside quotes are values and no fault; here each
    // ends a row.
    if (r.quoted_line_feeds > 0) line_feeds(r);
  }

  void line_feeds(const RecordFit& r) {
    std::vector<std::string> columns;
    for (std::size_t i = 0; i < fit_.header.size(); ++i) {
      if (r.line_feeds_by_column[i] > 0) columns.push_back(fit_.header[i]);
    }
    const std::string where = columns.empty() ? "" : " of " + list_readable(columns, 4);
    std::string text;
    if (r.quote_never_closed) {
      text =
          fmt::format("A quote in the values{} is never closed; check the file's quotes.", where);
    } else {
      text = fmt::format(
          "{} line feed{} inside the quotes{}: each ends a row, so that {} records are read as {} "
          "rows; export the file without line feeds in values.",
          with_commas(r.quoted_line_feeds), r.quoted_line_feeds == 1 ? " stands" : "s stand", where,
          with_commas(fit_.rows - r.quoted_line_feeds), with_commas(fit_.rows));
    }
    add({.kind = "line-feeds",
         .column = columns.size() == 1 ? columns.front() : "",
         .count = r.quoted_line_feeds,
         .of = fit_.rows,
         .text = std::move(text)});
  }

  void column(const ColumnSchema& column, const ColumnFit& fit) {
    const std::size_t all = fit.values();
    const auto with_hint = [&](Finding finding, const TextCounts& odd) {
      if (const auto hint = hint_for(column, fit_.format, odd)) {
        finding.text += "; " + hint->text;
        finding.hint = hint->key;
      }
      finding.text += ".";
      return finding;
    };
    if (const std::size_t unfit = fit.count(ValueFit::Unfit); unfit > 0) {
      add(with_hint({.kind = "unfit",
                     .column = column.name,
                     .count = unfit,
                     .of = all,
                     .text = fmt::format("{} do not fit the schema ({})",
                                         so_many(unfit, all, column.name), examples(fit.unfit))},
                    fit.unfit));
    }
    if (const std::size_t other = fit.count(ValueFit::Other); other > 0) {
      auto finding =
          with_hint({.kind = "other",
                     .column = column.name,
                     .count = other,
                     .of = all,
                     .text = fmt::format("{} are taken as 'other' ({})",
                                         so_many(other, all, column.name), examples(fit.other))},
                    fit.other);
      const double share = static_cast<double>(other) / static_cast<double>(all);
      finding.wrong = share > (finding.hint.empty() ? kMuchOther : kMuchExplained);
      add(std::move(finding));
    }
    if (fit.outside() > 0) beyond(column, fit, all);
    if (const std::size_t between = fit.count(ValueFit::Between); between > 0) {
      add({.wrong = false,
           .kind = "between",
           .column = column.name,
           .count = between,
           .of = all,
           .text = fmt::format("{} lie between two whole numbers: each counts in its range.",
                               so_many(between, all, column.name))});
    }
  }

  void beyond(const ColumnSchema& column, const ColumnFit& fit, std::size_t all) {
    const auto extent = *column.codec->extent();
    const std::size_t below = fit.count(ValueFit::Below);
    const std::size_t above = fit.count(ValueFit::Above);
    std::string text = so_many(below + above, all, column.name) + " lie beyond the bounds: ";
    if (below > 0) {
      text += fmt::format("{} below {}, down to {}", with_commas(below),
                          point_text(extent, extent.first), point_text(extent, fit.least));
    }
    if (above > 0) {
      text += fmt::format("{}{} above {}, up to {}", below > 0 ? "; " : "", with_commas(above),
                          point_text(extent, extent.last), point_text(extent, fit.greatest));
    }
    add({.wrong = static_cast<double>(below + above) > kMuchBeyond * static_cast<double>(all),
         .kind = "beyond-bounds",
         .column = column.name,
         .count = below + above,
         .of = all,
         .text = text + "; each is counted at its bound."});
  }

  // Rules; what else the schema says of several columns is told here too.
  void statements() {
    for (std::size_t i = 0; i < fit_.broken_rules.size(); ++i) {
      if (fit_.broken_rules[i] == 0) continue;
      add({.kind = "broken-rule",
           .count = fit_.broken_rules[i],
           .of = fit_.rows,
           .text = fmt::format("{} of {} rows break the rule '{}': they are mended.",
                               with_commas(fit_.broken_rules[i]), with_commas(fit_.rows),
                               schema_.rules()[i].text)});
    }
    for (const auto& [text, judged, broken] : fit_.relations) {
      if (broken == 0) continue;
      add({.kind = "broken-relation",
           .count = broken,
           .of = judged,
           .text = fmt::format("{} of {} rows break the relation '{}', which all made rows keep.",
                               with_commas(broken), with_commas(judged), text)});
    }
  }

  void people(const PeopleFit& p) {
    add({.wrong = false,
         .kind = "people",
         .count = p.people,
         .of = fit_.rows,
         .text = fmt::format("{} {}, the most of one {}.", so_many_people(p.people),
                             so_many_rows(fit_.rows - p.blank_rows), with_commas(p.most_rows))});
    if (p.above_bound > 0) {
      add({.kind = "rows-per-person",
           .count = p.dropped_rows,
           .of = fit_.rows,
           .text = fmt::format("{} more than {}: {} of theirs will be dropped.",
                               so_many_people(p.above_bound), so_many_rows(rows_per_person_),
                               so_many_rows(p.dropped_rows))});
    }
    if (p.blank_rows > 0) {
      add({.kind = "blank-ids",
           .count = p.blank_rows,
           .of = fit_.rows,
           .text = fmt::format("{} of {} rows name no person: they are dropped.",
                               with_commas(p.blank_rows), with_commas(fit_.rows))});
    }
    if (p.spelled_alike > 0) {
      std::string lines;
      for (const auto& [a, b] : p.alike_rows) {  // the header is line 1
        lines += fmt::format("{}{} and {}", lines.empty() ? "" : ", ", with_commas(a + 2),
                             with_commas(b + 2));
      }
      add({.kind = "alike-ids",
           .count = p.spelled_alike,
           .of = p.people,
           .text = fmt::format("{} ids differ from another in case, spaces or leading zeros alone "
                               "(lines {}): each counts as a person.",
                               with_commas(p.spelled_alike), lines)});
    }
  }

  void weights() {
    std::vector<std::string> names;
    for (const auto& name : fit_.header) {
      const auto id = schema_.domain().find(name);
      if (looks_like_weight(name, id ? schema_.columns()[*id].description : std::string())) {
        names.push_back(name);
      }
    }
    if (names.empty()) return;
    add({.wrong = false,
         .kind = "survey-weight",
         .column = names.front(),
         .count = names.size(),
         .of = fit_.header.size(),
         .text = fmt::format("{} may be a survey weight: tandem counts rows, without weights.",
                             list_readable(names, 4))});
  }

  const FileFit& fit_;
  const Schema& schema_;
  RowPolicy policy_;
  std::size_t rows_per_person_;
  std::vector<Finding> out_;
};

}  // namespace

std::vector<Finding> findings_of(const FileFit& fit, const Schema& schema, RowPolicy policy,
                                 std::size_t rows_per_person) {
  return Collector(fit, schema, policy, rows_per_person).collect();
}

void put_worst_first(std::vector<Finding>& findings) {
  std::ranges::stable_sort(findings, {}, [](const Finding& f) {
    const auto cause = std::ranges::find(kCauses, f.kind) - kCauses.begin();
    const double share = f.of > 0 ? static_cast<double>(f.count) / static_cast<double>(f.of) : 1.0;
    return std::tuple(!f.wrong, cause, -share);
  });
}

Document to_document(const std::vector<Finding>& findings) {
  Document out = Document::array();
  for (const auto& f : findings) {
    Document item = Document::object({{"wrong", f.wrong}, {"kind", f.kind}});
    if (!f.column.empty()) item.set("column", readable(f.column));
    if (f.of > 0) {
      item.set("count", static_cast<std::uint64_t>(f.count));
      item.set("of", static_cast<std::uint64_t>(f.of));
    }
    if (!f.hint.empty()) item.set("hint", f.hint);
    item.set("text", f.text);
    out.push(std::move(item));
  }
  return out;
}

std::string point_text(const Extent& extent, double point) {
  if (!std::isfinite(point)) return point > 0 ? "infinity" : "-infinity";
  if (extent.line->numeric()) return fmt::format("{}", point);
  return extent.line->text(extent.line->tick_from(point));
}

}  // namespace tandem
