// SPDX-License-Identifier: Apache-2.0
#include "tandem/engine/draft/column_draft.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <memory>
#include <set>

#include "tandem/base/text.h"
#include "tandem/data/value_line.h"

namespace tandem {

namespace {

constexpr std::array<std::string_view, 10> kNullTexts = {"",     "NA",  "N/A", "n/a",  "null",
                                                         "NULL", "NaN", "nan", "None", "."};
constexpr std::size_t kMostSpecials = 5;
constexpr std::size_t kMostOfScale = 12;  // whole numbers of a closed scale: months, marks, flags
// Room beyond public dates, in years: as long as these reach, but at least and at most so much; cut
// into ranges where private dates are likely, after the last one.
constexpr int kLeastYears = 3;
constexpr int kMostYears = 10;
constexpr int kRangesOfRoom = 3;
// Room beyond public numbers, as a share of what these span: with a code for each, and otherwise.
constexpr double kRoomOfCodes = 0.125;
constexpr double kRoomOfRanges = 0.5;

constexpr std::array<std::string_view, 10> kDatePatterns = {
    "%Y-%m-%d", "%d.%m.%Y",          "%d/%m/%Y",          "%m/%d/%Y",       "%Y/%m/%d",
    "%Y-%m",    "%Y-%m-%dT%H:%M:%S", "%Y-%m-%d %H:%M:%S", "%Y-%m-%d %H:%M", "%d-%m-%Y"};

using Texts = std::vector<std::string>;  // different ones

// What a list of texts has in common as numbers.
struct Numbers {
  bool whole = true;
  int decimals = 0;           // digits after the point, of the longest
  bool same_decimals = true;  // all texts have as many
  bool padded = false;        // 007: a code, not a number
  double min = 0.0;
  double max = 0.0;
};

std::optional<Numbers> as_numbers(const Texts& texts) {
  if (texts.empty()) return {};
  const auto line = number_line(0);
  Numbers out;
  bool first = true;
  for (const auto& text : texts) {
    const auto value = line->parse(text);
    if (!value || !std::isfinite(*value)) return {};
    const auto point = text.find('.');
    const int decimals =
        point == std::string::npos ? 0 : static_cast<int>(trim(text).size() - text.find('.') - 1);
    if (decimals > kMostDecimals || text.find_first_of("eE") != std::string::npos) return {};
    out.same_decimals = out.same_decimals && (first || decimals == out.decimals);
    out.decimals = std::max(out.decimals, decimals);
    out.whole = out.whole && *value == std::floor(*value);
    const auto digits = text.starts_with('-') ? std::string_view(text).substr(1) : text;
    out.padded = out.padded || (digits.size() > 1 && digits[0] == '0' && digits[1] != '.');
    out.min = first ? *value : std::min(out.min, *value);
    out.max = first ? *value : std::max(out.max, *value);
    first = false;
  }
  const double largest = std::max(std::abs(out.min), std::abs(out.max));
  if (largest * std::pow(10.0, out.decimals) >= 1e15) return {};  // more digits than a number has
  return out;
}

// Texts in the order a person expects: numbers by size, others by letter.
void sort_values(Texts& texts) {
  std::ranges::sort(texts, [](const std::string& a, const std::string& b) {
    const auto x = parse_number(a);
    const auto y = parse_number(b);
    if (x && y && *x != *y) return *x < *y;
    if (x.has_value() != y.has_value()) return x.has_value();
    return a < b;
  });
}

Document text_list(const Texts& texts) {
  Document out = Document::array();
  for (const auto& text : texts) out.push(text);
  return out;
}

// The next number with two digits that aren't 0, away from 0.
double rounded_out(double value) {
  if (value == 0.0) return 0.0;
  const double unit = std::pow(10.0, std::floor(std::log10(std::abs(value))) - 1.0);
  return std::copysign(std::ceil(std::abs(value) / unit - 1e-9) * unit, value);
}

class Drafter {
 public:
  Drafter(const std::string& name, const ColumnProfile& profile, const CodebookColumn* codebook,
          const DraftOptions& options)
      : profile_(profile), codebook_(codebook), options_(options) {
    out_.column = Document::object({{"name", name}});
    if (codebook != nullptr && !codebook->description.empty()) {
      out_.column.set("description", codebook->description);
    }
  }

