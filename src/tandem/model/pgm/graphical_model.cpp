// SPDX-License-Identifier: Apache-2.0
#include "tandem/model/pgm/graphical_model.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "tandem/base/check.h"
#include "tandem/model/pgm/belief_propagation.h"
#include "tandem/model/pgm/projection.h"
#include "tandem/model/pgm/tree_sampling.h"
#include "tandem/query/workload.h"

namespace tandem {
namespace {

// One potential for each clique.
std::vector<Factor> merged(std::vector<Factor> potentials) {
  std::ranges::stable_sort(potentials, {}, &Factor::clique);
  std::vector<Factor> out;
  for (auto& factor : potentials) {
    if (out.empty() || out.back().clique != factor.clique) {
      out.push_back(std::move(factor));
      continue;
    }
    check(out.back().values.size() == factor.values.size(), "a potential has a value a cell");
    for (std::size_t i = 0; i < factor.values.size(); ++i) {
      out.back().values[i] += factor.values[i];
    }
  }
  return out;
}

std::vector<Clique> cliques_of(std::span<const Factor> potentials) {
  std::vector<Clique> out;
  for (const auto& factor : potentials) out.push_back(factor.clique);
  return out;
}

BeliefPropagation calibrated(const Domain& domain, std::span<const Factor> potentials,
                             std::span<const Clique> others) {
  auto cliques = cliques_of(potentials);
  auto inside = cliques;
  inside.insert(inside.end(), others.begin(), others.end());
  BeliefPropagation found(domain, make_junction_tree(domain, inside), std::move(cliques));
  for (std::size_t i = 0; i < potentials.size(); ++i) {
    check(potentials[i].values.size() == domain.cells(potentials[i].clique),
          "a potential has a value a cell");
    found.order().arrange(potentials[i].clique, potentials[i].values, found.potential(i));
  }
  if (!std::isfinite(found.set_base())) {
    throw UsageError(
        "The model allows no row at all: its structural zeros or restrictions exclude each other; "
        "allow more.");
  }
  return found;
}

}  // namespace

GraphicalModel::GraphicalModel(const Domain& domain, double total)
    : GraphicalModel(domain, {}, total) {}

GraphicalModel::GraphicalModel(const Domain& domain, std::vector<Factor> potentials, double total,
                               std::span<const Clique> others, Threads threads)
    : order_(domain), total_(total), threads_(threads) {
  check(total > 0.0 && std::isfinite(total), "a model has a positive total");
  potentials = merged(std::move(potentials));
  const auto found = calibrated(domain, potentials, others);
  *this = GraphicalModel(found, std::move(potentials), total, threads);
}

GraphicalModel::GraphicalModel(const BeliefPropagation& found, std::vector<Factor> potentials,
                               double total, Threads threads)
    : order_(found.order()),
      tree_(found.tree()),
      potentials_(merged(std::move(potentials))),
      total_(total),
      threads_(threads) {
  for (std::size_t c = 0; c < tree_.cliques.size(); ++c) {
    const auto belief = found.belief(c);
    beliefs_.emplace_back(belief.begin(), belief.end());
  }
}

Factor GraphicalModel::project(const Clique& clique) const {
  return std::move(project_all(std::span(&clique, 1)).front());
}

std::vector<Factor> GraphicalModel::project_all(std::span<const Clique> cliques) const {
  for (const auto& clique : cliques) {
    if (domain().cells(clique) > kMostCellsOfMarginal) {
      throw UsageError("The marginal on " + domain().describe(clique) +
                       " has more than 2^27 cells; ask for fewer columns.");
    }
  }
  auto out = Projection(*this).project(cliques, threads_);
  for (auto& factor : out) {
    for (double& value : factor.values) value *= total_;
  }
  return out;
}

Table GraphicalModel::sample(std::size_t rows, Rng& rng) const {
  return sample_tree(*this, rows, rng);
}

GraphicalModel GraphicalModel::given(std::span<const Restriction> restrictions) const {
  std::vector<Factor> potentials = potentials_;
  for (const auto& restriction : restrictions) {
    Factor mask{Clique{restriction.attribute},
                std::vector<double>(domain()[restriction.attribute].size,
                                    -std::numeric_limits<double>::infinity())};
    for (const auto code : restriction.allowed) {
      check(code < mask.values.size(), "a restriction names codes of its attribute");
      mask.values[code] = 0.0;
    }
    potentials.push_back(std::move(mask));
  }
  return {domain(), std::move(potentials), total_, tree_.cliques, threads_};
}

}  // namespace tandem
