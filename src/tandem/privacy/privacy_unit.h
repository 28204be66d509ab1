// SPDX-License-Identifier: Apache-2.0
#pragma once
// Whom the guarantee protects: the neighbouring relation and how many rows one person may have.

#include <string_view>

namespace tandem {

enum class Neighbors {
  ReplaceOne,  // tables that differ in one person's rows; of the same public size n, see below
  AddRemove    // one table has one person's rows more; n is private
};

struct PrivacyUnit {
  Neighbors neighbors = Neighbors::ReplaceOne;
  int rows_per_person = 1;
  // A person may have no row at all, as where people are named and rows without a name are dropped.
  bool may_be_absent = false;
  bool operator==(const PrivacyUnit&) const = default;

  // Whether all neighbours have the same number of rows, so that n is public.
  bool keeps_rows() const {
    return neighbors == Neighbors::ReplaceOne && rows_per_person == 1 && !may_be_absent;
  }
  // Whether a guarantee for this unit is also one for `other`: the same relation, for people with
  // as many rows and more. Protecting people who may be absent protects those who may not.
  bool covers(const PrivacyUnit& other) const {
    return neighbors == other.neighbors && rows_per_person >= other.rows_per_person &&
           (may_be_absent || !other.may_be_absent);
  }
};

constexpr std::string_view name_of(Neighbors neighbors) {
  return neighbors == Neighbors::ReplaceOne ? "replace-one" : "add-remove";
}

}  // namespace tandem
