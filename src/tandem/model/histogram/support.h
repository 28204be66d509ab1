// SPDX-License-Identifier: Apache-2.0
#pragma once
// Different rows with a weight each: where a histogram of rows can put its mass. All public.

#include <cstddef>
#include <span>
#include <vector>

#include "tandem/base/rng.h"
#include "tandem/data/table.h"
#include "tandem/query/public_data.h"

namespace tandem {

struct Support {
  Table rows;                   // all different
  std::vector<double> weights;  // one a row: not negative, of positive sum
};

// Every row of the domain, in row-major order, all of weight 1. The caller has checked the size.
Support whole_domain(const Domain& domain);

// `count` different rows drawn evenly from the domain, all of weight 1; all there are if not more.
Support random_rows(const Domain& domain, std::size_t count, Rng& rng);

// The different rows of all public tables. A table counts by its size, or as much as its share
// says.
Support public_rows(const PublicData& data, std::span<const double> shares = {});

}  // namespace tandem