  ColumnDraft draft() {
    for (const auto& [text, count] : profile_.counts()) seen_.push_back(text);
    for (auto& text : profile_.number_extremes()) {
      if (!profile_.counts().contains(text)) seen_.push_back(std::move(text));
    }
    if (codebook_ != nullptr && codebook_->min) {
      from_range();
    } else if (codebook_ != nullptr && !codebook_->values.empty()) {
      from_values();
    } else {
      from_texts();
    }
    return std::move(out_);
  }

 private:
  // ---- With a codebook ----

  void from_range() {
    Texts specials;
    std::set<std::string> listed;
    for (const auto& [text, label] : codebook_->values) {
      const auto number = parse_number(text);
      if (number && *number >= *codebook_->min && *number <= *codebook_->max) {
        doubt("The codebook lists {} beside its range, but it lies inside; it is a number here.",
              in_quotes(text));
        continue;
      }
      specials.push_back(text);
      listed.insert(text);
      if (!label.empty()) out_.labels.emplace_back(text, label);
    }
    Texts inside;
    Texts strange;
    for (const auto& text : seen_) {
      if (listed.contains(text)) continue;
      (as_numbers({text}) ? inside : strange).push_back(text);
    }
    Texts nulls;
    for (const auto& text : strange) {
      if (is_null_text(text)) nulls.push_back(text);
    }
    std::erase_if(strange, is_null_text);
    if (!strange.empty()) {
      doubt(
          "The public data holds {}, neither numbers nor in the codebook; each is a special "
          "value here.",
          list_names(strange, 6));
      for (auto& text : strange) specials.push_back(std::move(text));
    }
    auto numbers =
        as_numbers(inside).value_or(Numbers{.min = *codebook_->min, .max = *codebook_->max});
    if (!inside.empty() && (numbers.min < *codebook_->min || numbers.max > *codebook_->max)) {
      doubt("Public values lie beyond the codebook's {:g} to {:g}; they count as the nearer bound.",
            *codebook_->min, *codebook_->max);
    }
    const bool whole_bounds = *codebook_->min == std::floor(*codebook_->min) &&
                              *codebook_->max == std::floor(*codebook_->max);
    numbers.whole = numbers.whole && whole_bounds;
    number_column(numbers, *codebook_->min, *codebook_->max, inside);
    add_extras(specials, nulls);
  }

  void from_values() {
    Texts values;
    std::set<std::string> listed;
    for (const auto& [text, label] : codebook_->values) {
      values.push_back(text);
      listed.insert(text);
      if (!label.empty()) out_.labels.emplace_back(text, label);
    }
    Texts missing;
    Texts nulls;
    for (const auto& text : seen_) {
      if (listed.contains(text)) continue;
      (is_null_text(text) ? nulls : missing).push_back(text);
    }
    if (!missing.empty()) {
      doubt("The public data holds {}, which the codebook does not list; added.",
            list_names(missing, 6));
      sort_values(missing);
      for (auto& text : missing) values.push_back(std::move(text));
    }
    out_.column.set("kind", "categorical");
    out_.column.set("values", text_list(values));
    add_extras({}, nulls);
  }

  // ---- By the public texts alone ----

