// SPDX-License-Identifier: Apache-2.0
#pragma once
// K rows of distributions, one for each column, and how they are trained until their marginals are
// near given ones.
//
// The loss is the sum of squared errors of cells, in proportions, by Adam with a cosine schedule.
// Results don't depend on the number of threads.

#include <cstddef>
#include <memory>
#include <span>
#include <vector>

#include "tandem/base/parallel.h"
#include "tandem/base/rng.h"
#include "tandem/base/team.h"
#include "tandem/model/generator/generator.h"
#include "tandem/model/generator/marginal_answers.h"
#include "tandem/model/model.h"
#include "tandem/query/factor.h"

namespace tandem {

// A marginal as it should be, in proportions; NaN for a cell of which nothing is known.
struct MarginalTarget {
  Clique clique;
  std::vector<float> values;
  float weight = 1.0F;     // of its cells in the loss
  float tolerance = 0.0F;  // errors count by what they are above this
};

struct TrainingSteps {
  int most = 100;
  double rate = 1e-3;      // of the first step; falls to zero along a cosine
  double threshold = 0.0;  // cells with a smaller error don't count; none left ends the training
  bool afresh = false;     // Adam forgets what it knows from former steps
};

class GeneratedRows {
 public:
  // Codes that `impossible` marks, column after column, have probability zero.
  GeneratedRows(Domain domain, std::unique_ptr<Generator> generator, std::size_t rows,
                const std::vector<char>& impossible, Threads threads);
  ~GeneratedRows();

  // Returns the number of steps taken.
  int fit(std::span<const MarginalTarget> targets, const TrainingSteps& steps);
  // Fits many marginals at once: each of `turns` turns takes `cells` of them, drawn by their
  // errors, and keeps the parameters of the turn after which all of them together were nearest.
  void fit_in_turns(std::span<const MarginalTarget> targets, std::size_t cells, int turns,
                    const TrainingSteps& each, Rng& rng);

  // Expected counts of `total` rows, in the order asked; one column at least.
  std::vector<Factor> project_all(std::span<const Clique> cliques, double total);

  // Parameters averaged over calls: each counts `share`, those before it the rest.
  void average_in(double share);
  void take_average();  // if there is one

  std::unique_ptr<Model> model(double total);

 private:
  void forward();
  void forget();
  void step(const MarginalAnswers& marginals, std::span<const float> of_cells,
            const std::vector<char>& wanted, double rate);

  Domain domain_;
  CodeLayout layout_;
  std::unique_ptr<Generator> generator_;
  std::vector<char> impossible_;
  Threads threads_;
  Team team_;
  Floats probabilities_;  // codes x K
  Floats of_probabilities_;
  Matrix P_, of_P_;
  Floats gradient_, first_moment_, second_moment_, average_;
  double first_power_ = 1.0;  // of Adam's decays, over all steps
  double second_power_ = 1.0;
};

// Bytes for each parameter and for each row and code, beside the generator's own.
double generated_rows_bytes(double parameters, double rows, double codes);

}  // namespace tandem
