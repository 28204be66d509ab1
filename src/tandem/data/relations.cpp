// SPDX-License-Identifier: Apache-2.0
#include "tandem/data/relations.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <compare>
#include <set>
#include <utility>

#include "tandem/base/error.h"
#include "tandem/base/text.h"
#include "tandem/data/relation_text.h"

namespace tandem {

namespace {

constexpr double kMostPlaces = 4e18;  // whole numbers of 64 bits

const ValueLine& line_of(const ColumnSchema& column) { return column.codec->ranges()->line(); }

bool is_date(const ColumnSchema& column) { return !line_of(column).numeric(); }

// The outer values of a column.
TickRange bounds_of(const ColumnSchema& column) {
  const auto& ranges = *column.codec->ranges();
  return {.first = ranges.range(0).first, .last = ranges.range(ranges.size() - 1).last};
}

double power_of_ten(int exponent) { return std::pow(10.0, exponent); }

std::int64_t whole_power_of_ten(int exponent) {
  return static_cast<std::int64_t>(std::llround(power_of_ten(exponent)));
}

int decimals_in(std::string_view number) {
  const auto point = number.find('.');
  return point == std::string_view::npos ? 0 : static_cast<int>(number.size() - point - 1);
}

[[noreturn]] void fail(const std::string& problem) { throw UsageError(problem); }

// ---- Columns and constants ----

class Columns {
 public:
  Columns(const std::vector<ColumnSchema>& columns, std::set<std::string> derived)
      : columns_(columns), derived_(std::move(derived)) {
    std::vector<std::string> measured;
    for (const auto& column : columns_) {
      attributes_.push_back(static_cast<AttributeId>(measured.size()));
      if (!derived_.contains(column.name)) measured.push_back(column.name);
    }
  }

  bool has(const std::string& name) const { return find(name) != nullptr; }

  const ColumnSchema* find(const std::string& name) const {
    const auto found = std::ranges::find(columns_, name, &ColumnSchema::name);
    return found == columns_.end() ? nullptr : &*found;
  }

  // A measured column of numbers or dates.
  const ColumnSchema& measured(const RelationPart& part) const {
    const ColumnSchema* column = find(part.text);
    if (column == nullptr) fail(fmt::format("{} is not a column", in_quotes(part.text)));
    if (derived_.contains(part.text)) {
      fail(fmt::format("{} is derived itself; name the columns that it is made of",
                       in_quotes(part.text)));
    }
    if (column->codec->ranges() == nullptr) {
      fail(fmt::format("{} holds neither numbers nor dates", in_quotes(part.text)));
    }
    return *column;
  }

  // Also where columns before it were taken out.
  AttributeId attribute(const ColumnSchema& column) const {
    return attributes_[static_cast<std::size_t>(&column - columns_.data())];
  }

