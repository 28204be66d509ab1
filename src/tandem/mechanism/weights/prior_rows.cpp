// SPDX-License-Identifier: Apache-2.0
#include "tandem/mechanism/weights/prior_rows.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

#include "tandem/base/check.h"
#include "tandem/base/error.h"
#include "tandem/base/text.h"

namespace tandem {
namespace {

// A sum of noise is above this many standard deviations once in millions of marginals; and less
// than this share of the rows is not worth a warning.
constexpr double kSure = 5.0;
constexpr double kWorthTelling = 0.02;

bool is_marginal(const Measurement& y) {
  return y.query.map.is_identity() && !y.query.clique.empty();
}

}  // namespace

NoiseKind noise_of(const Curator& curator, MarginalNoise wanted) {
  const bool pure = curator.currency() == Currency::Pure;
  if (wanted == MarginalNoise::Gaussian && pure) {
    throw UsageError(
        TANDEM_SETTING("param.noise") "=gaussian has no pure guarantee; give a " TANDEM_SETTING("delta") " above 0, or take "
        "noise=laplace.");
  }
  return pure || wanted == MarginalNoise::Laplace ? NoiseKind::Laplace : NoiseKind::Gaussian;
}

Support domain_with_public_shares(const Problem& problem) {
  const Support known = public_rows(problem.public_data);
  Support out = whole_domain(problem.domain);
  std::ranges::fill(out.weights, 0.0);
  std::vector<std::size_t> place(known.rows.rows(), 0);
  for (const auto id : problem.domain.all()) {
    known.rows.column(id).visit([&](auto codes) {
      for (std::size_t r = 0; r < place.size(); ++r) {
        place[r] = place[r] * problem.domain[id].size + codes[r];
      }
    });
  }
  for (std::size_t r = 0; r < place.size(); ++r) out.weights[place[r]] = known.weights[r];
  return out;
}

std::vector<PartialWorkload> shares_on_rows(const Table& rows, std::span<const Measurement> y,
                                            double n, const Threads& threads) {
  check(n > 0.0, "shares are of some rows");
  std::vector<const Measurement*> marginals;
  for (const auto& measurement : y) {
    if (is_marginal(measurement)) marginals.push_back(&measurement);
  }
  std::vector<std::optional<PartialWorkload>> sorted(marginals.size());
  parallel_for(marginals.size(), threads, [&](std::size_t i) {
    std::vector<double> shares = marginals[i]->values;
    for (double& share : shares) share /= n;
    sorted[i].emplace(rows, marginals[i]->query.clique, shares);
  });
  std::vector<PartialWorkload> out;
  out.reserve(sorted.size());
  for (auto& workload : sorted) out.push_back(std::move(*workload));
  return out;
}

std::vector<Warning> unseen_warnings(std::span<const PartialWorkload> workloads,
                                     std::span<const Measurement> y, double n,
                                     const std::string& instead) {
  std::size_t marginal = 0;
  std::size_t missed = 0;
  double worst = 0.0;
  for (const auto& measurement : y) {
    if (!is_marginal(measurement)) continue;
    const PartialWorkload& workload = workloads[marginal++];
    const double noise =
        measurement.sigma.value() / n * std::sqrt(static_cast<double>(workload.unseen_cells()));
    if (workload.unseen() < std::max(kSure * noise, kWorthTelling)) continue;
    ++missed;
    worst = std::max(worst, workload.unseen());
  }
  if (missed == 0) return {};
  return {{"model.misfit",
           fmt::format("In {} of {} measured marginals the private table has rows, up to {:.2g} of "
                       "all, where no public row is, so the release has none there; {}.",
                       missed, marginal, std::min(1.0, worst), instead)}};
}

Plan plan_marginals(const Curator& curator, const Problem& problem, const ChosenMarginals& chosen,
                    double n_from_public) {
  const Cost each = curator.remaining() / static_cast<double>(chosen.marginals.size());
  Plan out = {
      plan_to_measure(chosen.marginals.size(), "marginals",
                      curator.noise_scale({chosen.marginals.front().clique}, each).value())};
  if (n_from_public > 0.0) {
    out.push_back(
        {"remark", Document::object(),
         fmt::format("Which marginals, public data decides by the number of private rows; "
                     "this is for as many as the {} public ones.",
                     with_commas(static_cast<std::uint64_t>(n_from_public)))});
  }
  for (auto& remark : remarks(problem, chosen, kAsInPublicRows)) {
    out.push_back({"remark", Document::object(), std::move(remark.text)});
  }
  return out;
}

}  // namespace tandem
