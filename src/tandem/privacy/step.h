// SPDX-License-Identifier: Apache-2.0
#pragma once
// What the gate did in one step, for whoever reads the release: what was asked, how noisy the
// answer is and what it cost. Requests, prices and outcomes are public.

#include <cstddef>
#include <string>
#include <vector>

#include "tandem/base/units.h"
#include "tandem/data/clique.h"
#include "tandem/privacy/cost.h"
#include "tandem/query/measurement.h"

namespace tandem {

enum class StepKind {
  Measure,
  MeasureScore,
  MeasureConjunctions,
  Select,
  SelectCell,
  DrawCells,
  DrawConjunctions,
  Divide
};

struct Step {
  StepKind kind = StepKind::Measure;

  struct Measured {
    Clique clique;
    std::size_t values = 0;  // that came out
    double sigma = 0.0;      // standard deviation of each; 0: exact
  };
  std::vector<Measured> measured{};   // of a score: one value of no columns
  NoiseKind noise = NoiseKind::None;  // of all of them

  // Of a selection: what was drawn among how many. Of conjunctions: how many there are.
  std::size_t choices = 0;
  std::size_t draws = 0;
  double epsilon = 0.0;  // the parameter of each draw
  Clique chosen{};       // of one draw
  Origin origin = Origin::Private;
  std::size_t output = 0;  // of one draw of a cell: its number in the answer to the query

  std::size_t groups = 0;  // that rows were divided into
  std::size_t group = 0;   // which of them this step was in, from 1; 0: all rows

  Cost cost{};   // in the currency of the run; of a group's steps: inside what dividing cost
  Rho rho{0.0};  // the same as zCDP, rounded up
};

}  // namespace tandem
