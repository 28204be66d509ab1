// SPDX-License-Identifier: Apache-2.0
#pragma once
// How sharp one draw among conjunctions is, and what it costs: the two have to fit, to the last
// bit.

#include "tandem/base/units.h"
#include "tandem/privacy/exp_bounds.h"
#include "tandem/privacy/privacy_unit.h"

namespace tandem {

// Scores are counted in units of 2^-20 rows, which is exact: counts are whole and references are on
// the grid.
inline constexpr double kUnitOfConjunctions = 0x1p-20;

struct ConjunctionDraw {
  Rate rate;        // for a unit of score; rounded down
  Epsilon epsilon;  // that it costs; rounded up
};

// Privacy: how far apart one person can move two scores. A row adds 1 to the score of each
// conjunction and each negation that it fulfils and leaves the others, so m rows that come move all
// scores up, by 0 to m; where others go at the same time, by -m to m. docs/privacy.md.
double range_of_scores(const PrivacyUnit& unit);

// Privacy: a draw with probability ~ exp(rate * score) is of bounded range rate * range, and so
// pure at that epsilon and epsilon^2/8-zCDP (Cesar and Rogers 2021). REQUIRES: a positive rate.
ConjunctionDraw conjunction_draw(const PrivacyUnit& unit, double rate);

}  // namespace tandem
