// SPDX-License-Identifier: Apache-2.0
#pragma once
// Which marginals of public data are worth a place in a model: those that a model of the ones
// before gets wrong by more than sampling noise, the greatest gains first.

#include <functional>
#include <span>
#include <vector>

#include "tandem/data/clique.h"
#include "tandem/model/public/public_model.h"

namespace tandem {

struct PublicClique {
  Clique clique;
  double gain = 0.0;   // |pub - q|_1 - noise when it was chosen, in shares
  double noise = 0.0;  // E |sampling noise|_1 of the public marginal
  Factor counts;       // the public marginal, of those chosen
};

// Counts of candidates are kept where all of them together have at most so many cells (half a
// gigabyte), and made anew each time they are looked at otherwise; answers to so many are held at
// once.
inline constexpr double kMostPublicCounts = 1 << 26;
inline constexpr double kPublicAnswersAtOnce = 1 << 25;

// Is asked of each clique that was chosen, in order; true: no more are needed.
using EnoughCliques = std::function<bool(const PublicClique&)>;

// Chooses among candidates of two or more attributes until none gains or fits into a model of
// `limit_mb`, or there are enough. Leaves `data` fitted to all one-ways and to those chosen, unless
// it ended because there were enough.
std::vector<PublicClique> public_structure(PublicModel& data, std::span<const Clique> candidates,
                                           double limit_mb, const EnoughCliques& enough = {});

}  // namespace tandem
