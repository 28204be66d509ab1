// SPDX-License-Identifier: Apache-2.0
#pragma once
// What a mechanism gives back: free to keep, refit and publish.

#include <memory>
#include <string>
#include <vector>

#include "tandem/model/model.h"
#include "tandem/query/measurement.h"

namespace tandem {

// With probability `confidence` the model's counts on this clique are, in sum over cells, within
// `l1` of the truth. Each bound stands alone: several together hold less surely.
struct ErrorBound {
  Clique clique;
  double l1 = 0.0;
  double confidence = 0.0;
  bool supported = false;  // a marginal that contains it was measured
};

struct Release {
  std::unique_ptr<Model> model;           // absent when only answers are released
  std::vector<Measurement> measurements;  // another model can be fitted to them, free of charge
  double total = 0.0;                     // rows of the private table: exact if public, else noisy
  std::vector<ErrorBound> error_bounds;   // of the workload's marginals, as far as there are any
  std::vector<std::string> notes;         // sentences on what the release is made of
  std::vector<std::string> warnings;      // sentences on what its reader should beware of
};

}  // namespace tandem
