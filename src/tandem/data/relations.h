// SPDX-License-Identifier: Apache-2.0
#pragma once
// What holds between the columns of a row: orders, and columns that follow from others. Public
// knowledge, from the schema; docs/schema.md says what it means.
//
//   order   = side ( "<" | "<=" | ">" | ">=" ) side { ... }
//   side    = part [ ( "+" | "-" ) part ]                 a column, and a constant or none
//   derive  = column "=" part { ( "+" | "-" ) part } [ "in" unit ]
//   part    = ( column | number | date ) [ unit ]

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "tandem/base/document.h"
#include "tandem/data/column_schema.h"
#include "tandem/data/order.h"

namespace tandem {

// A column that is never measured: when rows are written, it is computed from others.
struct Derived {
  ColumnSchema column;     // how it is written
  std::string text;        // "length = discharged - admitted"
  std::size_t before = 0;  // measured columns that stand before it in files

  // A number is a sum, in ticks of the column.
  struct Term {
    AttributeId attribute = 0;
    Place place;
  };
  std::vector<Term> terms = {};
  std::int64_t constant = 0;

  // A date is another one and some steps.
  struct Start {
    AttributeId attribute = 0;
    CalendarUnit unit = CalendarUnit::Days;  // of its ticks
  };
  struct Step {
    std::optional<AttributeId> attribute = {};  // `amount` times a number of this column
    std::int64_t stride = 1;                    // ticks of 1 there
    std::int64_t amount = 0;
    CalendarUnit unit = CalendarUnit::Days;
  };
  std::optional<Start> start = {};
  std::vector<Step> steps = {};

  std::vector<AttributeId> needs() const;
  // Its tick, from those of all measured columns; nothing where one that it needs is missing.
  std::optional<std::int64_t> tick(std::span<const std::optional<std::int64_t>> values) const;
};

struct Relations {
  std::vector<Order> orders;
  std::vector<Derived> derived;
  bool empty() const { return orders.empty() && derived.empty(); }
};

// Takes the columns that are derived out of `columns`, so that the measured ones are left.
// UsageError that says where and what, when a relation can't be understood, can't be kept or does
// nothing.
Relations read_relations(const Document& list, std::vector<ColumnSchema>& columns);

}  // namespace tandem
