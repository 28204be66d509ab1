// SPDX-License-Identifier: Apache-2.0
#include "tandem/engine/draft/relation_proposals.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <set>
#include <string_view>
#include <utility>

#include "tandem/source/open.h"

namespace tandem {

namespace {

constexpr std::size_t kMostColumns = 24;    // of numbers and dates: triples of them are tried
constexpr std::size_t kMostProposals = 20;  // more than a person reads
constexpr std::size_t kLeastRows = 50;      // that keep it
// Rows that break it when one value is taken from the row before: by chance, that is. Numbers are
// less often meant to be compared than dates are.
constexpr double kLeastChanceOfDates = 0.01;
constexpr double kLeastChanceOfNumbers = 0.05;
constexpr double kLeastChanceOfSums = 0.2;

using Values = std::vector<std::optional<std::int64_t>>;

struct Candidate {
  enum class Kind { Order, Sum, Difference };  // a <= b, a = b + c, a = b - c
  Kind kind = Kind::Order;
  std::size_t a = 0;
  std::size_t b = 0;
  std::size_t c = 0;
  CalendarUnit unit = CalendarUnit::Days;  // of a difference
  std::size_t rows = 0;
  std::size_t by_chance = 0;  // broken with a value of the row before
};

// A column's name as a relation writes it; nothing when no quotes are left for it.
std::optional<std::string> quoted(const std::string& name) {
  const auto letter = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
  };
  const auto inside = [&](char c) { return letter(c) || (c >= '0' && c <= '9'); };
  if (!name.empty() && letter(name[0]) && std::ranges::all_of(name, inside)) return name;
  if (name.find('\'') == std::string::npos) return "'" + name + "'";
  if (name.find('"') == std::string::npos) return '"' + name + '"';
  return {};
}

class Search {
 public:
  explicit Search(const Schema& schema) : schema_(schema) {
    for (const auto& column : schema.columns()) {
      if (column.codec->ranges() == nullptr || columns_.size() == kMostColumns) continue;
      columns_.push_back(&column);
    }
    for (std::size_t a = 0; a < columns_.size(); ++a) {
      for (std::size_t b = 0; b < columns_.size(); ++b) {
        if (a != b && alike(a, b)) candidates_.push_back({.a = a, .b = b});
        if (!is_date(a)) add_derivations(a, b);
      }
    }
  }

  void read(const std::string& source) {
    std::vector<std::pair<std::size_t, std::size_t>> fields_of;  // field, column here
    bool comma = false;
    std::string room;
    before_.clear();
    scan_table(
        source, &schema_, {},
        [&](std::span<const std::string> names, const TextFormat& format) {
          comma = format.decimal_mark == ',';
          for (std::size_t i = 0; i < columns_.size(); ++i) {
            const auto found = std::ranges::find(names, columns_[i]->name);
            if (found == names.end()) continue;
            fields_of.emplace_back(static_cast<std::size_t>(found - names.begin()), i);
          }
        },
        [&](std::span<const std::string_view> fields, std::size_t /*line*/) {
          Values row(columns_.size());
          for (const auto& [field, i] : fields_of) {
            const bool swap = comma && columns_[i]->codec->numeric();
            row[i] = tick(i, swap ? swap_decimal_marks(fields[field], room) : fields[field]);
          }
          add(row);
          before_ = std::move(row);
        });
  }

  std::vector<RelationProposal> run() const {
    std::vector<RelationProposal> out;
    std::set<std::size_t> derived;
    std::vector<const Candidate*> orders;
    for (const auto& candidate : candidates_) {
      if (!speaks(candidate)) continue;
      if (candidate.kind == Candidate::Kind::Order) {
        orders.push_back(&candidate);
        continue;
      }
      const bool later = gives_later_date(candidate);
      if (derived.insert(later ? candidate.b : candidate.a).second) add_text(candidate, later, out);
    }
    std::erase_if(orders, [&](const Candidate* order) {
      return derived.contains(order->a) || derived.contains(order->b) || follows(*order, orders);
    });
    std::ranges::stable_sort(orders, {}, [&](const Candidate* order) {
      return std::pair(!is_date(order->a), -static_cast<double>(order->by_chance));
    });
    for (const auto* order : orders) add_text(*order, false, out);
    if (out.size() > kMostProposals) out.resize(kMostProposals);
    return out;
  }

 private:
  const ValueLine& line(std::size_t i) const { return columns_[i]->codec->ranges()->line(); }
  bool is_date(std::size_t i) const { return !line(i).numeric(); }

  // Whether ticks of both are of one size.
  bool alike(std::size_t a, std::size_t b) const {
    if (is_date(a) || is_date(b)) {
      return is_date(a) && is_date(b) && line(a).calendar_unit() == line(b).calendar_unit();
    }
    return line(a).decimals() == line(b).decimals();
  }

  void add_derivations(std::size_t a, std::size_t b) {
    for (std::size_t c = 0; c < columns_.size(); ++c) {
      if (c == a || c == b || a == b || !alike(b, c)) continue;
      if (is_date(b)) {
        if (line(a).decimals() > 0) continue;
        for (const auto unit : {CalendarUnit::Days, CalendarUnit::Months, CalendarUnit::Years}) {
          if (unit > *line(b).calendar_unit()) continue;
          candidates_.push_back({Candidate::Kind::Difference, a, b, c, unit});
        }
      } else if (b < c && alike(a, b)) {
        candidates_.push_back({Candidate::Kind::Sum, a, b, c});
      }
    }
  }

