// SPDX-License-Identifier: Apache-2.0
#pragma once
// Planted faults, to prove that the tests would find real ones: in privacy/, and in the files of
// data/ that read private rows. In every build but that of the mutant tests, mutant() is the
// constant false and the faults aren't compiled in.

namespace tandem {

enum class Mutant {
  None,
  HalfSensitivity,      // of queries and scores
  LargestTermOnly,      // a combination of errors is taken to move as far as its largest term
  IgnoreWeights,        // the sensitivity of a score leaves out its weights
  NoSlack,              // the sensitivity on the grid leaves out what flooring adds
  ReplaceAsRemove,      // replacing a row is taken to move as far as removing one
  ForgetRowsPerPerson,  // every person counts as one row
  UnitLeftBehind,       // an opened table protects one row a person, whatever was asked
  NobodyIsAbsent,       // a named person is taken to have a row in every neighbour
  AbsentForgotten,  // named people and users of pairs are taken to be there, whatever the gate does
  RowsTold,         // the number of rows is taken as public under every relation
  ScoreOfOneRow,    // the noise of a score covers one of a person's rows
  NoBound,          // columns of a map too large to compare are taken to be all alike
  BoundTooLow,      // or half as far apart as negative coefficients allow
  ProductAsOneAxis,   // a product of maps is taken to move as far as its first one
  LargestOfStack,     // queries measured together are taken to move as far as one of them
  LaplaceByL2,        // Laplace noise scaled to the L2 distance
  RoundSigmaDown,     // noise a tenth too small
  NoNoise,            // measurements come out exact
  SharedNoise,        // one noise for all cells of a measurement
  DoubleSharpness,    // selection at twice the rate it pays for
  LargestWins,        // selection takes the best candidate, without randomness
  CheapFlips,         // permute-and-flip at the price of the exponential mechanism
  RangeTwice,         // scores of conjunctions are taken to move twice as far as they do
  MonotoneReplace,    // replacing a row is taken to move conjunctions one way only
  NegationLosesRows,  // a negation's score falls by what its conjunction's rises, at half the price
  OneConjunction,     // noise of many conjunctions covers one of them
  SharperConjunctions,      // conjunctions are drawn 1% sharper than they pay for
  ConjunctionsRoundedDown,  // what they pay is rounded down
  OneConjunctionsRho,       // many draws of them state the rho of one
  StacksRhoHalved,          // queries measured together state half of their rho
  ChargeNothing,            // steps are drawn without asking the filter
  ChargeHalf,               // steps cost half of what they spend
  OneDrawPaid,              // many draws from one table at the price of one
  OneDrawsRho,              // the same for what a pure run states as rho
  RateRoundedUp,            // selection at a rate a rounding error above what it pays for
  PureReservesLess,         // a pure run reserves epsilon^2/8 of rho instead of epsilon^2/2
  PureSettlesHalf,          // a pure run settles half of its rho
  FreeGroups,               // dividing into groups costs nothing
  CheapGroupRho,            // a pure run states a quarter of the rho of dividing into groups
  GroupsOverlap,            // each group sees all rows
  SpendAfterDrawing,        // the filter is asked when the draw is done
  PeekAtTotal,              // the total comes out exact under add-remove
  KeepAllRows,              // rows beyond the person's share are not dropped
  OthersChooseRows,         // which rows a person keeps depends on how many others there are
  DomainFromRows,           // attributes are as large as the codes seen in private rows
  DrawAgain,                // a resumed step is drawn once more
  KeepNoRecord,             // results are used without being recorded
  TakeAnyRecord,            // a resumed step may have asked something else
  ForgetKindOfScore,        // a resumed selection may have been by another kind of error
  ForgetListOfCells,        // or among other cells
  ForgetWeights,            // queries measured together may have had other weights
  ForgetCostOfScore,        // a measured score may have cost something else
  RecordNoCost,             // steps are recorded as if they were free
  SettleFewerSteps,         // a run may settle at less than the steps that the ledger holds
  MixReturnsUnspent,        // pure and other runs together: what was not spent counts as given back
  MixRecords,               // a ledger takes runs that read records as lines and as quoted
  QuoteSwallowsLine,        // records as lines: a quote left open goes on in the next line
  NoLimitOfLines,           // quoted records: a quote left open takes any number of lines
  NoLimitOfBytes,           // or bytes
  LineStateStays,    // a record with a broken quote changes how the records behind it are read
  BlocksEndAtLines,  // quoted records are cut where a block ends
  End                // how many there are
};

#ifdef TANDEM_MUTANTS
bool mutant(Mutant which);
void plant(Mutant which);  // Mutant::None heals
#else
constexpr bool mutant(Mutant /*which*/) { return false; }
#endif

}  // namespace tandem