  void from_texts() {
    Texts nulls;
    Texts values;
    for (const auto& text : seen_) (is_null_text(text) ? nulls : values).push_back(text);
    if (codebook_ != nullptr) choice("The codebook lists no values; these are the public data's.");
    if (profile_.has_long_text()) return leave_out("it holds long texts");
    if (values.empty()) return leave_out("it is empty in the public data");
    if (boolean_column(values) || date_column(values)) return add_extras({}, nulls);

    if (values.size() > 100 && values.size() == profile_.rows() &&
        std::ranges::all_of(values,
                            [](const auto& text) { return parse_integer(text).has_value(); })) {
      return leave_out("each row has another whole number, like one that identifies");
    }

    // Numbers, and perhaps a few words beside them.
    Texts numeric;
    Texts words;
    for (const auto& text : values) (as_numbers({text}) ? numeric : words).push_back(text);
    const auto numbers = as_numbers(numeric);
    const bool few_words = words.size() <= kMostSpecials && words.size() < numeric.size();
    if (numbers && few_words && !numbers->padded && codebook_ == nullptr &&
        is_quantity(*numbers, numeric)) {
      const auto [min, max] = with_room(*numbers, numeric.size());
      number_column(*numbers, min, max, numeric);
      bounds("numbers", show(numbers->min), show(numbers->max), show(min), show(max));
      if (!words.empty()) choice("Beside numbers it holds {}.", list_names(words, 6));
      return add_extras(words, nulls);
    }
    const bool mostly_different = values.size() > 50 && values.size() * 2 > profile_.rows();
    if (!profile_.all_counted() || values.size() > options_.most_labels || mostly_different) {
      return leave_out(
          fmt::format("it has {}{} different texts in {} rows, like a name or number "
                      "that identifies",
                      profile_.all_counted() ? "" : "more than ", with_commas(values.size()),
                      with_commas(profile_.rows())));
    }
    sort_values(values);
    out_.column.set("kind", "categorical");
    out_.column.set("values", text_list(values));
    other_value(values);
    doubt("Its values are those that occur in the public data; others become {}.",
          in_quotes(out_.column.at("other").as_string()));
    add_extras({}, nulls);
  }

  bool boolean_column(const Texts& values) {
    static constexpr std::array<std::pair<std::string_view, std::string_view>, 9> kPairs = {
        {{"false", "true"},
         {"False", "True"},
         {"FALSE", "TRUE"},
         {"no", "yes"},
         {"No", "Yes"},
         {"NO", "YES"},
         {"n", "y"},
         {"f", "t"},
         {"F", "T"}}};
    if (values.size() > 2) return false;
    for (const auto& [no, yes] : kPairs) {
      const auto known = [&no = no, &yes = yes](const std::string& text) {
        return text == no || text == yes;
      };
      if (!std::ranges::all_of(values, known)) continue;
      if (values.size() == 1 && no.size() == 1) continue;  // a lone F is not a boolean
      out_.column.set("kind", "boolean");
      out_.column.set("values", Document::array({no, yes}));
      return true;
    }
    return false;
  }

  bool date_column(const Texts& values) {
    std::vector<std::string_view> fitting;
    for (const auto pattern : kDatePatterns) {
      const auto line = date_line(std::string(pattern));
      if (std::ranges::all_of(values, [&](const auto& t) { return line->parse(t).has_value(); })) {
        fitting.push_back(pattern);
      }
    }
    if (fitting.empty()) return false;
    const std::string pattern(fitting.front());
    if (fitting.size() > 1) {
      doubt("Its dates fit {} and {}; the first was chosen.", in_quotes(pattern),
            in_quotes(fitting[1]));
    }
    const auto line = date_line(pattern);
    std::vector<double> points;
    for (const auto& text : profile_.sample()) {
      if (const auto point = line->parse(text)) points.push_back(*point);
    }
    for (const auto& text : values) points.push_back(*line->parse(text));  // the extremes as well
    std::ranges::sort(points);
    const auto text_at = [&](double point) { return line->text(static_cast<std::int64_t>(point)); };
    out_.column.set("kind", "date");
    out_.column.set("pattern", pattern);
    const auto room = room_of_dates(static_cast<std::int64_t>(points.front()),
                                    static_cast<std::int64_t>(points.back()), *line);
    const auto text_of = [&](std::int64_t tick) { return line->text(tick); };
    out_.column.set("min", text_of(room.all.first));
    out_.column.set("max", text_of(room.all.last));
    Document edges = Document::array();
    for (const auto tick : room.below) edges.push(text_of(tick));
    for (const double edge : quantiles(points)) edges.push(text_at(edge));
    for (const auto tick : room.above) edges.push(text_of(tick));
    out_.column.set("edges", std::move(edges));
    out_.column.set("inside", "public");
    bounds("dates", text_at(points.front()), text_at(points.back()), text_of(room.all.first),
           text_of(room.all.last));
    return true;
  }

