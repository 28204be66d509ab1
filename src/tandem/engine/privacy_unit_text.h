// SPDX-License-Identifier: Apache-2.0
#pragma once
// The privacy unit as users write it: --neighbors and --rows-per-person.

#include <cstdint>
#include <string>

#include "tandem/base/document.h"
#include "tandem/privacy/privacy_unit.h"

namespace tandem {

// UsageError for an unknown relation or a number out of range.
PrivacyUnit parse_privacy_unit(const std::string& neighbors, std::int64_t rows_per_person);

// Of a guarantee as release.json has it.
PrivacyUnit unit_in(const Document& guarantee);

// "replace-one, 1 row a person", or with "who may be absent".
std::string describe(const PrivacyUnit& unit);

}  // namespace tandem
