// SPDX-License-Identifier: Apache-2.0
#pragma once
// Public rows as a graphical model: what they say, without their sampling noise.
//
//   lambda = argmin log Z(lambda) - sum_m <lambda_m, pub_m> + c / (2 n^) sum_m |lambda_m|^2
//
// over tables lambda_m on chosen cliques m and their parts, where pub_m are the public marginals as
// shares of the n^ public rows. The ridge leaves no hard zeros: what few public rows never show is
// unlikely, not impossible. This is the dual of a tilt of the uniform distribution, which counts as
// n^ rows, by public counts that are off by a variance of c (tilted_pgm.h).

#include <cstdint>
#include <span>
#include <unordered_map>
#include <vector>

#include "tandem/base/parallel.h"
#include "tandem/model/pgm/graphical_model.h"
#include "tandem/query/public_data.h"

namespace tandem {

// Every row of the table occurs so many times, or a multiple of it: 1 for an honest sample. What
// was copied is no evidence, so such a table counts as so many times fewer rows.
std::uint64_t repeats_in(const Table& table);

// Marginals of public tables taken together, counted once each. Borrows the tables.
class PublicCounts {
 public:
  PublicCounts(std::span<const PublicTable> tables, Threads threads);
  const Domain& domain() const { return tables_.front().table.domain(); }
  double rows() const { return rows_; }  // n^, without repeats
  // Counts those that are not known yet, in one pass over the rows.
  void prepare(std::span<const Clique> cliques);
  const Factor& at(const Clique& clique);
  void forget() { known_.clear(); }
  void forget(std::span<const Clique> cliques);

 private:
  std::span<const PublicTable> tables_;
  std::vector<double> repeats_;  // of each table
  Threads threads_;
  double rows_ = 0.0;
  std::unordered_map<Clique, Factor> known_;
};

class PublicModel {
 public:
  PublicModel(std::span<const PublicTable> tables, double ridge, Threads threads);

  PublicCounts& counts() { return counts_; }
  double rows() const { return counts_.rows(); }

  // Fits the public marginals of these cliques and of all their parts, from where an earlier fit
  // was. With a table for each part, what columns do by themselves and in pairs is smoothed as
  // little as larger tables' ridges allow, and only what is peculiar to many columns is doubted.
  void fit(std::span<const Clique> cliques, double tolerance);
  const GraphicalModel& model() const { return model_; }               // of n^ rows
  std::span<const Factor> potentials() const { return multipliers_; }  // lambda

 private:
  PublicCounts counts_;
  double ridge_;
  Threads threads_;
  std::vector<Clique> fitted_;
  std::vector<Factor> multipliers_;
  GraphicalModel model_;
};

}  // namespace tandem
