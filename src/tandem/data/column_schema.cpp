// SPDX-License-Identifier: Apache-2.0
#include "tandem/data/column_schema.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <unordered_map>
#include <utility>

#include "tandem/base/error.h"
#include "tandem/base/text.h"
#include "tandem/data/binned_codec.h"
#include "tandem/data/value_line.h"

namespace tandem {

namespace {

constexpr std::int64_t kMostRanges = std::int64_t{1} << 20;

// A value as it stands in the file: a string, or a whole number.
std::string value_text(const Document& value) {
  if (value.is_string()) return value.as_string();
  if (value.is_integer()) return std::to_string(value.as_integer());
  value.fail(fmt::format("is {}; write it as a string, the way it stands in the file.",
                         value.type_name()));
}

// One text, or a list of them.
std::vector<std::string> value_texts(const Document& value) {
  std::vector<std::string> out;
  if (!value.is_array()) return {value_text(value)};
  for (const auto& item : value.as_array()) out.push_back(value_text(item));
  if (out.empty()) value.fail("is empty; list its texts, or leave it out.");
  return out;
}

std::vector<std::string> list_of_values(const Document& values) {
  std::vector<std::string> texts;
  std::unordered_map<std::string, std::size_t> seen;
  for (const auto& value : values.as_array()) {
    texts.push_back(value_text(value));
    if (!seen.emplace(texts.back(), seen.size()).second) {
      value.fail(fmt::format("repeats {}; keep one.", in_quotes(texts.back())));
    }
  }
  if (texts.empty()) values.fail("is empty; a column needs at least one value.");
  return texts;
}

std::unique_ptr<Codec> categorical(const Document& column, bool ordered) {
  const Document* size = column.find("size");
  const Document* values = column.find("values");
  if ((size == nullptr) == (values == nullptr)) {
    column.fail("needs either 'values', the list of its values, or 'size', for codes 0 to size-1.");
  }
  const Document* unknown = column.find("unknown");
  if (size != nullptr) {
    if (unknown != nullptr) {
      unknown->fail("goes with 'values'; a code beyond 'size' becomes the nearest one.");
    }
    return coded_codec(static_cast<Code>(size->as_integer(1, kLargestAttribute)));
  }
  auto texts = list_of_values(*values);
  Code unknown_code = 0;
  if (unknown != nullptr) {
    const auto found = std::ranges::find(texts, value_text(*unknown));
    if (found == texts.end()) unknown->fail("is not among 'values'; add it there.");
    if (const auto* other = column.find("other")) {
      other->fail("and 'unknown' say the same thing; keep one.");
    }
    unknown_code = static_cast<Code>(found - texts.begin());
  }
  return labelled_codec(std::move(texts), unknown_code, ordered);
}

std::unique_ptr<Codec> boolean(const Document& column) {
  std::vector<std::string> texts = {"false", "true"};
  if (const auto* values = column.find("values")) {
    texts = list_of_values(*values);
    if (texts.size() != 2) values->fail("holds two texts for a boolean: false first, then true.");
  }
  return boolean_codec(texts[0], texts[1]);
}

// Digits after the point in the shortest text that reads back as this number.
int decimals_of(const Document& value) {
  const std::string text = fmt::format("{}", value.as_number());
  if (text.find_first_of("en") != std::string::npos)
    return 0;  // very large or small: say 'decimals'
  const auto point = text.find('.');
  if (point == std::string::npos || text.substr(point) == ".0") return 0;
  return static_cast<int>(text.size() - point - 1);
}

// A point of the line given as a number, or for dates as a text.
double read_point(const Document& value, const ValueLine& line) {
  if (line.numeric()) return value.as_number();
  const auto point = line.parse(value.as_string());
  if (!point) {
    value.fail(fmt::format("is {}, which does not follow the column's 'pattern'.",
                           in_quotes(value.as_string())));
  }
  return *point;
}

// A bound, which lies on a tick.
std::int64_t read_tick(const Document& value, const ValueLine& line) {
  const double point = read_point(value, line);
  const double largest = line.point(kLargestTick);
  if (!(std::abs(point) < largest)) {
    value.fail("has more digits than a number here may have (15, with its decimals).");
  }
  const std::int64_t tick = line.tick_from(point);
  if (line.point(tick) != point) {
    value.fail("has more digits after its point than the column; raise 'decimals' or round it.");
  }
  return tick;
}

Ranges given_edges(const Document& edges, const ValueLine& line, std::int64_t first,
                   std::int64_t last) {
  Ranges out{.starts = {line.point(first)}, .last = line.point(last)};
  for (const auto& edge : edges.as_array()) {
    const double point = read_point(edge, line);
    if (!(point > out.starts.back())) {
      edge.fail(
          "is not above 'min' and the edge before it; edges lie inside the bounds, in order.");
    }
    if (point > out.last) edge.fail("is above 'max'; edges lie inside the bounds, in order.");
    out.starts.push_back(point);
  }
  return out;
}

Ranges calendar_ranges(const Document& bins, const ValueLine& line, std::int64_t first,
                       std::int64_t last) {
  const std::string& unit = bins.as_string();
  if (unit != "month" && unit != "quarter" && unit != "year" && unit != "decade") {
    bins.fail(fmt::format("is {}; give a number of ranges, 'month', 'quarter', 'year' or 'decade'.",
                          in_quotes(unit)));
  }
  Ranges out{.starts = {}, .last = line.point(last)};
  for (std::int64_t tick = first; tick <= last;) {
    out.starts.push_back(line.point(tick));
    const std::int64_t next = next_calendar(line, tick, unit);
    if (next <= tick) bins.fail("is finer than the column's 'pattern'; choose a longer one.");
    tick = next;
  }
  return out;
}

// `stride` ticks part two values: 1, but for whole numbers that are written with decimals.
Ranges read_ranges(const Document& column, const ValueLine& line, std::int64_t first,
                   std::int64_t last, std::int64_t stride, bool each_value) {
  const Document* bins = column.find("bins");
  const Document* edges = column.find("edges");
  if (bins != nullptr && edges != nullptr) edges->fail("and 'bins' say the same thing; keep one.");
  if (edges != nullptr) return given_edges(*edges, line, first, last);
  if (bins == nullptr) {
    if (!each_value) {
      column.fail("needs 'bins', a number of ranges of equal width, or 'edges', where to cut.");
    }
    if ((last - first) / stride >= kMostRanges) {
      column.fail(
          fmt::format("has more than {} values; cut them into ranges with 'bins' or "
                      "'edges'.",
                      with_commas(kMostRanges)));
    }
    return Ranges::each(line, first, last, stride);
  }
  if (!line.numeric() && bins->is_string()) return calendar_ranges(*bins, line, first, last);
  return Ranges::equal(line, first, last, stride,
                       static_cast<Code>(bins->as_integer(1, kMostRanges)));
}

std::unique_ptr<ValueLine> read_line(const Document& column, std::string_view kind) {
  if (kind == "date") {
    const auto* pattern = column.find("pattern");
    try {
      return date_line(pattern != nullptr ? pattern->as_string() : "%Y-%m-%d");
    } catch (const UsageError& error) {
      pattern->fail(fmt::format("can't be used: {}", error.what()));
    }
  }
  if (const auto* decimals = column.find("decimals")) {
    return number_line(static_cast<int>(decimals->as_integer(0, kMostDecimals)));
  }
  if (kind == "integer") return number_line(0);
  int decimals = std::max(decimals_of(column.at("min")), decimals_of(column.at("max")));
  if (const auto* edges = column.find("edges")) {
    for (const auto& edge : edges->as_array()) decimals = std::max(decimals, decimals_of(edge));
  }
  if (const auto* step = column.find("step")) decimals = std::max(decimals, decimals_of(*step));
  return number_line(std::min(decimals, kMostDecimals));
}

std::unique_ptr<Codec> binned(const Document& column, const std::string& kind) {
  auto line = read_line(column, kind);
  const auto& min = column.at("min");
  const auto& max = column.at("max");
  if (kind == "integer") {
    for (const auto* bound : {&min, &max}) {
      if (bound->as_number() != std::floor(bound->as_number())) {
        bound->fail("is not a whole number; make it one, or the column's kind 'real'.");
      }
    }
  }
  const std::int64_t first = read_tick(min, *line);
  const std::int64_t last = read_tick(max, *line);
  if (last < first) max.fail("is below 'min'; swap them.");
  const std::int64_t stride = kind == "integer" ? line->tick_from(1.0) : 1;
  auto ranges = read_ranges(column, *line, first, last, stride, kind != "real");
  std::int64_t step = stride;
  if (const auto* given = column.find("step")) {
    step = read_tick(*given, *line);
    if (step <= 0) given->fail("is not above 0; give the distance between two values.");
    if (step % stride != 0) given->fail("is not a whole number, and the column's values are.");
  }
  try {
    return binned_codec(std::move(line), std::move(ranges), step, stride);
  } catch (const UsageError& error) {
    column.fail(fmt::format("{}.", error.what()));
  }
}

// null = true, one text, or several.
std::vector<std::string> null_texts(const Document& null) {
  if (!null.is_bool()) return value_texts(null);
  return null.as_bool() ? std::vector<std::string>{""} : std::vector<std::string>{};
}

// The codec of a kind, and the keys that mean something to it.
struct Kind {
  std::string_view name;
  std::unique_ptr<Codec> (*read)(const Document& column);
  std::string_view keys;
};

constexpr std::string_view kNameKeys = "name ";
constexpr std::string_view kNumberedKeys = "prefix count first ";
constexpr std::string_view kCommonKeys = "kind description special other null ";
constexpr std::array<Kind, 6> kKinds = {
    {{"categorical", [](const Document& c) { return categorical(c, false); },
      "values size unknown"},
     {"ordinal", [](const Document& c) { return categorical(c, true); }, "values size unknown"},
     {"boolean", boolean, "values"},
     {"integer", [](const Document& c) { return binned(c, "integer"); },
      "min max bins edges decimals step inside"},
     {"real", [](const Document& c) { return binned(c, "real"); },
      "min max bins edges decimals step inside"},
     {"date", [](const Document& c) { return binned(c, "date"); },
      "min max bins edges pattern inside"}}};

const Kind& kind_of(const Document& column) {
  const auto* given = column.find("kind");
  if (given == nullptr) return kKinds[0];
  std::vector<std::string> names;
  for (const auto& kind : kKinds) {
    if (kind.name == given->as_string()) return kind;
    names.emplace_back(kind.name);
  }
  given->fail(fmt::format("is {}; choose {}.", in_quotes(given->as_string()),
                          list_names(names, names.size())));
}

void check_keys(const Document& document, const Kind& kind) {
  const auto has = [](const Kind& some, const std::string& key) {
    const auto keys = split(some.keys, ' ');
    return std::ranges::find(keys, key) != keys.end();
  };
  for (const auto& [key, value] : document.as_object()) {
    if (has(kind, key)) continue;
    for (const auto& other : kKinds) {
      if (!has(other, key)) continue;
      value.fail(fmt::format("belongs to columns of kind {}, and this one is {}; mend one.",
                             in_quotes(other.name), in_quotes(kind.name)));
    }
  }
  std::string keys(is_numbered(document) ? kNumberedKeys : kNameKeys);
  keys += kCommonKeys;
  keys += kind.keys;
  document.allow_only(split(keys, ' '));
}

CellMeaning::Kind cell_kind(std::string_view kind, const Document& column) {
  if (kind == "boolean") return CellMeaning::Kind::Boolean;
  if (kind == "integer" || kind == "real") return CellMeaning::Kind::Number;
  if (kind == "date") return CellMeaning::Kind::Date;
  return column.find("size") != nullptr ? CellMeaning::Kind::Coded : CellMeaning::Kind::Label;
}

// All of a column but its name.
ColumnSchema read_nameless(const Document& document) {
  const Kind& kind = kind_of(document);
  check_keys(document, kind);

  ColumnSchema column;
  if (const auto* text = document.find("description")) column.description = text->as_string();
  if (const auto* inside = document.find("inside")) {
    column.inside_as_public = inside->as_string() == "public";
    if (!column.inside_as_public && inside->as_string() != "uniform") {
      inside->fail(
          fmt::format("is {}; choose 'uniform' or 'public'.", in_quotes(inside->as_string())));
    }
  }
  auto codec = kind.read(document);
  column.cells.kind = cell_kind(kind.name, document);
  if (column.cells.kind == CellMeaning::Kind::Label ||
      column.cells.kind == CellMeaning::Kind::Boolean) {
    column.cells.labels = codec->labels();
  }
  Extras extras;
  if (const auto* special = document.find("special")) extras.specials = value_texts(*special);
  if (const auto* other = document.find("other")) extras.other = value_text(*other);
  if (const auto* null = document.find("null")) extras.nulls = null_texts(*null);
  if (!extras.nulls.empty()) column.null_text = extras.nulls.front();
  column.cells.specials = extras.specials;
  column.cells.nulls = extras.nulls;
  extras.unfit_stays_inside = document.find("unknown") != nullptr;
  if (!extras.empty()) {
    try {
      codec = extended_codec(std::move(codec), std::move(extras));
    } catch (const UsageError& error) {
      document.fail(fmt::format("{}.", error.what()));
    }
  }
  column.codec = std::move(codec);
  return column;
}

}  // namespace

ColumnSchema read_column(const Document& document) {
  ColumnSchema column = read_nameless(document);
  column.name = document.at("name").as_string();
  return column;
}

bool is_numbered(const Document& document) {
  return document.is_object() && document.find("prefix") != nullptr;
}

void append_numbered(const Document& document, std::vector<ColumnSchema>& columns) {
  const ColumnSchema one = read_nameless(document);
  const std::string& prefix = document.at("prefix").as_string();
  const auto& count = document.at("count");
  const std::int64_t first =
      document.find("first") == nullptr ? 0 : document.at("first").as_integer(0, kLargestAttribute);
  const auto many = static_cast<std::size_t>(count.as_integer(1, kLargestAttribute));
  if (many + columns.size() > kMostColumns) {
    count.fail(fmt::format("makes {} columns together with those before; the most is {}.",
                           with_commas(many + columns.size()), with_commas(kMostColumns)));
  }
  columns.reserve(columns.size() + many);
  for (std::size_t i = 0; i < many; ++i) {
    columns.push_back(one);
    columns.back().name = prefix + std::to_string(first + static_cast<std::int64_t>(i));
  }
}

}  // namespace tandem
