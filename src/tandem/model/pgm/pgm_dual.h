// SPDX-License-Identifier: Apache-2.0
#pragma once
// The convex problem behind the estimation of a graphical model, as seen from its dual.
//
//   minimise over distributions p   f(p) + nu KL(p || p0),   f(p) = sum_i |A_i p - b_i|^2 / (2
//   t_i^2)
//
// where b_i are noisy answers and t_i their noise, both as shares of the total, and p0 is the base
// of a belief propagation. Marginals enter f by their interactions (marginal_lattice.h), other
// linear maps as they are; either way f(p) = sum_j c_j |B_j p - z_j|^2 / 2. The solution is p = p0
// exp(sum_j B_j' w_j) / Z(w) for the minimiser w of
//
//   G(w) = log Z(w) + sum_j ( nu |w_j|^2 / (2 c_j) - <w_j, z_j> ),
//
// which is smooth and convex, and whose value and gradient take one propagation. At any w the
// primal value of p(w) is above the optimum by at most sum_j c_j |B_j p - z_j + nu w_j / c_j|^2
// / 2.
//
// The search is over x: for marginals a table on each largest measured clique, whose interactions
// are w; for a map w itself. Tables that differ by a shift from one clique to another are the same
// w, so the search has flat directions, which do no harm, and no steep and narrow ones.

#include <cstddef>
#include <span>
#include <vector>

#include "tandem/model/pgm/belief_propagation.h"
#include "tandem/model/pgm/interactions.h"
#include "tandem/query/factor.h"
#include "tandem/query/measurement.h"

namespace tandem {

class PgmDual {
 public:
  // The tree is made for the measured cliques and for `others`. Every measurement but the total
  // has noise. The team is borrowed, for large models.
  PgmDual(const Domain& domain, std::span<const Measurement> measurements, double total,
          std::span<const Clique> others, Team* team = nullptr);

  std::size_t dimension() const { return dimension_; }  // of x
  double total() const { return total_; }
  // The loss that noise alone would leave, if there were nothing to choose: a half for each answer.
  double noise_loss() const { return noise_loss_; }
  const BeliefPropagation& propagation() const { return propagation_; }

  // The base p0, from logarithms on cliques that are inside measured or other ones.
  void set_base(std::span<const Factor> potentials);
  void set_strength(double nu) { nu_ = nu; }

  // G at x, and its gradient. Not finite when x is too far out for linear space.
  double evaluate(std::span<const double> x, std::span<double> gradient);

  // Of the last p:
  double loss() const { return loss_; }  // f
  double gap() const { return gap_; }    // its primal value is above the optimum by at most this
  // One over the second derivatives of G, seen from a step that takes off this gradient: the mean
  // slope between a cell's probability and what it is to become.
  void inverse_curvature(std::span<const double> gradient, std::span<double> out) const;
  // The x that would be optimal if the last p were.
  void stationary(std::span<double> x);
  // f(p) - min f is at most this: what a linear model of f could still gain. Takes a propagation.
  double frank_wolfe_gap();

  // p(x) becomes the base, and x is added to its potentials; x = 0 is then where the search is.
  void move_base(std::span<const double> x);
  std::vector<Factor> potentials() const;  // of the base

 private:
  struct Map {
    std::size_t factor = 0;
    std::size_t start = 0;             // in x
    std::vector<double> answers;       // b
    double variance = 0.0;             // t^2
    std::vector<std::size_t> offsets;  // of its rows in columns and coefficients
    std::vector<std::size_t> columns;  // cells in the propagation's order
    std::vector<double> coefficients;
    std::vector<double> residual;  // A p - b
  };

  void add_map(const Measurement& measurement);
  std::size_t factor_of(const Clique& clique) const;
  void load(std::span<const double> x);  // the propagation's potentials
  bool base_from_logarithms();           // of found_; false when nothing can be
  void take_residuals();                 // of the last p
  void take_shares();
  void lift_cells(double below, double to);  // their share times a factor's cells
  static double share_of(const Map& map, std::span<const double> p, std::size_t output);

  double total_;
  BeliefPropagation propagation_;
  Interactions lattice_;
  std::vector<std::size_t> factor_of_top_;
  std::vector<double> ridge_of_top_;  // second derivative of G's quadratic over nu, for each top
  std::vector<Map> maps_;
  std::size_t dimension_ = 0;
  double nu_ = 1.0;
  double noise_loss_ = 0.0;
  double loss_ = 0.0;
  double gap_ = 0.0;
  std::vector<double> w_, residual_, pull_;  // interactions; z(p) - z; nu w / c - z
  std::vector<double> marginals_;            // of the tops
  std::vector<double> share_;                // probability that each of x sees at the base
  std::vector<std::vector<double>> found_;   // potentials of the base, by factor
};

}  // namespace tandem
