// SPDX-License-Identifier: Apache-2.0
#include "tandem/mechanism/registry.h"

#include <fmt/core.h>

#include "tandem/base/error.h"
#include "tandem/base/text.h"

namespace tandem {

namespace mechanism {
#define TANDEM_MECHANISM(name) Mechanism name();
#include "tandem/mechanism/mechanisms.def"
#undef TANDEM_MECHANISM
}  // namespace mechanism

std::vector<Mechanism> all_mechanisms() {
  return {
#define TANDEM_MECHANISM(name) mechanism::name(),
#include "tandem/mechanism/mechanisms.def"
#undef TANDEM_MECHANISM
  };
}

Mechanism find_mechanism(const std::string& name) {
  std::vector<std::string> names;
  for (auto& candidate : all_mechanisms()) {
    if (candidate.name == name) return std::move(candidate);
    names.push_back(candidate.name);
  }
  throw UsageError(
      fmt::format(TANDEM_SETTING("mechanism") " {} is unknown; choose {}.", in_quotes(name),
                  names.size() == 1 ? in_quotes(names[0]) : "one of " + list_names(names, 40)));
}

}  // namespace tandem
