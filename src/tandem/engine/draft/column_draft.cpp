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
    auto numbers = as_numbers(inside).value_or(Numbers{});
    if (!inside.empty() && (numbers.min < *codebook_->min || numbers.max > *codebook_->max)) {
      doubt("Public values lie beyond the codebook's {:g} to {:g}; they count as the nearer bound.",
            *codebook_->min, *codebook_->max);
    }
    const bool whole_bounds = *codebook_->min == std::floor(*codebook_->min) &&
                              *codebook_->max == std::floor(*codebook_->max);
    numbers.whole = numbers.whole && whole_bounds;
    numbers.min = *codebook_->min;
    numbers.max = *codebook_->max;
    number_column(numbers, inside);
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
      number_column(*numbers, numeric);
      doubt(
          "Its bounds, {} to {}, are those of the public data; values beyond count as the nearer "
          "bound.",
          show(numbers->min), show(numbers->max));
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
    out_.column.set("min", text_at(points.front()));
    out_.column.set("max", text_at(points.back()));
    Document edges = Document::array();
    for (const double edge : quantiles(points)) edges.push(text_at(edge));
    out_.column.set("edges", std::move(edges));
    out_.column.set("inside", "public");
    doubt(
        "Its bounds, {} to {}, are those of the public data; dates beyond count as the nearer "
        "bound.",
        text_at(points.front()), text_at(points.back()));
    return true;
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

  void number_column(const Numbers& numbers, const Texts& texts) {
    const bool integer = numbers.whole;
    out_.column.set("kind", integer ? "integer" : "real");
    set_number("min", numbers.min, integer);
    set_number("max", numbers.max, integer);
    if (numbers.decimals > 0) {
      out_.column.set("decimals", numbers.decimals);
      if (!numbers.same_decimals) {
        choice("Its numbers have up to {} digits after the point; rows are written with all.",
               numbers.decimals);
      }
    }
    if (integer && numbers.max - numbers.min < static_cast<double>(options_.most_values)) return;
    std::vector<double> points;
    const auto line = number_line(0);
    for (const auto& text : profile_.sample()) {
      const auto point = line->parse(text);
      if (point && *point >= numbers.min && *point <= numbers.max) points.push_back(*point);
    }
    std::ranges::sort(points);
    const auto cuts = quantiles(points, numbers.min);
    if (cuts.empty()) {
      const double values = (numbers.max - numbers.min) * std::pow(10.0, numbers.decimals) + 1.0;
      const double ranges = std::min(std::floor(values), static_cast<double>(options_.ranges));
      out_.column.set("bins", static_cast<std::int64_t>(ranges));
      choice("The public data tells nothing of its spread; the ranges are of equal width.");
      return;
    }
    Document edges = Document::array();
    for (const double edge : cuts) edges.push(integer ? whole(edge) : Document(edge));
    out_.column.set("edges", std::move(edges));
    out_.column.set("inside", "public");
    choice("Cut where the public data has equal shares ({} different numbers there).",
           with_commas(texts.size()));
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
