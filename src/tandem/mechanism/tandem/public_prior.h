// SPDX-License-Identifier: Apache-2.0
#pragma once
// All public sources as one prior, each trusted as many rows as it deserves.
//
// Held to models p_s of the sources by sum_s nu_s KL(p || p_s), p is held by nu = sum_s nu_s to
// their log-linear pool p0, proportional to prod_s p_s^(nu_s / nu). On one set of cliques that is a
// weighted sum of potentials.

#include <span>
#include <string>
#include <vector>

#include "tandem/mechanism/tandem/trust.h"
#include "tandem/mechanism/tandem/tuning.h"
#include "tandem/model/public/public_model.h"
#include "tandem/query/measurement.h"
#include "tandem/query/public_data.h"

namespace tandem {

// What public data says of a column, held against its measured marginal.
enum class Likeness {
  Alike,
  Shifted,  // its shares are others; what goes with which may be the same
  Foreign,  // its codes are others: of those that occur public data knows nothing
};

struct PublicSource {
  std::string name;
  std::size_t table = 0;     // which of the public tables
  std::size_t all_rows = 0;  // of it; the model's are without repeats
  PublicModel model;
  Trust trust;
  double fixed_nu = 0.0;                   // or 0: as learnt
  double scale = 1.0;                      // of what was learnt
  double missed = tuning::kUsuallyMissed;  // by a model of it: k of row_share.h
  std::vector<Likeness> columns;           // empty: all alike
  bool knows(const Clique& clique) const;  // no column of it is foreign
  double nu() const { return fixed_nu > 0.0 ? fixed_nu : scale * trust.nu(); }
};

struct PriorOptions {
  double ridge = tuning::kRidge;               // c
  double prior_spread = tuning::kPriorSpread;  // of log nu
  double spread = tuning::kTrustSpread;        // of each marginal's log nu
  double fixed_trust = 0.0;                    // nu / numax, instead of learning it
};

class PublicPrior {
 public:
  // n: private rows. Sources without rows are passed over.
  PublicPrior(const PublicData& data, double n, const PriorOptions& options, Threads threads);

  bool empty() const { return sources_.empty(); }
  std::span<PublicSource> sources() { return sources_; }
  std::span<const PublicSource> sources() const { return sources_; }
  double nu() const;
  bool is_learnt() const;  // some source's trust is
  void scale_trust(double by);
  // Holds the sources' columns against these marginals of single ones, one or more of each. A
  // source of which most columns are foreign speaks of something else and is dismissed.
  void judge_columns(std::span<const Measurement> one_ways, double n);
  // Those that these marginals are too noisy to judge by, or, where public data knows nothing, to
  // know more of than noise.
  std::vector<LinearQuery> doubtful_columns(std::span<const Measurement> one_ways, double n);
  std::span<const PublicSource> dismissed() const { return dismissed_; }
  bool knows(const Clique& clique) const;   // some source does
  bool is_alike(AttributeId column) const;  // in some source
  // Columns by themselves deserve little trust, what goes with what may deserve more: belief in it
  // starts half way, in logarithms, to full trust.
  void begin_interactions();
  double most() const;
  std::vector<double> trusts() const;  // nu of each source
  void fit(std::span<const Clique> cliques, double tolerance);
  std::vector<Factor> potentials() const;  // of p0

 private:
  PriorOptions options_;
  std::vector<PublicSource> sources_;
  std::vector<PublicSource> dismissed_;
};

}  // namespace tandem
