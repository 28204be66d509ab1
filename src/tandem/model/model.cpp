// SPDX-License-Identifier: Apache-2.0
#include "tandem/model/model.h"

namespace tandem {

std::vector<Factor> Model::project_all(std::span<const Clique> cliques) const {
  std::vector<Factor> factors;
  factors.reserve(cliques.size());
  for (const auto& clique : cliques) factors.push_back(project(clique));
  return factors;
}

}  // namespace tandem
