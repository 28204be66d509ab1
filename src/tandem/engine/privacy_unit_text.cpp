// SPDX-License-Identifier: Apache-2.0
#include "tandem/engine/privacy_unit_text.h"

#include <fmt/core.h>

#include "tandem/base/error.h"
#include "tandem/base/text.h"

namespace tandem {

PrivacyUnit parse_privacy_unit(const std::string& neighbors, std::int64_t rows_per_person) {
  PrivacyUnit unit;
  if (neighbors == name_of(Neighbors::AddRemove)) {
    unit.neighbors = Neighbors::AddRemove;
  } else if (neighbors != name_of(Neighbors::ReplaceOne)) {
    throw UsageError(
        fmt::format(TANDEM_SETTING("neighbors") " is {}; choose replace-one or add-remove.",
                    in_quotes(neighbors)));
  }
  if (rows_per_person < 1 || rows_per_person > 1'000'000) {
    throw UsageError(fmt::format(TANDEM_SETTING("rows-per-person") " is {}; choose 1 to 1,000,000.",
                                 rows_per_person));
  }
  unit.rows_per_person = static_cast<int>(rows_per_person);
  return unit;
}

PrivacyUnit unit_in(const Document& guarantee) {
  PrivacyUnit unit = parse_privacy_unit(guarantee.at("neighbors").as_string(),
                                        guarantee.at("rows_per_person").as_integer());
  const auto* absent = guarantee.find("person_may_be_absent");
  unit.may_be_absent = absent != nullptr && absent->as_bool();
  return unit;
}

std::string describe(const PrivacyUnit& unit) {
  return fmt::format("{}, {} row{} a person{}", name_of(unit.neighbors), unit.rows_per_person,
                     unit.rows_per_person == 1 ? "" : "s",
                     unit.may_be_absent ? " who may be absent" : "");
}

}  // namespace tandem
