// SPDX-License-Identifier: Apache-2.0
#pragma once
// Every constant of the default mechanism that was chosen by measurement, in one place.
//
// Unless a line says otherwise they were set by looking at ADULT, Titanic and ACS
// (docs/decisions/0009-tandem.md), so a check on other tables is a sweep over this file. Where the
// effect of a change was measured, the line says how little or how much it moves.

#include <cstddef>

namespace tandem::tuning {

// ---- Rounds (tandem.cpp) ----
inline constexpr int kRoundsPerColumn =
    4;  // rounds for each column that the budget is laid out for
inline constexpr int kMoreRoundsPerColumn = 6;  // the same for large tables
inline constexpr double kLittleNoise =
    3e-4;  // share of the rows: noise below it makes a table large
inline constexpr double kRoundTolerance = 1e-3;  // of a fit during rounds, in units of its loss
inline constexpr double kFinalTolerance = 1e-4;  // of the last fit
inline constexpr int kMoreLooks =
    2;  // times that a column which public data may not know is measured again
inline constexpr double kLooksAtMost =
    0.25;  // share of the budget left that each of these may take
inline constexpr double kLookPreciser =
    4.0;  // precision of each of these, in multiples of the one before
inline constexpr double kVisible =
    6.0;  // sensitivities over epsilon from which a selection sees a score
// Predictions of effort alone: models that have a solver at the same time, and rounds that
// annealing leaves of those laid out.
inline constexpr double kModelsAtOnce = 1.5;
inline constexpr double kUsualRoundsPerColumn = 3.0;

// ---- The prior (public_prior.h, trust.h) ----
inline constexpr double kRidge = 0.2;        // rows of smoothing for each cell of a public table
inline constexpr double kPriorSpread = 2.0;  // standard deviation of log nu around log numax
inline constexpr double kTrustSpread = 1.5;  // of a marginal's log nu around that of its source
inline constexpr double kInteractionSpread = 1.0;  // of log nu, when it starts from that of columns
inline constexpr double kLeastWorth =
    0.25;  // rows; public data that is worth less is worth nothing
inline constexpr std::size_t kTrustPoints = 80;  // of the grid over log nu

// ---- Columns (public_prior.cpp) ----
// Rows that a column's own marginal would trust its source with. Where the shares differ by half of
// what they are that is about ten; where public data has other codes it is less than one.
inline constexpr double kForeign = 1.0;
inline constexpr double kShifted = 30.0;
inline constexpr double kSure = 5.0;  // logarithm of how much more likely that is than full trust
inline constexpr double kPerhaps = 1.0;  // the same, where another look may tell
inline constexpr double kUnseen =
    0.3;  // share of private rows whose codes public data doesn't have
inline constexpr double kSureUnseen =
    2.5;  // standard deviations of noise that this must stand out by

// ---- The tilted model (tilted_model.cpp) ----
// The public model is off by this much more than the estimate, in units of its own loss: still far
// less than the sampling noise of the public rows.
inline constexpr double kPriorTolerance = 30.0;
// Half the trust must bring the model nearer to its measurements by this many times what fitting
// noise more closely would.
inline constexpr double kMuchNearer = 2.5;
inline constexpr double kLeastTrust = 1.0;  // rows
// Share of numax below which columns by themselves say too little of dependence.
inline constexpr double kColumnsDiffer = 0.25;

// ---- Fillers (fillers.cpp) ----
// In another population shares differ sooner than dependence does. Without a filler its columns are
// next to independent, which is worse than a public clique that is off by as much as its own
// strength.
inline constexpr double kBelievedLonger = 10.0;

// ---- Public rows beside the model (row_share.cpp) ----
inline constexpr double kUsuallyMissed = 0.25;  // k of rows that count alike, without private data
inline constexpr double kMostMissed = 1.0;
inline constexpr std::size_t kEnoughRows = 100;      // public rows, for a trial in halves
inline constexpr std::size_t kMarginalsTried = 150;  // of a workload
inline constexpr double kMostCellsTried = 1 << 22;
inline constexpr double kTrialTolerance = 3e-2;  // of the fits of such a trial

// ---- What is told (public_report.cpp) ----
inline constexpr double kDistrusted = 0.1;    // share of numax below which public data contradicts
inline constexpr double kFew = 0.01;          // share of the private rows below which there are few
inline constexpr double kOverruled = 4.0;     // mean squared distance of a marginal, in variances
inline constexpr std::size_t kMostNamed = 5;  // columns in a sentence

}  // namespace tandem::tuning