 private:
  const std::vector<ColumnSchema>& columns_;
  std::set<std::string> derived_;
  std::vector<AttributeId> attributes_;
};

double number_in(const RelationPart& part) {
  const auto number = parse_number(part.text);
  if (!number) fail(fmt::format("{} is neither a column nor a number", in_quotes(part.text)));
  return *number;
}

std::int64_t amount_in(const RelationPart& part) {
  const double number = number_in(part);
  if (number != std::floor(number) ||
      std::abs(number) > static_cast<double>(most_calendar_amount(*part.unit))) {
    fail(fmt::format("{} {} is no whole number of at most {} years", part.text, name_of(*part.unit),
                     with_commas(kMostCalendarYears)));
  }
  return static_cast<std::int64_t>(number) * (part.minus ? -1 : 1);
}

// A column of whole numbers that counts units of the calendar.
void require_amounts(const ColumnSchema& column, CalendarUnit unit) {
  const auto& ranges = *column.codec->ranges();
  if (ranges.stride() != line_of(column).tick_from(1.0)) {
    fail(fmt::format("{} counts {} and is not a column of whole numbers; make it kind 'integer'",
                     in_quotes(column.name), name_of(unit)));
  }
  const auto [first, last] = bounds_of(column);
  const auto most = static_cast<double>(std::max(std::abs(first), std::abs(last))) /
                    static_cast<double>(ranges.stride());
  if (most > static_cast<double>(most_calendar_amount(unit))) {
    fail(fmt::format("{} has more {} than the calendar, {} years", in_quotes(column.name),
                     name_of(unit), with_commas(kMostCalendarYears)));
  }
}

void require_unit_of(const ColumnSchema& column, CalendarUnit unit) {
  if (unit <= *line_of(column).calendar_unit()) return;
  fail(fmt::format("{} is finer than the dates of {}", name_of(unit), in_quotes(column.name)));
}

// ---- Orders ----

// One side of an order: a column, and a constant or none.
struct Side {
  const ColumnSchema* column = nullptr;
  const RelationPart* of_column = nullptr;
  const RelationPart* constant = nullptr;
};

Side side_of(const std::vector<RelationPart>& parts, const Columns& columns) {
  Side out;
  for (const auto& part : parts) {
    const bool is_column = columns.has(part.text);
    auto& place = is_column ? out.of_column : out.constant;
    if (place != nullptr) {
      fail(is_column ? "a side has two columns; each side has one, and at most a constant beside it"
                     : fmt::format("{} is not a column", in_quotes(part.text)));
    }
    place = &part;
  }
  if (out.of_column == nullptr) {
    fail(fmt::format("{} is not a column, and each side needs one", in_quotes(parts[0].text)));
  }
  out.column = &columns.measured(*out.of_column);
  return out;
}

void require_few_digits(const ColumnSchema& column, double factor, double offset) {
  const auto [first, last] = bounds_of(column);
  const auto most = static_cast<double>(std::max(std::abs(first), std::abs(last)));
  if (most * factor + std::abs(offset) < kMostPlaces) return;
  fail(fmt::format("{} has more digits than can be compared; give it fewer decimals",
                   in_quotes(column.name)));
}

// The places of both sides, in units of the finer of both.
std::array<Place, 2> number_places(const std::array<Side, 2>& sides) {
  int decimals = 0;
  for (const auto& side : sides) {
    decimals = std::max(decimals, line_of(*side.column).decimals());
    for (const auto* part : {side.of_column, side.constant}) {
      if (part == nullptr || !part->unit) continue;
      fail(fmt::format("{} are of dates, and it compares numbers", name_of(*part->unit)));
    }
    if (side.constant == nullptr) continue;
    number_in(*side.constant);
    decimals = std::max(decimals, decimals_in(side.constant->text));
  }
  if (decimals > kMostDecimals) fail("a number has more than 15 digits after its point");
  std::array<Place, 2> out;
  for (std::size_t i = 0; i < 2; ++i) {
    const auto& side = sides[i];
    const double factor = power_of_ten(decimals - line_of(*side.column).decimals());
    double offset = 0.0;
    if (side.constant != nullptr) {
      offset =
          number_in(*side.constant) * power_of_ten(decimals) * (side.constant->minus ? -1.0 : 1.0);
    }
    require_few_digits(*side.column, factor, offset);
    out[i] = Place::number(static_cast<std::int64_t>(factor) * (side.of_column->minus ? -1 : 1),
                           static_cast<std::int64_t>(std::llround(offset)));
  }
  return out;
}

// Dates are compared at the precision of the coarser one.
std::array<Place, 2> date_places(const std::array<Side, 2>& sides) {
  const auto plain = date_line("%Y-%m-%d");
  const ValueLine* written = nullptr;  // how constant dates are
  auto cut = CalendarUnit::Seconds;
  for (const auto& side : sides) {
    if (!is_date(*side.column)) continue;
    written = &line_of(*side.column);
    cut = std::min(cut, *written->calendar_unit());
  }
  if (written == nullptr) {
    written = plain.get();
    cut = CalendarUnit::Days;
  }
  std::array<Place, 2> out;
  for (std::size_t i = 0; i < 2; ++i) {
    const auto& [column, of_column, constant] = sides[i];
    const std::string name = in_quotes(column->name);
    if (is_date(*column)) {
      if (of_column->minus || of_column->unit) fail(fmt::format("{} is a date by itself", name));
      Place::Steps later;
      if (constant != nullptr) {
        if (!constant->unit) {
          fail(fmt::format("{} needs a unit, such as 'days'", in_quotes(constant->text)));
        }
        later = {.amount = amount_in(*constant), .unit = *constant->unit};
        require_unit_of(*column, later.unit);
      }
      out[i] = Place::date(*line_of(*column).calendar_unit(), later, cut);
    } else {
      if (constant == nullptr || constant->minus || !of_column->unit) {
        fail(fmt::format(
            "{} is a number, compared with a date; write a date and how far it lies from there, "
            "such as '2020-01-01 - {} years'",
            name, column->name));
      }
      const auto date = written->parse(constant->text);
      if (!date || constant->unit) {
        fail(fmt::format("{} is neither a column nor a date written as {}",
                         in_quotes(constant->text), in_quotes(written->text(0))));
      }
      require_amounts(*column, *of_column->unit);
      const auto moment =
          calendar_begin(static_cast<std::int64_t>(*date), *written->calendar_unit());
      out[i] = Place::from_moment(moment, of_column->minus ? -1 : 1,
                                  column->codec->ranges()->stride(), *of_column->unit, cut);
    }
    out[i].keep(bounds_of(*column));
  }
  return out;
}

std::array<Place, 2> places_of(const std::array<Side, 2>& sides) {
  const bool dates = std::ranges::any_of(sides, [](const Side& side) {
    return is_date(*side.column) || side.of_column->unit.has_value();
  });
  return dates ? date_places(sides) : number_places(sides);
}

Order order_of(const std::string& text, const std::vector<RelationPart>& left,
               Comparison comparison, const std::vector<RelationPart>& right,
               const Columns& columns) {
  std::array<Side, 2> sides = {side_of(left, columns), side_of(right, columns)};
  if (comparison == Comparison::Greater || comparison == Comparison::GreaterOrEqual) {
    std::swap(sides[0], sides[1]);
  }
  const auto& [low, high] = sides;
  if (low.column == high.column) {
    fail(fmt::format("{} is compared with itself", in_quotes(low.column->name)));
  }
  auto places = places_of(sides);
  const bool strict = comparison == Comparison::Less || comparison == Comparison::Greater;
  if (strict) places[0] = places[0].plus(1);
  const TickRange of_low = places[0].of(bounds_of(*low.column));
  const TickRange of_high = places[1].of(bounds_of(*high.column));
  if (of_low.first > of_high.last) {
    fail(fmt::format("no values of {} and {} keep it", in_quotes(low.column->name),
                     in_quotes(high.column->name)));
  }
  if (of_low.last <= of_high.first) {
    fail(fmt::format("it rules nothing out: all values of {} and {} keep it",
                     in_quotes(low.column->name), in_quotes(high.column->name)));
  }
  Order out{.text = text,
            .low = columns.attribute(*low.column),
            .high = columns.attribute(*high.column),
            .lowest = std::vector(low.column->codec->size(), kBeforeAll),
            .highest = std::vector(high.column->codec->size(), kAfterAll),
            .low_place = std::move(places[0]),
            .high_place = std::move(places[1])};
  const auto& low_ranges = *low.column->codec->ranges();
  for (Code code = 0; code < low_ranges.size(); ++code) {
    out.lowest[code] = out.low_place.of(low_ranges.range(code)).first;
  }
  const auto& high_ranges = *high.column->codec->ranges();
  for (Code code = 0; code < high_ranges.size(); ++code) {
    out.highest[code] = out.high_place.of(high_ranges.range(code)).last;
  }
  return out;
}

// The ends of what a column may hold. Each order lets an end follow from another one.
struct End {
  AttributeId column = 0;
  bool upper = false;
  auto operator<=>(const End&) const = default;
};

using Follows = std::vector<std::pair<End, End>>;

void add_ends(const Order& order, Follows& follows) {
  const bool low_falls = order.low_place.falls();
  const bool high_falls = order.high_place.falls();
  follows.push_back({{order.low, low_falls}, {order.high, high_falls}});
  follows.push_back({{order.high, !high_falls}, {order.low, !low_falls}});
}

// The way from one end to another, or nothing.
std::vector<End> way(const Follows& follows, const End& at, const End& goal, std::set<End>& seen) {
  if (at == goal) return {at};
  if (!seen.insert(at).second) return {};
  for (const auto& [from, to] : follows) {
    if (from != at) continue;
    auto rest = way(follows, to, goal, seen);
    if (rest.empty()) continue;
    rest.insert(rest.begin(), at);
    return rest;
  }
  return {};
}

void require_no_circle(const Order& added, const std::vector<std::string>& names,
                       Follows& follows) {
  std::set<End> seen;
  const auto back = way(follows, {added.high, added.high_place.falls()},
                        {added.low, added.low_place.falls()}, seen);
  if (!back.empty()) {
    std::string circle = in_quotes(names[added.low]);
    for (const auto& end : back) circle += ", " + in_quotes(names[end.column]);
    fail(fmt::format("orders run in a circle, {}; leave one out", circle));
  }
  add_ends(added, follows);
}

// ---- Derived columns ----

class Derivation {
 public:
  Derivation(const RelationText& text, const Columns& columns, const ColumnSchema& target)
      : text_(text), columns_(columns), target_(target) {
    for (const auto& part : text.sides[1]) {
      if (!columns.has(part.text)) {
        number_in(part);  // a name that is no column is said before anything else
        constants_.push_back(&part);
        continue;
      }
      (is_date(columns.measured(part)) ? dates_ : numbers_).push_back(&part);
    }
    if (dates_.empty() && numbers_.empty()) fail("it is made of no column");
  }

