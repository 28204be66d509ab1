// SPDX-License-Identifier: Apache-2.0
#pragma once
// Whatever can be asked for marginals: public tables and models. Never private data.

#include <concepts>
#include <span>
#include <vector>

#include "tandem/data/clique.h"
#include "tandem/data/domain.h"
#include "tandem/query/factor.h"

namespace tandem {

template <class T>
concept Projectable = requires(const T& t, const Clique& c) {
  { t.domain() } -> std::convertible_to<const Domain&>;
  { t.project(c) } -> std::same_as<Factor>;
};

// Many marginals at once, in the order asked: in one pass where the type knows how.
template <Projectable T>
std::vector<Factor> project_all(const T& t, std::span<const Clique> cliques) {
  if constexpr (requires { t.project_all(cliques); }) {
    return t.project_all(cliques);
  } else {
    std::vector<Factor> factors;
    factors.reserve(cliques.size());
    for (const auto& clique : cliques) factors.push_back(t.project(clique));
    return factors;
  }
}

}  // namespace tandem
