// SPDX-License-Identifier: Apache-2.0
#include "tandem/data/rules.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <tuple>
#include <utility>

namespace tandem {

namespace {

std::vector<bool> codes_with(const ColumnCondition& condition, Truth truth) {
  std::vector<bool> out;
  for (const Truth t : condition.truth) out.push_back(t == truth);
  return out;
}

// Whether a rule applies: its condition holds for all that the row's codes stand for.
bool applies(const Rule& rule, std::span<const Code> row) {
  return std::ranges::all_of(rule.when, [&](const auto& clause) {
    return clause.truth[row[clause.attribute]] == Truth::Always;
  });
}

// Mends one row, given and left as a code for each attribute.
class RowMender {
 public:
  explicit RowMender(const RowRules& rules) : rules_(rules.rules), orders_(rules.orders) {}

  void mend(std::vector<Code>& row) {
    for (std::size_t pass = 0; pass < rules_.size() + orders_.size(); ++pass) {
      bool any = false;
      for (const auto& rule : rules_) {
        if (!applies(rule, row)) continue;
        for (const auto& clause : rule.then) {
          if (clause.truth[row[clause.attribute]] != Truth::Never) continue;
          const auto code = code_for(clause, row);
          if (!code) continue;
          row[clause.attribute] = *code;
          any = true;
        }
      }
      for (const auto& order : orders_) {
        if (!order.excludes(row[order.low], row[order.high])) continue;
        for (const Side side : {Side::High, Side::Low}) {
          const auto code = code_for(order, side, row);
          if (!code) continue;
          row[side == Side::High ? order.high : order.low] = *code;
          any = true;
          break;
        }
      }
      if (!any) return;
    }
  }

 private:
  using Clauses = std::vector<const ColumnCondition*>;
  enum class Side { Low, High };

  // What the rules that apply to a row say of a column.
  Clauses said_of(AttributeId attribute, const std::vector<Code>& row) const {
    Clauses out;
    for (const auto& rule : rules_) {
      if (!applies(rule, row)) continue;
      for (const auto& clause : rule.then) {
        if (clause.attribute == attribute) out.push_back(&clause);
      }
    }
    return out;
  }

  std::optional<Code> code_for(const ColumnCondition& broken, const std::vector<Code>& row) {
    // Its own rule may not apply any more, when a clause before it changed the row.
    Clauses clauses = said_of(broken.attribute, row);
    std::erase(clauses, &broken);
    clauses.insert(clauses.begin(), &broken);
    const auto [at, added] = known_.try_emplace(std::move(clauses));
    if (added) at->second = first_fulfilling(at->first);
    return at->second;
  }

  // The range of one side that keeps the order with the row's code of the other, and is nearest.
  std::optional<Code> code_for(const Order& order, Side side, const std::vector<Code>& row) {
    const bool high = side == Side::High;
    const Code other = row[high ? order.low : order.high];
    const auto [at, added] =
        nearest_.try_emplace({&order, high, other, said_of(high ? order.high : order.low, row)});
    if (!added) return at->second;
    const Clauses& clauses = std::get<3>(at->first);
    const auto& places = high ? order.highest : order.lowest;
    for (const bool by_rules : {true, false}) {
      for (Code code = 0; code < places.size(); ++code) {
        if (places[code] == (high ? kAfterAll : kBeforeAll)) continue;  // no value
        if (high ? order.excludes(other, code) : order.excludes(code, other)) continue;
        if (by_rules && !std::ranges::all_of(clauses, [&](auto* clause) {
              return clause->truth[code] != Truth::Never;
            })) {
          continue;
        }
        const auto& best = at->second;
        if (!best || (high ? places[code] < places[*best] : places[code] > places[*best])) {
          at->second = code;
        }
      }
      if (at->second) break;
    }
    return at->second;
  }

  // All clauses or, if no code does, the first alone; wholly or, if no code does, in part.
  static std::optional<Code> first_fulfilling(const Clauses& clauses) {
    const auto first = clauses.begin();
    for (const auto end : {clauses.end(), first + 1}) {
      for (const Truth wanted : {Truth::Always, Truth::Partly}) {
        for (Code code = 0; code < clauses.front()->truth.size(); ++code) {
          if (std::all_of(first, end, [&](auto* c) { return c->truth[code] >= wanted; })) {
            return code;
          }
        }
      }
    }
    return std::nullopt;
  }

