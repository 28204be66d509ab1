// SPDX-License-Identifier: Apache-2.0
#pragma once
// How many private rows a public source is worth, learnt from how well it predicts measurements.
//
// A model held to public data by nu rows predicts shares z with a variance of z (1 - z) / nu. Each
// marginal, when it is measured for the first time, has a likelihood as a function of nu,
//
//   ll_r(v) = sum_t log N(y_r[t] / n; z_r[t], sigma^2 / n^2 + z_r[t] (1 - z_r[t]) / v),
//
// where z_r is what was predicted before y_r was known. Marginals are trusted differently: log v of
// each is spread around log nu. nu is the most likely one, given that at best it is numax.
// Post-processing: sees released values alone.

#include <span>
#include <vector>

#include "tandem/mechanism/tandem/tuning.h"

namespace tandem {

struct TrustOptions {
  double most = 1.0;      // numax, the trust in public rows from the same distribution
  double expected = 0.0;  // nu before anything is observed; 0: numax
  double prior_spread = tuning::kPriorSpread;  // of log nu around that
  double spread = tuning::kTrustSpread;        // of a marginal's log v around log nu
};

class Trust {
 public:
  explicit Trust(const TrustOptions& options);

  // Both as shares; sigma is the noise of each share of y.
  void observe(std::span<const double> predicted, std::span<const double> y, double sigma);
  double nu() const;
  double most() const { return options_.most; }

 private:
  TrustOptions options_;
  std::vector<double> log_nu_;      // the grid
  std::vector<double> log_belief_;  // on the grid, up to a constant
};

// The trust that one marginal speaks for, and how much more likely, in logarithms, it is then than
// with full trust. Both as shares.
struct OwnTrust {
  double nu = 0.0;
  double surer = 0.0;
};
OwnTrust own_trust(std::span<const double> predicted, std::span<const double> y, double sigma,
                   double most);

// How surprising y is to a prediction held by nu rows: its mean squared standardised distance.
double surprise(std::span<const double> predicted, std::span<const double> y, double sigma,
                double nu);

}  // namespace tandem
