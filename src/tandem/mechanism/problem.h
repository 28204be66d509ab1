// SPDX-License-Identifier: Apache-2.0
#pragma once
// What a mechanism is asked to do. All of it is public.

#include <vector>

#include "tandem/data/domain.h"
#include "tandem/data/rules.h"
#include "tandem/query/public_data.h"
#include "tandem/query/workload.h"

namespace tandem {

struct Problem {
  Domain domain;
  Workload workload;
  PublicData public_data;                   // or none
  std::vector<ImpossibleBox> impossible{};  // what the rules of the schema exclude
};

}  // namespace tandem