  Derived compile() {
    out_.column = target_;
    out_.text = text_.text;
    if (is_date(target_)) {
      date_and_steps();
    } else if (dates_.empty()) {
      if (text_.in) fail(fmt::format("{} are of dates, and it adds numbers", name_of(*text_.in)));
      add_numbers();
    } else {
      date_difference();
      add_numbers();
    }
    return std::move(out_);
  }

 private:
  int decimals() const { return line_of(target_).decimals(); }

  void add_numbers() {
    for (const auto* part : numbers_) {
      const auto& column = columns_.measured(*part);
      const int finer = decimals() - line_of(column).decimals();
      if (finer < 0) too_fine(column.name);
      no_unit(*part);
      const auto [first, last] = bounds_of(column);
      count_digits(static_cast<double>(std::max(std::abs(first), std::abs(last))) *
                   power_of_ten(finer));
      out_.terms.push_back({columns_.attribute(column),
                            Place::number(whole_power_of_ten(finer) * (part->minus ? -1 : 1), 0)});
    }
    for (const auto* part : constants_) {
      const double number = number_in(*part);
      if (decimals_in(part->text) > decimals()) too_fine(part->text);
      no_unit(*part);
      const double ticks = number * power_of_ten(decimals());
      count_digits(std::abs(ticks));
      out_.constant += std::llround(ticks) * (part->minus ? -1 : 1);
    }
  }

