// SPDX-License-Identifier: Apache-2.0
#pragma once
// Every shape of score that the gate knows, and combinations as mechanisms write them.

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "privacy/proofs/worlds.h"
#include "tandem/privacy/score_grid.h"

namespace tandem::proofs {

// One selection: among candidates, or among cells.
struct ScoreCase {
  std::string name;
  Domain domain;
  std::vector<Candidate> candidates;  // or
  std::vector<CellScores> cells;
  std::shared_ptr<const std::vector<std::vector<double>>> references;  // that `cells` borrow

  std::size_t kinds() const { return domain.cells(domain.all()); }
  ScoreGrid grid(const PrivacyUnit& unit) const;
  std::vector<std::int64_t> values(const ScoreGrid& grid, const Histogram& table) const;
  std::size_t select(Curator& curator, Cost cost, Selection how) const;
  std::size_t position(const CellChoice& choice) const;
};

// A selection whose references are still open, and what one person with one row should be found to
// move it by. Declarations for m rows are m times that (with replace-one, m > 1 and a score of
// one-sided cells, the larger of the two, since rows may also come and go).
struct ScoreForm {
  std::string name;
  Domain domain;
  std::vector<std::size_t> slots;  // sizes of the references
  double replace_one = 0.0;
  double add_remove = 0.0;
  std::function<ScoreCase(const std::vector<std::vector<double>>& references)> fill;

  double declared(const PrivacyUnit& unit) const;
};

std::vector<ScoreForm> candidate_forms(const Domain& domain);  // of at least two attributes
std::vector<ScoreForm> cell_forms(const Domain& domain);

// The forms over two attributes of two values, with fixed references.
std::vector<ScoreCase> score_cases();  // all of them
std::vector<ScoreCase> cell_cases();   // those among cells

}  // namespace tandem::proofs
