// SPDX-License-Identifier: Apache-2.0
#pragma once
// Whom the guarantee protects: the neighbouring relation and how many rows one person may have.

#include <string_view>

namespace tandem {

enum class Neighbors {
  ReplaceOne,  // tables of the same public size n that differ in one person's rows
  AddRemove    // one table has one person's rows more; n is private
};

struct PrivacyUnit {
  Neighbors neighbors = Neighbors::ReplaceOne;
  int rows_per_person = 1;
  bool operator==(const PrivacyUnit&) const = default;
};

constexpr std::string_view name_of(Neighbors neighbors) {
  return neighbors == Neighbors::ReplaceOne ? "replace-one" : "add-remove";
}

}  // namespace tandem