  // One date less another, in whole units: both are cut down to the unit first.
  void date_difference() {
    if (dates_.size() != 2 || dates_[0]->minus == dates_[1]->minus) {
      fail("of dates, one less another makes a number");
    }
    auto unit = CalendarUnit::Days;
    for (const auto* part : dates_) {
      unit = std::min(unit, *line_of(columns_.measured(*part)).calendar_unit());
    }
    if (text_.in) unit = *text_.in;
    for (const auto* part : dates_) {
      const auto& column = columns_.measured(*part);
      no_unit(*part);
      require_unit_of(column, unit);
      auto place = Place::date(*line_of(column).calendar_unit(), {}, unit)
                       .times(whole_power_of_ten(decimals()) * (part->minus ? -1 : 1));
      place.keep(bounds_of(column));
      out_.terms.push_back({columns_.attribute(column), std::move(place)});
    }
    count_digits(static_cast<double>(most_calendar_amount(unit)) * power_of_ten(decimals()));
  }

  void date_and_steps() {
    if (dates_.size() != 1 || dates_[0]->minus || text_.in) {
      fail(fmt::format("{} is a date, and so one other date and some 'days' or the like",
                       in_quotes(target_.name)));
    }
    const auto& from = columns_.measured(*dates_[0]);
    no_unit(*dates_[0]);
    const auto from_unit = *line_of(from).calendar_unit();
    out_.start = {columns_.attribute(from), from_unit};
    const auto bounds = bounds_of(from);
    std::array<std::int64_t, 2> reach = {calendar_begin(bounds.first, from_unit),
                                         calendar_begin(bounds.last, from_unit)};
    for (const auto* part : numbers_) {
      const auto& column = columns_.measured(*part);
      require_unit(*part);
      require_amounts(column, *part->unit);
      const auto stride = column.codec->ranges()->stride();
      out_.steps.push_back({.attribute = columns_.attribute(column),
                            .stride = stride,
                            .amount = part->minus ? -1 : 1,
                            .unit = *part->unit});
      const auto [first, last] = bounds_of(column);
      reach[0] = within_calendar(reach[0], (part->minus ? -last : first) / stride, *part->unit);
      reach[1] = within_calendar(reach[1], (part->minus ? -first : last) / stride, *part->unit);
    }
    for (const auto* part : constants_) {
      require_unit(*part);
      out_.steps.push_back({.amount = amount_in(*part), .unit = *part->unit});
      for (auto& end : reach) end = within_calendar(end, out_.steps.back().amount, *part->unit);
    }
  }