  // Bounds beyond the public dates, and where the ranges between begin.
  struct RoomOfDates {
    TickRange all;
    std::vector<std::int64_t> below;
    std::vector<std::int64_t> above;
  };
  static RoomOfDates room_of_dates(std::int64_t first, std::int64_t last, const ValueLine& line) {
    const auto unit = *line.calendar_unit();
    const auto from = calendar_begin(first, unit);
    const auto to = calendar_begin(last + 1, unit);
    const auto year = [](std::int64_t moment) {
      return calendar_cut(moment, CalendarUnit::Years) + 1970;
    };
    const auto years = std::clamp<std::int64_t>(year(to) - year(from), kLeastYears, kMostYears);
    const auto later = [&](std::int64_t moment, std::int64_t by) {
      return calendar_cut(calendar_shift(moment, by, CalendarUnit::Years), unit);
    };
    RoomOfDates out{.all = {.first = first, .last = last}, .below = {}, .above = {}};
    if (year(from) - years >= 0) {
      out.all.first = later(from, -years);
      out.below.push_back(first);
    }
    if (year(to) + years <= 9999) {
      for (int i = 0; i < kRangesOfRoom; ++i) {
        out.above.push_back(later(to, years * i / kRangesOfRoom));
      }
      out.all.last = later(to, years) - 1;
    }
    return out;
  }

  // Whether numbers are amounts rather than a list of codes.
  bool is_quantity(const Numbers& numbers, const Texts& texts) const {
    if (!numbers.whole) return true;
    const double span = numbers.max - numbers.min + 1.0;
    const auto different = static_cast<double>(texts.size());
    return span <= static_cast<double>(options_.most_values) ? span <= 2.0 * different
                                                             : different > 32.0;
  }

  // ---- Parts ----

  // Bounds with room beyond the public numbers. What starts at 0 or 1 starts there, and so does a
  // scale of few whole numbers.
  std::pair<double, double> with_room(const Numbers& numbers, std::size_t different) const {
    const double span = numbers.max - numbers.min;
    if (numbers.whole && different <= kMostOfScale) return {numbers.min, numbers.max};
    const bool codes = has_code_each(numbers);
    const double more = codes ? std::ceil(span * kRoomOfCodes) : span * kRoomOfRanges;
    const auto outer = [&](double bound) {
      const double rounded = codes ? bound : rounded_out(bound);
      const double power = std::pow(10.0, numbers.decimals);
      const double digits = std::abs(rounded) * power;
      if (digits >= 1e15) return rounded < 0.0 ? numbers.min : numbers.max;
      return std::copysign(std::ceil(digits - 1e-6) / power, rounded);
    };
    const bool natural = numbers.min == 0.0 || numbers.min == 1.0;
    double min = natural ? numbers.min : outer(numbers.min - more);
    if (numbers.min >= 0.0) min = std::max(min, 0.0);
    return {std::min(min, numbers.min), std::max(numbers.max, outer(numbers.max + more))};
  }

  bool has_code_each(const Numbers& numbers) const {
    return numbers.whole && numbers.max - numbers.min < static_cast<double>(options_.most_values);
  }

