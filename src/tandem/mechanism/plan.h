// SPDX-License-Identifier: Apache-2.0
#pragma once
// What a mechanism would do with a budget, before it does anything: numbers with documented keys
// (docs/formats.md), and a sentence for each.

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "tandem/base/document.h"

namespace tandem {

struct PlanStep {
  std::string key;   // what is done: "measure", "select", "start", ...
  Document numbers;  // an object
  std::string sentence;
};

// What a run takes, before it starts: from above for memory, roughly for time.
struct Effort {
  double model_bytes = 0.0;
  double bytes = 0.0;    // the model, its solver, answers and counts of the candidates
  double seconds = 0.0;  // on one core, without reading and counting the table; 0: not predicted
  // Where more rows are needed than were expected: how many, about, and what a run would say that
  // has no more. The rest is for that many.
  double least_rows = 0.0;
  std::string refusal{};
};

using Plan = std::vector<PlanStep>;

// "Measures 12 one-way marginals, each count with noise of standard deviation 28.3."
PlanStep plan_to_measure(std::size_t marginals, const std::string& what, double sigma);

// "Then selects and measures the marginals that the model gets wrong, among 298, ..."
PlanStep plan_to_anneal(std::size_t candidates, double sigma);

// "20 rounds, each of which selects one of 5,000 cells and measures it ..."
PlanStep plan_rounds_of_cells(std::int64_t rounds, std::size_t cells, double sigma);

// "Keeps a weight for each of at most 2,000 rows, in about 3 MB."
PlanStep plan_to_weigh(double rows, double bytes);

}  // namespace tandem
