// SPDX-License-Identifier: Apache-2.0
#pragma once
// Every mechanism, by name.

#include <string>
#include <vector>

#include "tandem/mechanism/mechanism.h"

namespace tandem {

std::vector<Mechanism> all_mechanisms();  // in the order of mechanisms.def

// UsageError that lists the known ones.
Mechanism find_mechanism(const std::string& name);

}  // namespace tandem
