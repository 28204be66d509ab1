// SPDX-License-Identifier: Apache-2.0
#include "tandem/data/rules.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
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
  explicit RowMender(std::span<const Rule> rules) : rules_(rules) {}

  void mend(std::vector<Code>& row) {
    for (std::size_t pass = 0; pass < rules_.size(); ++pass) {
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
      if (!any) return;
    }
  }

 private:
  using Clauses = std::vector<const ColumnCondition*>;

  std::optional<Code> code_for(const ColumnCondition& broken, const std::vector<Code>& row) {
    Clauses clauses = {&broken};
    for (const auto& rule : rules_) {
      if (!applies(rule, row)) continue;
      for (const auto& clause : rule.then) {
        if (clause.attribute == broken.attribute && &clause != &broken) clauses.push_back(&clause);
      }
    }
    const auto [at, added] = known_.try_emplace(std::move(clauses));
    if (added) at->second = first_fulfilling(at->first);
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
  std::map<Clauses, std::optional<Code>> known_;  // many rows break the same rules
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

std::set<AttributeId> attributes_of(std::span<const Rule> rules) {
  std::set<AttributeId> out;
  for (const auto& rule : rules) {
    for (const auto* condition : {&rule.when, &rule.then}) {
      for (const auto& clause : *condition) out.insert(clause.attribute);
    }
  }
  return out;
}

// Clauses that a row breaks.
int broken_clauses(std::span<const Rule> rules, const std::vector<Code>& row) {
  int out = 0;
  for (const auto& rule : rules) {
    if (!applies(rule, row)) continue;
    for (const auto& clause : rule.then) {
      out += clause.truth[row[clause.attribute]] == Truth::Never ? 1 : 0;
    }
  }
  return out;
}

// A column that a broken rule of the row names, at random; the row breaks one.
AttributeId column_of_broken_rule(std::span<const Rule> rules, const std::vector<Code>& row,
                                  Rng& rng) {
  std::vector<AttributeId> columns;
  for (const auto& rule : rules) {
    if (broken_clauses(std::span(&rule, 1), row) == 0) continue;
    for (const auto& clause : rule.when) columns.push_back(clause.attribute);
    for (const auto& clause : rule.then) {
      if (clause.truth[row[clause.attribute]] == Truth::Never) columns.push_back(clause.attribute);
    }
  }
  return columns[rng.below(columns.size())];
}

}  // namespace

bool breaks(const Rule& rule, std::span<const Code> row) {
  return applies(rule, row) && std::ranges::any_of(rule.then, [&](const auto& clause) {
           return clause.truth[row[clause.attribute]] == Truth::Never;
         });
}

std::vector<ImpossibleBox> impossible_boxes(std::span<const Rule> rules) {
  std::vector<ImpossibleBox> out;
  for (const auto& rule : rules) {
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
  return out;
}

std::size_t mend_rows(std::span<const Rule> rules, Table& table) {
  if (rules.empty()) return 0;
  std::vector<std::uint8_t> broken(table.rows(), 0);
  for (const auto& rule : rules) mark_broken(rule, table, broken);
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

void settle_rows(std::span<const Rule> rules, Table& table, Rng& rng) {
  constexpr int kPasses = 4;
  constexpr int kTries = 50;  // partners a row may ask in a pass
  const auto attributes = attributes_of(rules);
  const auto read = [&](std::size_t r) {
    std::vector<Code> row(table.domain().size(), 0);
    for (const auto attribute : attributes) row[attribute] = table.column(attribute)[r];
    return row;
  };
  for (int pass = 0; pass < kPasses && !rules.empty(); ++pass) {
    std::vector<std::uint8_t> marks(table.rows(), 0);
    for (const auto& rule : rules) mark_broken(rule, table, marks);
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
}

}  // namespace tandem
