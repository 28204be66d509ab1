// SPDX-License-Identifier: Apache-2.0
#pragma once
// What noisy marginals say together, sorted by interaction.
//
// A marginal on B is the sum over all A inside B of its interaction z_A, a table on A that sums to
// zero along every axis, spread evenly over the other axes of B. Interactions of different A are
// orthogonal, so the squared distance between two marginals is the sum of their interactions'; and
// marginals that were measured with noise agree or disagree interaction by interaction. All of them
// together are one estimate of each interaction, with one precision:
//
//   sum_i |q_i(p) - b_i|^2 / t_i^2 = sum_A precision_A |z_A(p) - z_A|^2 + a constant.
//
// On the right nothing is said twice. That is what makes the estimation of a model well
// conditioned.

#include <cstddef>
#include <span>
#include <vector>

#include "tandem/model/tables/axis_order.h"

namespace tandem {

class Interactions {
 public:
  // `tops`: cliques none of which lies inside another. Interactions: of all their nonempty parts.
  Interactions(const AxisOrder& order, std::vector<Clique> tops);

  std::span<const Clique> tops() const { return tops_; }
  std::size_t top_start(std::size_t top) const { return top_start_[top]; }
  std::size_t top_cells() const { return top_start_.back(); }
  std::size_t interactions() const { return parts_.size(); }
  std::size_t interaction_cells() const { return part_start_.back(); }

  // Adds an answer for a clique inside a top (cells in the order), with the variance of each cell.
  // That it should sum to 1 is known; how far it doesn't is no interaction, and a constant too.
  void observe(const Clique& clique, std::span<const double> answer, double variance);
  double precision(std::size_t part) const { return precision_[part]; }
  // What all answers say of the interactions; zero where nothing was observed.
  std::span<const double> estimate() const { return estimate_; }
  // Sum over observed answers of |b_i - what the estimates make of it|^2 / t_i^2.
  double disagreement() const { return disagreement_; }

  std::span<double> part(std::size_t part, std::span<double> interactions) const;
  std::span<const double> part(std::size_t part, std::span<const double> interactions) const;

  // For tables on the tops: the sum of their interactions as functions (each averaged over the
  // other axes), or those of marginals (each summed) that agree where they overlap.
  void interactions_of_functions(std::span<const double> tables, std::span<double> out);
  void interactions_of_marginals(std::span<const double> tables, std::span<double> out);
  // tables += on each top the marginal with these interactions.
  void add_marginals(std::span<const double> interactions, std::span<double> tables);
  // tables += functions on the tops that have these interactions, each on one top.
  void add_functions(std::span<const double> interactions, std::span<double> tables);

  // The part of a top's cell that lies in an interaction: |z_A|^2 of a single 1 in the top.
  double weight(std::size_t top, std::size_t part_of_top) const;
  std::span<const std::size_t> parts_of(std::size_t top) const { return in_top_[top].parts; }

 private:
  // The parts of one top, small ones first and the top itself last, each with the next larger one
  // that it is averaged from and spread into.
  struct Inside {
    std::vector<std::size_t> parts;
    std::vector<std::size_t> into;   // position among parts
    std::vector<AxisPlan> plan;      // from `into` to this
    std::vector<double> spread;      // cells of `into` for each of its own
    std::vector<std::size_t> start;  // in scratch_
  };
  void spread(std::size_t top, bool as_marginals, std::span<double> tables);
  void center(std::size_t part, std::span<double> table);

  const AxisOrder& order_;
  std::vector<Clique> tops_;
  std::vector<std::size_t> top_start_;
  std::vector<Clique> parts_;
  std::vector<std::size_t> part_start_;
  std::vector<std::size_t> home_;  // of each part: the top whose marginal speaks for it
  std::vector<Inside> in_top_;
  std::vector<std::vector<AxisPlan>> without_axis_;  // of each part
  std::vector<double> precision_, estimate_, scratch_, means_;
  double disagreement_ = 0.0;
};

}  // namespace tandem
