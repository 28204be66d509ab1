// SPDX-License-Identifier: Apache-2.0
#pragma once
// What mechanisms on graphical models share: which marginals a model has room for, and how much a
// noisy one is off.

#include <functional>
#include <span>
#include <vector>

#include "tandem/base/rng.h"
#include "tandem/base/units.h"
#include "tandem/model/pgm/graphical_model.h"
#include "tandem/query/workload.h"

namespace tandem {

// How many candidates, and cells of them together, a round looks at: some seconds and a hundred
// megabytes. All three-way marginals of 48 columns are within it.
struct RoundLimit {
  std::size_t candidates = 20'000;
  std::size_t cells = std::size_t{1} << 23;
};

// Which of some candidates there is room for: a character each, not 0 where there is.
using HasRoom = std::function<std::vector<char>(std::span<const Clique>)>;

// The candidates of one round that there is room for: all, or of more than the limit a random
// choice. Those of one attribute are always among them, then come pairs; the order stays. Drawn
// anew each round, so that none is left out for good. Nothing private is asked, so this costs no
// budget.
std::vector<Clique> offered(std::span<const Clique> candidates, const Domain& domain,
                            const HasRoom& has_room, Rng& rng, const RoundLimit& limit = {});

// Of each attribute the weight of the workload's marginals that have it. The sum over a clique's
// attributes is AIM's w_r = sum over the workload of |r and s|, without asking every s for every r.
std::vector<double> attribute_weights(const Workload& workload, const Domain& domain);
double weight_of(const Clique& r, std::span<const double> attribute_weights);

// There is room for what is inside the model already, and for what stays within the limit together
// with all that was measured. REQUIRES: model and measured outlive what is returned.
HasRoom tractable(const GraphicalModel& model, std::span<const Clique> measured, double limit_mb,
                  Threads threads = {});

// The same where the model holds more than was measured: there is room for what lies inside a
// measured clique, and for what stays within the limit together with all of them.
HasRoom tractable(const Domain& domain, const std::vector<Clique>& measured, double limit_mb,
                  const Threads& threads);

// E |noise|_1 of a marginal measured with Gaussian noise.
double expected_noise(Sigma sigma, std::size_t cells);

double l1_distance(const Factor& a, const Factor& b);  // of the same clique

}  // namespace tandem
