// SPDX-License-Identifier: Apache-2.0
#pragma once
// How a query's noise is scaled and drawn. Inside the gate only.

#include <cstdint>
#include <span>
#include <vector>

#include "tandem/privacy/cost.h"
#include "tandem/privacy/entropy.h"
#include "tandem/privacy/filter.h"
#include "tandem/privacy/sensitivity.h"
#include "tandem/query/factor.h"
#include "tandem/query/linear_query.h"
#include "tandem/query/measurement.h"

namespace tandem {

// How to draw a query's noise, in units of the query's map.
struct NoisePlan {
  NoiseKind kind = NoiseKind::None;
  double units = 0.0;  // sigma of a Gaussian or scale of a Laplace: exact, not below the need
};

// Privacy: public. A scale the samplers can't draw is refused here, before anything is charged.
NoisePlan plan_noise(const LinearQuery& query, const QuerySensitivity& sensitivity,
                     Currency currency, Cost cost, NoiseKind kind);
// The same for whatever has such a sensitivity.
NoisePlan plan_noise(const QuerySensitivity& sensitivity, Currency currency, Cost cost,
                     NoiseKind kind);

// Noise that a weight makes smaller, rounded up to what the samplers can draw.
NoisePlan divided(const NoisePlan& plan, std::int64_t weight);

double standard_deviation(const NoisePlan& plan, double unit);

void add_noise(const NoisePlan& plan, std::span<std::int64_t> values, EntropySource& entropy);

// The exact answer in units of the map: whole numbers.
std::vector<std::int64_t> exact_answer(const LinearQuery& query, const Factor& counts);

}  // namespace tandem