  // The column's bounds may be wider than the public numbers.
  void number_column(const Numbers& numbers, double min, double max, const Texts& texts) {
    const bool integer = numbers.whole;
    out_.column.set("kind", integer ? "integer" : "real");
    set_number("min", min, integer);
    set_number("max", max, integer);
    if (numbers.decimals > 0) {
      out_.column.set("decimals", numbers.decimals);
      if (!numbers.same_decimals) {
        choice("Its numbers have up to {} digits after the point; rows are written with all.",
               numbers.decimals);
      }
    }
    const bool from_codebook = codebook_ != nullptr;
    if (from_codebook ? integer && max - min < static_cast<double>(options_.most_values)
                      : has_code_each(numbers)) {
      return;
    }
    std::vector<double> points;
    const auto line = number_line(0);
    for (const auto& text : profile_.sample()) {
      const auto point = line->parse(text);
      if (point && *point >= min && *point <= max) points.push_back(*point);
    }
    std::ranges::sort(points);
    // What lies beyond public numbers has ranges of its own, so that private rows there are
    // counted.
    const double lowest = std::max(min, numbers.min);
    const double after = numbers.max + (integer ? 1.0 : std::pow(10.0, -numbers.decimals));
    auto cuts = quantiles(points, lowest);
    if (cuts.empty()) {
      const double values = (max - min) * std::pow(10.0, numbers.decimals) + 1.0;
      const double ranges = std::min(std::floor(values), static_cast<double>(options_.ranges));
      out_.column.set("bins", static_cast<std::int64_t>(ranges));
      choice("The public data tells nothing of its spread; the ranges are of equal width.");
      return;
    }
    if (lowest > min) cuts.insert(cuts.begin(), lowest);
    if (after <= max && after > cuts.back()) cuts.push_back(after);
    Document edges = Document::array();
    for (const double edge : cuts)
      edges.push(integer ? whole(edge) : Document(rounded(edge, numbers)));
    out_.column.set("edges", std::move(edges));
    out_.column.set("inside", "public");
    choice("Cut where the public data has equal shares ({} different numbers there).",
           with_commas(texts.size()));
  }

  static double rounded(double value, const Numbers& numbers) {
    const double power = std::pow(10.0, numbers.decimals);
    return std::round(value * power) / power;
  }

  // Points that cut sorted ones into equal shares; where many are equal, fewer.
  std::vector<double> quantiles(const std::vector<double>& points,
                                std::optional<double> above = {}) const {
    std::vector<double> out;
    if (points.empty()) return out;
    double last = above.value_or(points.front());
    for (Code k = 1; k < options_.ranges; ++k) {
      const double point = points[points.size() * k / options_.ranges];
      if (point > last) out.push_back(last = point);
    }
    return out;
  }

  void add_extras(const Texts& specials, const Texts& nulls) {
    if (!specials.empty()) out_.column.set("special", text_list(specials));
    if (!nulls.empty()) {
      out_.column.set("null", text_list(nulls));
      if (nulls.size() > 1) choice("{} all mean null; the first is written.", list_names(nulls, 6));
    }
  }

  void other_value(const Texts& values) {
    std::string other = "other";
    while (std::ranges::find(values, other) != values.end()) other.insert(0, "(").append(")");
    out_.column.set("other", other);
  }

  void leave_out(const std::string& reason) {
    doubt("Left out, since {}; describe it by hand if it matters.", reason);
    out_.column = Document();
  }

  static bool is_null_text(const std::string& text) {
    return std::ranges::find(kNullTexts, text) != kNullTexts.end();
  }

  static Document whole(double value) { return static_cast<std::int64_t>(value); }
  static std::string show(double value) { return fmt::format("{}", value); }

  void set_number(const char* key, double value, bool integer) {
    out_.column.set(key, integer ? whole(value) : Document(value));
  }

  void bounds(std::string_view what, const std::string& first, const std::string& last,
              const std::string& min, const std::string& max) {
    const bool wider = first != min || last != max;
    out_.bounds = wider ? fmt::format("{} to {} (public {} {} to {})", min, max, what, first, last)
                        : fmt::format("{} to {} (as public {})", min, max, what);
  }

  template <class... T>
  void choice(fmt::format_string<T...> text, T&&... values) {
    out_.choices.push_back(fmt::format(text, std::forward<T>(values)...));
  }
  template <class... T>
  void doubt(fmt::format_string<T...> text, T&&... values) {
    out_.doubts.push_back(fmt::format(text, std::forward<T>(values)...));
  }

  const ColumnProfile& profile_;
  const CodebookColumn* codebook_;
  DraftOptions options_;
  Texts seen_;
  ColumnDraft out_;
};

}  // namespace

ColumnDraft draft_column(const std::string& name, const ColumnProfile& profile,
                         const CodebookColumn* codebook, const DraftOptions& options) {
  return Drafter(name, profile, codebook, options).draft();
}

}  // namespace tandem
