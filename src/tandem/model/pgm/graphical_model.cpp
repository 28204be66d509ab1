// SPDX-License-Identifier: Apache-2.0
#include "tandem/model/pgm/graphical_model.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "tandem/base/check.h"
#include "tandem/base/text.h"
#include "tandem/model/model_reader.h"
#include "tandem/model/model_writer.h"
#include "tandem/model/pgm/belief_propagation.h"
#include "tandem/model/pgm/projection.h"
#include "tandem/model/pgm/tree_sampling.h"
#include "tandem/query/workload.h"

namespace tandem {
namespace {

constexpr double kLargestPotential = 1e100;  // beyond it, logarithms would add up to infinity

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

std::unique_ptr<Model> GraphicalModel::given(const Restriction& only) const {
  std::vector<Factor> potentials = potentials_;
  Factor mask{
      Clique{only.attribute},
      std::vector<double>(domain()[only.attribute].size, -std::numeric_limits<double>::infinity())};
  for (const auto code : only.allowed) {
    check(code < mask.values.size(), "a restriction names codes of its attribute");
    mask.values[code] = 0.0;
  }
  potentials.push_back(std::move(mask));
  return std::make_unique<GraphicalModel>(domain(), std::move(potentials), total_, tree_.cliques,
                                          threads_);
}

bool GraphicalModel::write(ModelWriter& out) const {
  out.begin("graphical", total_);
  Document tree = Document::array();
  for (const auto& clique : tree_.cliques) tree.push(out.names(clique));
  out.set("tree", std::move(tree));
  for (const auto& [clique, values] : potentials_) {
    out.add("potential", clique, std::span<const double>(values));
  }
  return true;
}

std::unique_ptr<Model> GraphicalModel::read(const ModelReader& in) {
  const Domain& domain = in.domain();
  std::vector<Clique> tree;
  for (const auto& columns : in.header().at("tree").as_array()) tree.push_back(in.clique(columns));
  std::vector<Factor> potentials;
  std::vector<Clique> cliques = tree;
  for (const auto& array : in.arrays()) {
    const auto cells = domain.try_cells(array.clique);
    if (!cells) in.fail("has a potential of too many cells");
    Factor factor{array.clique, in.numbers(array, "potential", *cells)};
    for (const double value : factor.values) {
      const bool zero = value == -std::numeric_limits<double>::infinity();
      if (!zero && !(std::abs(value) <= kLargestPotential)) {
        in.fail("has a potential that is no logarithm");
      }
    }
    cliques.push_back(array.clique);
    potentials.push_back(std::move(factor));
  }
  const UInt128 bytes = model_bytes(domain, cliques);
  if (static_cast<double>(bytes) > in.limits().most_bytes) {
    in.fail(fmt::format("is a model of {}, more than there is room for",
                        human_bytes(static_cast<double>(bytes))));
  }
  return std::make_unique<GraphicalModel>(domain, std::move(potentials), in.total(), tree,
                                          in.limits().threads);
}

}  // namespace tandem