  std::span<const Rule> rules_;
  std::span<const Order> orders_;
  // Many rows break the same rules.
  std::map<Clauses, std::optional<Code>> known_;
  std::map<std::tuple<const Order*, bool, Code, Clauses>, std::optional<Code>> nearest_;
};

// Marks the rows that break a rule.
void mark_broken(const Rule& rule, const Table& table, std::vector<std::uint8_t>& broken) {
  std::vector<std::uint8_t> applies(table.rows(), 1);
  for (const auto& clause : rule.when) {
    table.column(clause.attribute).visit([&](auto codes) {
      for (std::size_t r = 0; r < codes.size(); ++r) {
        applies[r] &= static_cast<std::uint8_t>(clause.truth[codes[r]] == Truth::Always);
      }
    });
  }
  for (const auto& clause : rule.then) {
    table.column(clause.attribute).visit([&](auto codes) {
      for (std::size_t r = 0; r < codes.size(); ++r) {
        broken[r] |= applies[r] & static_cast<std::uint8_t>(clause.truth[codes[r]] == Truth::Never);
      }
    });
  }
}

void mark_broken(const Order& order, const Table& table, std::vector<std::uint8_t>& broken) {
  table.column(order.low).visit([&](auto low) {
    table.column(order.high).visit([&](auto high) {
      for (std::size_t r = 0; r < low.size(); ++r) {
        broken[r] |= static_cast<std::uint8_t>(order.excludes(low[r], high[r]));
      }
    });
  });
}

std::vector<std::uint8_t> broken_rows(const RowRules& rules, const Table& table) {
  std::vector<std::uint8_t> out(table.rows(), 0);
  for (const auto& rule : rules.rules) mark_broken(rule, table, out);
  for (const auto& order : rules.orders) mark_broken(order, table, out);
  return out;
}

std::set<AttributeId> attributes_of(const RowRules& rules) {
  std::set<AttributeId> out;
  for (const auto& rule : rules.rules) {
    for (const auto* condition : {&rule.when, &rule.then}) {
      for (const auto& clause : *condition) out.insert(clause.attribute);
    }
  }
  for (const auto& order : rules.orders) out.insert({order.low, order.high});
  return out;
}

// Clauses and orders that a row breaks.
int broken_clauses(const RowRules& rules, const std::vector<Code>& row) {
  int out = 0;
  for (const auto& rule : rules.rules) {
    if (!applies(rule, row)) continue;
    for (const auto& clause : rule.then) {
      out += clause.truth[row[clause.attribute]] == Truth::Never ? 1 : 0;
    }
  }
  for (const auto& order : rules.orders) {
    out += order.excludes(row[order.low], row[order.high]) ? 1 : 0;
  }
  return out;
}

// A column that a broken rule of the row names, at random; the row breaks one.
AttributeId column_of_broken_rule(const RowRules& rules, const std::vector<Code>& row, Rng& rng) {
  std::vector<AttributeId> columns;
  for (const auto& rule : rules.rules) {
    if (broken_clauses(std::span(&rule, 1), row) == 0) continue;
    for (const auto& clause : rule.when) columns.push_back(clause.attribute);
    for (const auto& clause : rule.then) {
      if (clause.truth[row[clause.attribute]] == Truth::Never) columns.push_back(clause.attribute);
    }
  }
  for (const auto& order : rules.orders) {
    if (!order.excludes(row[order.low], row[order.high])) continue;
    columns.insert(columns.end(), {order.low, order.high});
  }
  return columns[rng.below(columns.size())];
}

// Codes of the lower column that exclude the same codes of the higher one, and these.
void add_boxes(const Order& order, std::vector<ImpossibleBox>& out) {
  std::vector<std::int64_t> ends;  // of the higher column, each once
  for (const auto place : order.highest) {
    if (place != kAfterAll) ends.push_back(place);
  }
  std::ranges::sort(ends);
  ends.erase(std::unique(ends.begin(), ends.end()), ends.end());
  // A code of the lower column excludes the first so many ends, or in a long list nearly as many.
  const std::size_t grain = ends.size() / kMostBoxesOfOrder + 1;
  std::map<std::size_t, std::vector<bool>> groups;
  for (std::size_t code = 0; code < order.lowest.size(); ++code) {
    const auto below = std::ranges::lower_bound(ends, order.lowest[code]) - ends.begin();
    const std::size_t excluded = static_cast<std::size_t>(below) / grain * grain;
    if (excluded == 0) continue;
    groups.try_emplace(excluded, order.lowest.size(), false).first->second[code] = true;
  }
  for (auto& [excluded, codes] : groups) {
    std::vector<bool> of_high;
    for (const auto place : order.highest) of_high.push_back(place <= ends[excluded - 1]);
    out.push_back({{{.attribute = order.low, .codes = std::move(codes)},
                    {.attribute = order.high, .codes = std::move(of_high)}}});
  }
}

// What rules name of a row that breaks nothing, for rows that break an order whatever is done.
void copy_whole_rows(const RowRules& rules, Table& table, Rng& rng) {
  std::vector<std::uint8_t> wrong(table.rows(), 0);
  for (const auto& order : rules.orders) mark_broken(order, table, wrong);
  if (std::ranges::count(wrong, 0) == std::ssize(wrong)) return;
  const auto broken = broken_rows(rules, table);
  std::vector<std::size_t> whole;
  for (std::size_t r = 0; r < table.rows(); ++r) {
    if (broken[r] == 0) whole.push_back(r);
  }
  if (whole.empty()) return;
  const auto attributes = attributes_of(rules);
  for (std::size_t r = 0; r < table.rows(); ++r) {
    if (wrong[r] == 0) continue;
    const std::size_t from = whole[rng.below(whole.size())];
    for (const auto id : attributes) table.column(id).set(r, table.column(id)[from]);
  }
}

}  // namespace

bool breaks(const Rule& rule, std::span<const Code> row) {
  return applies(rule, row) && std::ranges::any_of(rule.then, [&](const auto& clause) {
           return clause.truth[row[clause.attribute]] == Truth::Never;
         });
}

std::vector<ImpossibleBox> impossible_boxes(const RowRules& rules) {
  std::vector<ImpossibleBox> out;
  for (const auto& rule : rules.rules) {
    for (const auto& clause : rule.then) {
      ImpossibleBox box;
      for (const auto& when : rule.when) {
        box.sides.push_back(
            {.attribute = when.attribute, .codes = codes_with(when, Truth::Always)});
      }
      auto excluded = codes_with(clause, Truth::Never);
      const auto same =
          std::ranges::find(box.sides, clause.attribute, &ImpossibleBox::Side::attribute);
      if (same == box.sides.end()) {
        box.sides.push_back({.attribute = clause.attribute, .codes = std::move(excluded)});
      } else {
        for (std::size_t i = 0; i < excluded.size(); ++i) {
          same->codes[i] = same->codes[i] && excluded[i];
        }
      }
      const bool empty = std::ranges::any_of(
          box.sides, [](const auto& side) { return std::ranges::count(side.codes, true) == 0; });
      if (!empty) out.push_back(std::move(box));
    }
  }
  for (const auto& order : rules.orders) add_boxes(order, out);
  return out;
}

std::size_t mend_rows(const RowRules& rules, Table& table) {
  if (rules.empty()) return 0;
  const auto broken = broken_rows(rules, table);
  const auto attributes = attributes_of(rules);
  RowMender mender(rules);
  std::size_t changed = 0;
  std::vector<Code> row(table.domain().size(), 0);  // of the attributes that rules name
  std::vector<Code> mended;
  for (std::size_t r = 0; r < table.rows(); ++r) {
    if (broken[r] == 0) continue;
    for (const auto attribute : attributes) row[attribute] = table.column(attribute)[r];
    mended = row;
    mender.mend(mended);
    if (mended == row) continue;
    for (const auto attribute : attributes) table.column(attribute).set(r, mended[attribute]);
    ++changed;
  }
  return changed;
}

void settle_rows(const RowRules& rules, Table& table, Rng& rng) {
  constexpr int kPasses = 4;
  constexpr int kTries = 50;  // partners a row may ask in a pass
  const auto attributes = attributes_of(rules);
  const auto read = [&](std::size_t r) {
    std::vector<Code> row(table.domain().size(), 0);
    for (const auto attribute : attributes) row[attribute] = table.column(attribute)[r];
    return row;
  };
  for (int pass = 0; pass < kPasses && !rules.empty(); ++pass) {
    const auto marks = broken_rows(rules, table);
    std::vector<std::size_t> broken;
    for (std::size_t r = 0; r < table.rows(); ++r) {
      if (marks[r] != 0) broken.push_back(r);
    }
    if (broken.empty()) return;
    rng.shuffle(std::span(broken));
    for (const std::size_t r : broken) {
      auto row = read(r);
      for (int t = 0; t < kTries && broken_clauses(rules, row) > 0; ++t) {
        // Others that are broken gain by an exchange as well, so half of the partners are such.
        const std::size_t other =
            t % 2 == 0 ? broken[rng.below(broken.size())] : rng.below(table.rows());
        const AttributeId column = column_of_broken_rule(rules, row, rng);
        auto partner = read(other);
        if (other == r || row[column] == partner[column]) continue;
        const int before = broken_clauses(rules, row) + broken_clauses(rules, partner);
        std::swap(row[column], partner[column]);
        if (broken_clauses(rules, row) + broken_clauses(rules, partner) < before) {
          table.column(column).set(r, row[column]);
          table.column(column).set(other, partner[column]);
        } else {
          std::swap(row[column], partner[column]);
        }
      }
    }
  }
  mend_rows(rules, table);
  copy_whole_rows(rules, table, rng);
}

}  // namespace tandem