  std::int64_t within_calendar(std::int64_t moment, std::int64_t amount, CalendarUnit unit) const {
    const auto moved = calendar_shift(moment, amount, unit);
    const auto year = calendar_cut(moved, CalendarUnit::Years) + 1970;
    if (year < 0 || year > 9999) {
      fail(fmt::format("{} can lie outside the years 0 to 9999", in_quotes(target_.name)));
    }
    return moved;
  }

  void require_unit(const RelationPart& part) const {
    if (!part.unit) fail(fmt::format("{} needs a unit, such as 'days'", in_quotes(part.text)));
    require_unit_of(target_, *part.unit);
  }
  static void no_unit(const RelationPart& part) {
    if (part.unit) {
      fail(fmt::format("{} has a unit, {}, where none is needed", in_quotes(part.text),
                       in_quotes(name_of(*part.unit))));
    }
  }
  [[noreturn]] void too_fine(const std::string& what) const {
    fail(fmt::format("{} has more digits after its point than {}; give that one more 'decimals'",
                     in_quotes(what), in_quotes(target_.name)));
  }
  void count_digits(double ticks) {
    most_ += ticks;
    if (most_ < static_cast<double>(kLargestTick)) return;
    fail(fmt::format("{} can have more digits than a number here may have (15)",
                     in_quotes(target_.name)));
  }

