// SPDX-License-Identifier: Apache-2.0
#include "tandem/mechanism/tandem/final_choice.h"

#include <vector>

namespace tandem {

std::size_t choose_arm(Curator& curator, const Workload& workload, std::span<const Arm> arms,
                       Cost cost) {
  std::vector<Clique> cliques;
  double weights = 0.0;
  for (const auto& [clique, weight] : workload.cliques()) {
    cliques.push_back(clique);
    weights += weight;
  }
  std::vector<Candidate> candidates;
  for (const auto& arm : arms) {
    auto answers = arm.model->project_all(cliques);
    Score error;
    for (std::size_t i = 0; i < answers.size(); ++i) {
      error = std::move(error) +
              workload.cliques()[i].weight / weights * l1_error(std::move(answers[i]));
    }
    candidates.push_back({Clique{}, Origin::Private, -1.0 * std::move(error)});
  }
  return curator.select(candidates, cost);
}

}  // namespace tandem
