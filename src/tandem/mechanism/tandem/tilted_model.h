// SPDX-License-Identifier: Apache-2.0
#pragma once
// Public data and private measurements in one graphical model:
//
//   p = argmin sum_i |n q_i(p) - y_i|^2 / (2 sigma_i^2) + nu KL(p || p0),
//
// where p0 is the public prior on all one-ways, the fillers and every measured clique. Without
// public data it is the model that explains the measurements best. Post-processing throughout.

#include <span>
#include <vector>

#include "tandem/mechanism/tandem/fillers.h"
#include "tandem/mechanism/tandem/public_prior.h"
#include "tandem/model/pgm/graphical_model.h"
#include "tandem/model/pgm/tilted_pgm.h"
#include "tandem/query/measurement.h"

namespace tandem {

struct TiltedOptions {
  double tolerance = 1e-3;  // of each fit
  Threads threads{};
};

class TiltedModel {
 public:
  // `zeros`: minus infinity where a cell cannot occur, else 0; the model holds their cliques.
  TiltedModel(const Domain& domain, double n, PublicPrior prior, Fillers fillers,
              const TiltedOptions& options, std::vector<Factor> zeros = {});

  const GraphicalModel& model() const { return model_; }
  double nu() const { return prior_.nu(); }  // 0 without public data
  std::span<const Clique> measured() const { return measured_; }
  std::vector<Clique> held() const;  // what the model must hold: that, and what cannot occur
  std::span<const Measurement> measurements() const { return y_; }
  std::span<const Clique> fillers() const { return kept_.kept; }
  std::vector<Factor> multipliers() const;  // of p over p0
  // How far p is held where only this is asked for: next to nothing where public data knows no
  // more than the columns' names.
  double nu_of(const Clique& clique) const;
  const PublicPrior& prior() const { return prior_; }
  int propagations() const { return propagations_; }
  bool converged() const { return converged_; }

  // Takes marginals that were measured together one by one, the most surprising first: one shift,
  // say of the share of a sex, shows in many marginals and is held against public data once.
  void absorb_together(std::vector<Measurement> marginals);
  // Gives what was predicted before the values of y were seen, in counts.
  Factor absorb(Measurement y);
  // Fits the last model again, more exactly. Public data that few marginals speak against can have
  // been believed too much there: first trust is halved as long as that brings the model nearer to
  // the measurements than a fit to mere noise would come.
  void refine(double tolerance);

  // What the fillers pushed out by also measuring these cliques would have gained, beyond what is
  // lost anyway; weighted, in shares of L1.
  std::vector<double> crowded_out(std::span<const Clique> candidates) const;

 private:
  bool hold(const Clique& clique);  // as measured; false where it was
  void arrange_prior();             // fillers and p0, for what is measured
  void estimate();
  TiltedPgm tilted() const;
  void take(TiltedPgm fit);
  double expected_loss() const;
  void give_way();
  void learn_trust(const Measurement& y);
  void fit_freely(std::span<const Measurement> y);
  std::vector<Factor> held_to(std::span<const Factor> potentials) const;

  Domain domain_;
  double n_;
  PublicPrior prior_;
  Fillers fillers_;
  TiltedOptions options_;
  std::vector<Factor> zeros_;
  Fillers::Choice kept_;
  std::vector<Measurement> y_;
  std::vector<Clique> measured_;  // each once
  std::vector<Factor> freed_;     // multipliers that nothing holds back: public data can't know
  std::vector<Factor> multipliers_;
  GraphicalModel model_;
  double loss_ = 0.0;  // sum of |n q - y|^2 / (2 sigma^2)
  int propagations_ = 0;
  bool converged_ = true;
};

}  // namespace tandem
