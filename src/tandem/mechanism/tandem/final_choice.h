// SPDX-License-Identifier: Apache-2.0
#pragma once
// A private choice among finished models, whatever they were made from.
//
// The score of a model is minus its average workload error in rows, sum_tau w_tau |q_tau(D) -
// q_tau(p)|_1 / sum_tau w_tau: one person moves it by 2 under replace-one and by 1 under
// add-remove, however many marginals there are. The exponential mechanism at epsilon e then loses
// more than (4/e) (ln K + t) rows against the best of K, or half of that, with probability e^-t at
// most.

#include <memory>
#include <span>
#include <string>

#include "tandem/model/model.h"
#include "tandem/privacy/curator.h"
#include "tandem/query/workload.h"

namespace tandem {

struct Arm {
  std::string name;  // as in "the release is <name>"
  std::unique_ptr<Model> model;
};

// The index of the arm chosen, at this cost.
std::size_t choose_arm(Curator& curator, const Workload& workload, std::span<const Arm> arms,
                       Cost cost);

}  // namespace tandem
