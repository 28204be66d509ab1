// SPDX-License-Identifier: Apache-2.0
#pragma once
// An answer to a query, with what is known of its error. Free to use, keep and publish.

#include <vector>

#include "tandem/base/units.h"
#include "tandem/query/linear_query.h"

namespace tandem {

enum class Origin { Private, Public };  // measured with noise, or taken from public data

enum class NoiseKind { None, Gaussian, Laplace };

struct Measurement {
  LinearQuery query;
  std::vector<double> values;
  NoiseKind noise = NoiseKind::None;
  Sigma sigma;  // standard deviation of each value's noise, in counts
  Origin origin = Origin::Private;
};

}  // namespace tandem
