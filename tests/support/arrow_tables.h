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

// The codes of each attribute as whole numbers, or as its labels.
inline std::vector<ArrowColumn> columns_of(const Table& table) {
  std::vector<ArrowColumn> out;
  for (AttributeId id = 0; id < table.domain().size(); ++id) {
    const auto& name = table.domain()[id].name;
    const auto& labels = table.domain()[id].labels;
    std::vector<std::int64_t> values;
    std::vector<std::string> texts;
    for (std::size_t r = 0; r < table.rows(); ++r) {
      values.push_back(table.column(id)[r]);
      if (!labels.empty()) texts.push_back(labels[table.column(id)[r]]);
    }
    out.push_back(labels.empty() ? numbers_column(name, "l", values)
                                 : texts_column(name, "u", texts));
  }
  return out;
}

// A schema that reads them.
inline Schema coded_schema(const Domain& domain) {
  std::vector<ColumnSchema> columns;
  for (const auto& attribute : domain.attributes()) {
    const auto& labels = attribute.labels;
    ColumnSchema column;
    column.name = attribute.name;
    column.codec =
        labels.empty() ? coded_codec(attribute.size) : labelled_codec(labels, 0, attribute.ordered);
    column.cells.kind = labels.empty() ? CellMeaning::Kind::Coded : CellMeaning::Kind::Label;
    column.cells.labels = labels;
    columns.push_back(std::move(column));
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