  const RelationText& text_;
  const Columns& columns_;
  const ColumnSchema& target_;
  std::vector<const RelationPart*> dates_;
  std::vector<const RelationPart*> numbers_;
  std::vector<const RelationPart*> constants_;
  double most_ = 0.0;
  Derived out_;
};

// ---- Reading ----

// What a relation says, and where that stands.
struct Stated {
  const Document* where = nullptr;
  RelationText text;
  bool derives = false;
};

Stated stated(const Document& relation) {
  static constexpr std::array<std::string_view, 3> kKeys = {"order", "derive", "description"};
  relation.allow_only(kKeys);
  const auto* order = relation.find("order");
  const auto* derive = relation.find("derive");
  if ((order == nullptr) == (derive == nullptr)) {
    relation.fail("needs either 'order', such as 'a <= b', or 'derive', such as 'c = b - a'.");
  }
  const bool derives = derive != nullptr;
  const Document& where = derives ? *derive : *order;
  try {
    return {&where, derives ? parse_derivation(where.as_string()) : parse_order(where.as_string()),
            derives};
  } catch (const UsageError& error) {
    where.fail(fmt::format("can't be read: {}.", error.what()));
  }
}

}  // namespace

std::vector<AttributeId> Derived::needs() const {
  std::vector<AttributeId> out;
  for (const auto& term : terms) out.push_back(term.attribute);
  if (start) out.push_back(start->attribute);
  for (const auto& step : steps) {
    if (step.attribute) out.push_back(*step.attribute);
  }
  return out;
}

std::optional<std::int64_t> Derived::tick(
    std::span<const std::optional<std::int64_t>> values) const {
  for (const auto id : needs()) {
    if (!values[id]) return {};
  }
  if (!start) {
    std::int64_t sum = constant;
    for (const auto& [attribute, place] : terms) sum += place.of(*values[attribute]);
    return sum;
  }
  auto moment = calendar_begin(*values[start->attribute], start->unit);
  for (const auto& step : steps) {
    const auto amount =
        step.attribute ? step.amount * (*values[*step.attribute] / step.stride) : step.amount;
    moment = calendar_shift(moment, amount, step.unit);
  }
  return calendar_cut(moment, *column.codec->ranges()->line().calendar_unit());
}

Relations read_relations(const Document& list, std::vector<ColumnSchema>& columns) {
  std::vector<Stated> all;
  std::set<std::string> derived;
  for (const auto& relation : list.as_array()) {
    all.push_back(stated(relation));
    if (!all.back().derives) continue;
    const std::string& name = all.back().text.sides[0][0].text;
    const auto found = std::ranges::find(columns, name, &ColumnSchema::name);
    if (found == columns.end()) {
      all.back().where->fail(fmt::format(
          "is wrong: {} is not a column; describe it like the others.", in_quotes(name)));
    }
    if (found->codec->ranges() == nullptr) {
      all.back().where->fail(
          fmt::format("is wrong: {} holds neither numbers nor dates.", in_quotes(name)));
    }
    if (!derived.insert(name).second) {
      all.back().where->fail(
          fmt::format("is wrong: {} is derived twice; keep one.", in_quotes(name)));
    }
  }
  const Columns known(columns, derived);
  std::vector<std::string> names;
  for (const auto& column : columns) {
    if (!derived.contains(column.name)) names.push_back(column.name);
  }
  Relations out;
  Follows follows;
  for (const auto& [where, text, derives] : all) {
    try {
      if (derives) {
        const auto& target = *known.find(text.sides[0][0].text);
        out.derived.push_back(Derivation(text, known, target).compile());
        out.derived.back().before = known.attribute(target);
        continue;
      }
      for (std::size_t i = 0; i < text.comparisons.size(); ++i) {
        auto order =
            order_of(text.text, text.sides[i], text.comparisons[i], text.sides[i + 1], known);
        require_no_circle(order, names, follows);
        out.orders.push_back(std::move(order));
      }
    } catch (const UsageError& error) {
      where->fail(fmt::format("is wrong: {}.", error.what()));
    }
  }
  // In the order of the schema, which is that of files.
  std::ranges::stable_sort(out.derived, {}, [&](const Derived& some) {
    return std::ranges::find(columns, some.column.name, &ColumnSchema::name) - columns.begin();
  });
  std::erase_if(columns, [&](const auto& column) { return derived.contains(column.name); });
  return out;
}

}  // namespace tandem
