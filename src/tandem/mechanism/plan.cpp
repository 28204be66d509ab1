// SPDX-License-Identifier: Apache-2.0
#include "tandem/mechanism/plan.h"

#include <fmt/core.h>

#include "tandem/base/text.h"

namespace tandem {

PlanStep plan_to_measure(std::size_t marginals, const std::string& what, double sigma) {
  return {
      "measure",
      Document::object({{"marginals", static_cast<std::uint64_t>(marginals)}, {"sigma", sigma}}),
      fmt::format("Measures {} {}, each count with noise of standard deviation {:.4g}.", marginals,
                  what, sigma)};
}

PlanStep plan_to_anneal(std::size_t candidates, double sigma) {
  return {"select",
          Document::object(
              {{"candidates", static_cast<std::uint64_t>(candidates)}, {"sigma_at_most", sigma}}),
          fmt::format("Then selects and measures the marginals that the model gets wrong, among "
                      "{}, with less noise each time one teaches it little.",
                      candidates)};
}

PlanStep plan_rounds_of_cells(std::int64_t rounds, std::size_t cells, double sigma) {
  return {"select",
          Document::object({{"candidates", static_cast<std::uint64_t>(cells)},
                            {"rounds", rounds},
                            {"sigma", sigma}}),
          fmt::format("{} rounds, each of which selects one of {} cells and measures it with noise "
                      "of standard deviation about {:.4g}.",
                      rounds, with_commas(cells), sigma)};
}

PlanStep plan_to_weigh(double rows, double bytes) {
  const auto count = static_cast<std::uint64_t>(rows);
  return {"weigh", Document::object({{"rows", count}}),
          fmt::format("Keeps a weight for each of at most {} rows, in about {}.",
                      with_commas(count), human_bytes(bytes))};
}

}  // namespace tandem
