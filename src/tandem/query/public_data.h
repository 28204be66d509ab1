// SPDX-License-Identifier: Apache-2.0
#pragma once
// The public tables that help: all of one domain, each from its own source.

#include <string>
#include <vector>

#include "tandem/data/table.h"

namespace tandem {

struct PublicTable {
  std::string name;  // as a release may show it: no path
  Table table;
};

struct PublicData {
  std::vector<PublicTable> tables;
  bool empty() const { return tables.empty(); }
  double rows() const {  // of all tables
    double all = 0.0;
    for (const auto& source : tables) all += static_cast<double>(source.table.rows());
    return all;
  }
};

}  // namespace tandem
