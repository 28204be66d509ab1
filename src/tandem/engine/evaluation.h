// SPDX-License-Identifier: Apache-2.0
#pragma once
// `tandem evaluate`: a synthetic table against the real one. INTERNAL: it reads private data and
// prints what it finds, so its output is not for publication.
//
// Raw values are judged. A value of the real table that the schema has no place for is a code of
// its own, which no made row has: a file that was read wrongly scores badly. The errors are given
// once more with the real table as a release reads it, repaired and mended.

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "tandem/base/document.h"
#include "tandem/base/parallel.h"
#include "tandem/engine/fit/findings.h"
#include "tandem/engine/preparation.h"
#include "tandem/eval/group_score.h"
#include "tandem/eval/groups.h"
#include "tandem/eval/metrics.h"
#include "tandem/eval/yardstick.h"

namespace tandem {

struct EvaluationRequest {
  std::string real;
  std::string synthetic;
  std::string schema;
  std::string workload;               // without one: up to three columns together
  std::vector<std::string> group_by;  // columns
  // Of the contest's score: pairs of columns to draw, 0 for all, and how far a group's number of
  // rows may be off. The score is made where either is given, with group_by.
  std::optional<std::int64_t> pairs;
  std::optional<double> count_penalty;
  FormatSettings text;  // of the real table
  Threads threads;
  Reading reading;
};

// How far a column, or two, are apart: L1 distances, 0 to 2.
struct MarginalJudgement {
  std::vector<std::string> columns;
  std::optional<double> error;  // none of a column with too many values to count
  std::optional<double> tenth;  // of a random sample of a tenth of the real rows
};

// The points of a number or date: the least, 5, 25, 50, 75 and 95 percent, the greatest.
struct Quantiles {
  std::string column;
  bool numeric = false;  // or a date
  struct Side {
    std::size_t values = 0;
    bool sampled = false;  // too many to keep them all; the outer two are exact
    std::vector<double> points;
    std::vector<std::string> texts;
  };
  Side real;
  Side synthetic;
};

struct ColumnFitCounts {
  std::string column;
  std::array<std::size_t, kValueFits> real{};
  std::array<std::size_t, kValueFits> synthetic{};
};

struct GroupJudgement {
  std::vector<std::string> values;  // of the columns of --group-by
  GroupError group;
};

// The score of the NIST 2020 Temporal Map Challenge, eval/group_score.h.
struct ContestScore {
  GroupScore score;
  std::vector<std::vector<std::string>> keys;  // of each group, as texts
  std::size_t pairs = 0;
  double count_penalty = 0.0;
};

// A rule, or whatever else the schema says of several columns, and rows that break it.
struct BrokenStatement {
  std::string text;
  std::size_t real = 0;
  std::size_t synthetic = 0;
};

struct EvaluationResult {
  std::size_t real_rows = 0;
  std::size_t synthetic_rows = 0;
  Evaluation evaluation;                   // of raw values
  Evaluation repaired;                     // of the real table as a release reads it
  bool any_repair = false;                 // whether the two may differ
  Yardstick yardstick;                     // of the workload
  Yardstick pair_yardstick;                // of all pairs, for the score
  std::vector<MarginalJudgement> columns;  // the worst first
  std::vector<MarginalJudgement> pairs;    // the same; none without a score
  std::vector<ColumnFitCounts> fits;       // in the schema's order
  std::vector<Quantiles> quantiles;        // those furthest apart first
  std::vector<std::string> group_by;
  std::vector<GroupJudgement> groups;
  std::optional<ContestScore> contest;  // with pairs or a penalty
  std::vector<BrokenStatement> rules;
  std::vector<BrokenStatement> relations;
  std::vector<Finding> findings;   // of the real file, the worst first
  std::vector<std::string> notes;  // sentences: columns that were ignored, and the like
};

EvaluationResult evaluate_files(const EvaluationRequest& request);

Document to_document(const EvaluationResult& result);  // docs/formats.md, "evaluate"
std::string to_text(const EvaluationResult& result);

}  // namespace tandem
