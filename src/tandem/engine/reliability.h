// SPDX-License-Identifier: Apache-2.0
#pragma once
// Whether noise leaves anything of the private table in a release. From released and public values
// alone.

#include <string>
#include <vector>

#include "tandem/mechanism/problem.h"
#include "tandem/mechanism/release.h"
#include "tandem/privacy/curator.h"

namespace tandem {

// What the reader of a release should know: that most measurements have more noise than the table
// has rows, or that the number of rows is itself a guess.
std::vector<Warning> reliability_warnings(const Release& release, const PrivacyUnit& unit);

// The same before anything is spent, for a table of at most `rows` rows, where it is certain: even
// with the whole budget for single columns. The curator holds no data.
std::vector<Warning> foreseen_warnings(const Curator& curator, const Problem& problem, double rows);

// What is to be known of a promise that is hardly one: an epsilon above 20, or a delta above one
// over the rows there are, as far as their number is public (0: it is not).
std::vector<Warning> promise_warnings(double epsilon, double delta, double rows);

}  // namespace tandem
