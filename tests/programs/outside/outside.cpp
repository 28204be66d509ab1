// SPDX-License-Identifier: Apache-2.0
// A release from a table in memory, as somebody outside the tree would write it.
#include <tandem/tandem.h>
#include <cstdio>

int main() {
  tandem::Table table(tandem::Domain({{"smokes", 2, {}}, {"age", 5, {}}, {"region", 4, {}}}), 2000);
  for (std::size_t row = 0; row < table.rows(); ++row) {
    for (tandem::AttributeId id = 0; id < 3; ++id) table.column(id).set(row, (row >> id) % 2);
  }
  tandem::TableRun run;
  run.settings.epsilon = 1.0;
  const auto release = tandem::release_table(table, run);
  std::printf("%zu rows, %.0f smoke\n", release.rows->rows(),
              release.model->project({0}).values[1]);
}
