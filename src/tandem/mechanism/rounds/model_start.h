// SPDX-License-Identifier: Apache-2.0
#pragma once
// What mechanisms on graphical models share: where their models start, what they will take, and how
// a fitted one becomes a release.

#include <span>
#include <string>
#include <vector>

#include "tandem/mechanism/plan.h"
#include "tandem/mechanism/problem.h"
#include "tandem/mechanism/release.h"
#include "tandem/model/pgm/estimate_pgm.h"
#include "tandem/privacy/curator.h"
#include "tandem/query/linear_query.h"

namespace tandem {

// A model before anything is measured: every column, and what cannot occur.
struct ModelStart {
  std::vector<Factor> zeros;      // minus infinity where the schema's rules exclude a cell, else 0
  std::vector<Clique> cliques;    // of the zeros: the model holds them from the beginning
  double mb = 0.0;                // its size
  std::vector<Warning> warnings;  // rules that there is no room for
};

// UsageError when the schema's rules contradict each other, as far as 64 MB can tell. For every
// mechanism: one without a graphical model would release rows that break them.
void require_possible_row(const Problem& problem);

// Rules may take a quarter of the limit; those too large for that are left to the rows, which are
// settled after they are drawn. UsageError that names the largest columns when they alone exceed
// the limit, and for rules that contradict each other.
ModelStart start_model(const Problem& problem, double limit_mb);

// What a mechanism does with its models.
struct Workings {
  double rounds = 1.0;
  double models = 1.0;         // that are held with a solver at the same time
  bool far_answers = true;     // the model is asked for marginals that it has no table of
  bool full_at_once = false;   // it has its size from the first round on
  bool public_counts = false;  // all candidates are also counted in public data
  double rows_in_noise = 0.0;  // private rows over the noise of one at the whole budget; 0: unknown
  double public_rows = 0.0;    // that the model may start from
};
Effort effort(const Domain& domain, std::span<const Clique> candidates, double limit_mb,
              const Workings& workings);

// n / sigma for Workings, of the rows that are expected.
double rows_in_noise(double rows_expected, const Curator& curator);

// Every part of every marginal of the workload, without those of a single cell, which everybody
// knows, and those that no model within the limit can hold. UsageError when none is left.
std::vector<Clique> candidates_of(const Problem& problem, double limit_mb);

// One-way marginals of the columns with more than one value.
std::vector<LinearQuery> informative_columns(const Domain& domain);

// The columns of each clique of the model's tree, for the facts of a release.
Document structure_of(const GraphicalModel& model);

// The fitted model with what it was fitted to; a warning if the fit was cut off.
Release graphical_release(PgmFit fit, std::vector<Measurement> y, double total,
                          const ModelStart& start);

}  // namespace tandem
