// SPDX-License-Identifier: Apache-2.0
#pragma once
// Tables of codes as streams of typed cells.

#include <fmt/core.h>

#include <memory>
#include <string>
#include <vector>

#include "support/arrow_for_tests.h"
#include "tandem/data/schema.h"
#include "tandem/data/table.h"
#include "tandem/source/row_stream.h"

namespace tandem::test {

// The codes of each attribute as whole numbers.
inline std::vector<ArrowColumn> columns_of(const Table& table) {
  std::vector<ArrowColumn> out;
  for (AttributeId id = 0; id < table.domain().size(); ++id) {
    std::vector<std::int64_t> values;
    for (std::size_t r = 0; r < table.rows(); ++r) values.push_back(table.column(id)[r]);
    out.push_back(numbers_column(table.domain()[id].name, "l", values));
  }
  return out;
}

// A schema that reads them as codes.
inline Schema coded_schema(const Domain& domain) {
  std::vector<ColumnSchema> columns;
  for (const auto& attribute : domain.attributes()) {
    columns.push_back({.name = attribute.name,
                       .description = {},
                       .codec = coded_codec(attribute.size),
                       .cells = {.kind = CellMeaning::Kind::Coded}});
  }
  return Schema(std::move(columns));
}

inline OpenRows open_of(StreamPlan plan) {
  const auto shared = std::make_shared<StreamPlan>(std::move(plan));
  return [shared] {
    ArrowArrayStream stream = stream_of(*shared);
    return OwnedStream(&stream);
  };
}

}  // namespace tandem::test
