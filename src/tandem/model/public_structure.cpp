// SPDX-License-Identifier: Apache-2.0
#include "tandem/model/public_structure.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

#include "tandem/model/junction_tree.h"

namespace tandem {
namespace {

// Gains are compared with each other; a rough fit is enough.
constexpr double kTolerance = 1e-2;
// How many candidates are scored together: sharing work outweighs scoring a few too many.
constexpr std::size_t kBatch = 24;
// Gains may also grow, as the model moves; after so many choices all are scored anew.
constexpr std::size_t kRescoreAll = 12;

PublicClique scored(const Factor& counts, const Factor& expected, double rows) {
  PublicClique out{.clique = counts.clique, .counts = {}};
  double distance = 0.0;
  for (std::size_t i = 0; i < counts.values.size(); ++i) {
    distance += std::abs(counts.values[i] - expected.values[i]);
    out.noise += std::sqrt(std::max(counts.values[i], expected.values[i]));
  }
  out.noise *= std::sqrt(2.0 / std::numbers::pi) / rows;
  out.gain = distance / rows - out.noise;
  return out;
}

void rescore(PublicModel& data, std::span<PublicClique> candidates) {
  std::vector<Clique> cliques;
  for (const auto& candidate : candidates) cliques.push_back(candidate.clique);
  const auto expected = data.model().project_all(cliques);
  for (std::size_t i = 0; i < cliques.size(); ++i) {
    candidates[i] = scored(data.counts().at(cliques[i]), expected[i], data.rows());
  }
}

}  // namespace

std::vector<PublicClique> public_structure(PublicModel& data, std::span<const Clique> candidates,
                                           double limit_mb) {
  const Domain& domain = data.counts().domain();
  std::vector<Clique> fitted;
  for (AttributeId id = 0; id < domain.size(); ++id) fitted.push_back(Clique{id});
  std::vector<PublicClique> open;
  for (const auto& clique : candidates) {
    if (clique.size() >= 2) open.push_back({.clique = clique, .counts = {}});
  }
  if (data.rows() == 0.0) return {};
  data.counts().prepare(candidates);
  data.fit(fitted, kTolerance);
  rescore(data, open);

  std::vector<PublicClique> chosen;
  const auto better = [](const PublicClique& a, const PublicClique& b) { return a.gain > b.gain; };
  while (true) {
    const ModelSizer sizer(domain, fitted);
    std::erase_if(open, [&](const PublicClique& candidate) {
      return static_cast<double>(sizer.bytes_with(candidate.clique)) > limit_mb * 1e6;
    });
    std::ranges::stable_sort(open, better);
    // Gains mostly fall as the model grows: a candidate whose fresh gain beats all stale ones is
    // the best there is.
    std::size_t fresh = chosen.size() % kRescoreAll == 0 && !chosen.empty() ? open.size() : 0;
    if (fresh > 0) rescore(data, open);
    while (true) {
      std::sort(open.begin(), open.begin() + static_cast<std::ptrdiff_t>(fresh), better);
      const double stale = fresh < open.size() ? open[fresh].gain : 0.0;
      if (fresh == open.size() || stale <= 0.0 || (fresh > 0 && open.front().gain >= stale)) break;
      const std::size_t more = std::min(kBatch, open.size() - fresh);
      rescore(data, std::span(open).subspan(fresh, more));
      fresh += more;
    }
    if (fresh == 0 || open.front().gain <= 0.0) break;
    chosen.push_back(open.front());
    chosen.back().counts = data.counts().at(chosen.back().clique);
    open.erase(open.begin());
    fitted.push_back(chosen.back().clique);
    data.fit(fitted, kTolerance);
  }
  data.counts().forget();  // thousands of marginals that nobody will ask for
  return chosen;
}

}  // namespace tandem
