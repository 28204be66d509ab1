// SPDX-License-Identifier: Apache-2.0
#pragma once
// The rows that a refit is asked for: `--where "sex = F and age < 15"`, with what the schema's
// rules say of such rows: where they cannot be married, only other values are asked for.

#include <string>
#include <vector>

#include "tandem/data/rules.h"
#include "tandem/data/schema.h"
#include "tandem/model/pgm/graphical_model.h"

namespace tandem {

class RowCondition {
 public:
  RowCondition() = default;  // every row
  // UsageError when it can't be read, cuts a range of numbers in two (a model knows ranges, not
  // what lies inside them), leaves a column without values, or contradicts a rule of the schema.
  RowCondition(const std::string& text, const Schema& schema);

  bool empty() const { return condition_.empty(); }
  bool names(AttributeId id) const;               // whether the text does
  bool allows(AttributeId id, Code code) const;   // by what the text says
  std::vector<Restriction> stated() const;        // what the text says
  std::vector<Restriction> restrictions() const;  // and what rules add to it

  // Rows that a model made from these restrictions, settled by the schema's rules and still
  // fulfilling the condition. UsageError when rules leave no such rows.
  void settle(const Schema& schema, Table& rows, Rng& rng) const;

 private:
  bool holds(const Table& rows) const;  // for every row

  std::string text_;
  Condition stated_;
  Condition condition_;  // with what rules add
};

}  // namespace tandem