  std::optional<std::int64_t> tick(std::size_t i, std::string_view text) const {
    const auto [code, fit] = columns_[i]->codec->encode(text);
    if (fit != Fit::Exact || code >= columns_[i]->codec->ranges()->size()) return {};
    const auto point = line(i).parse(text);
    return point ? std::optional(line(i).tick_from(*point)) : std::nullopt;
  }

  void add(const Values& row) {
    std::erase_if(candidates_, [&](Candidate& candidate) {
      const bool pair = candidate.kind == Candidate::Kind::Order;
      if (!row[candidate.a] || !row[candidate.b] || (!pair && !row[candidate.c])) return false;
      if (!holds(candidate, row, *row[candidate.a])) return true;
      ++candidate.rows;
      if (!before_.empty() && before_[candidate.a] &&
          !holds(candidate, row, *before_[candidate.a])) {
        ++candidate.by_chance;
      }
      return false;
    });
  }

  bool holds(const Candidate& candidate, const Values& row, std::int64_t a) const {
    const auto b = *row[candidate.b];
    if (candidate.kind == Candidate::Kind::Order) return a <= b;
    const auto c = *row[candidate.c];
    if (candidate.kind == Candidate::Kind::Sum) return a == b + c;
    const auto cut = [&](std::int64_t date) {
      const auto unit = *line(candidate.b).calendar_unit();
      return unit == candidate.unit ? date
                                    : calendar_cut(calendar_begin(date, unit), candidate.unit);
    };
    return a == cut(b) - cut(c);
  }

  bool speaks(const Candidate& candidate) const {
    const double least = candidate.kind != Candidate::Kind::Order ? kLeastChanceOfSums
                         : is_date(candidate.a)                   ? kLeastChanceOfDates
                                                                  : kLeastChanceOfNumbers;
    return candidate.rows >= kLeastRows &&
           static_cast<double>(candidate.by_chance) >= least * static_cast<double>(candidate.rows);
  }

  // Whether a difference of two dates, a = b - c, is put as b = c + a. A number of days has finer
  // ranges than dates, whose ranges are months or wider: computed from these it would lose most of
  // what is known of it. Only where nothing else that holds speaks of the later date, which nobody
  // could measure then.
  bool gives_later_date(const Candidate& difference) const {
    if (difference.kind != Candidate::Kind::Difference ||
        difference.unit != *line(difference.b).calendar_unit() ||
        columns_[difference.a]->codec->ranges()->range(0).first < 0) {
      return false;
    }
    return std::ranges::none_of(candidates_, [&](const Candidate& other) {
      if (&other == &difference || !speaks(other)) return false;
      const auto names = [&](std::size_t i) {
        return other.a == i || other.b == i ||
               (other.kind != Candidate::Kind::Order && other.c == i);
      };
      const bool same_order = other.kind == Candidate::Kind::Order && other.a == difference.c &&
                              other.b == difference.b;
      return names(difference.b) && !same_order;
    });
  }

  // Whether two others say the same: a <= c and c <= b.
  static bool follows(const Candidate& order, const std::vector<const Candidate*>& orders) {
    return std::ranges::any_of(orders, [&](const Candidate* first) {
      return first->a == order.a && first->b != order.b &&
             std::ranges::any_of(orders, [&](const Candidate* second) {
               return second->a == first->b && second->b == order.b;
             });
    });
  }

  void add_text(const Candidate& candidate, bool later, std::vector<RelationProposal>& out) const {
    const auto a = quoted(columns_[candidate.a]->name);
    const auto b = quoted(columns_[candidate.b]->name);
    const auto c = quoted(columns_[candidate.c]->name);
    if (!a || !b || !c) return;
    RelationProposal next{
        .derives = candidate.kind != Candidate::Kind::Order, .text = "", .rows = candidate.rows};
    if (!next.derives) {
      next.text = fmt::format("{} <= {}", *a, *b);
    } else if (candidate.kind == Candidate::Kind::Sum) {
      next.text = fmt::format("{} = {} + {}", *a, *b, *c);
    } else if (later) {
      next.text = fmt::format("{} = {} + {} {}", *b, *c, *a, name_of(candidate.unit));
    } else {
      next.text = fmt::format("{} = {} - {}", *a, *b, *c);
      const auto plain = std::min(CalendarUnit::Days, *line(candidate.b).calendar_unit());
      if (candidate.unit != plain) next.text += fmt::format(" in {}", name_of(candidate.unit));
    }
    out.push_back(std::move(next));
  }

  const Schema& schema_;
  std::vector<const ColumnSchema*> columns_;
  std::vector<Candidate> candidates_;  // that no row has broken
  Values before_;                      // of the row before
};

}  // namespace

std::vector<RelationProposal> propose_relations(const Schema& schema,
                                                const std::vector<std::string>& public_sources) {
  Search search(schema);
  for (const auto& source : public_sources) search.read(source);
  return search.run();
}

}  // namespace tandem
