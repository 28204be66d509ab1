// SPDX-License-Identifier: Apache-2.0
#include "tandem/model/public/public_structure.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

#include "tandem/model/pgm/junction_tree.h"

namespace tandem {
namespace {

// Gains are compared with each other; a rough fit is enough.
constexpr double kTolerance = 1e-2;
// How many candidates are scored together: sharing work outweighs scoring a few too many.
constexpr std::size_t kBatch = 24;
// Gains may also grow, as the model moves; after so many fits all are scored anew.
constexpr int kRescoreAll = 8;
// Candidates that share one column at most hardly change each other's gains: those nearly as good
// as the best are taken with it, and a fit is saved for each.
constexpr std::size_t kTogether = 4;
constexpr double kNearlyAsGood = 0.7;

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

void rescore(PublicModel& data, std::span<PublicClique> candidates, bool keep_counts) {
  while (!candidates.empty()) {
    std::vector<Clique> cliques;
    double cells = 0.0;
    for (const auto& candidate : candidates) {
      cells += static_cast<double>(data.counts().domain().cells(candidate.clique));
      if (!cliques.empty() && cells > kPublicAnswersAtOnce) break;
      cliques.push_back(candidate.clique);
    }
    data.counts().prepare(cliques);
    const auto expected = data.model().project_all(cliques);
    for (std::size_t i = 0; i < cliques.size(); ++i) {
      candidates[i] = scored(data.counts().at(cliques[i]), expected[i], data.rows());
    }
    if (!keep_counts) data.counts().forget(cliques);
    candidates = candidates.subspan(cliques.size());
  }
}

// The best of these, which are in order, and others that go with it.
std::vector<Clique> best_together(const Domain& domain, std::vector<Clique> fitted,
                                  std::span<const PublicClique> scored, double limit_mb) {
  std::vector<Clique> out;
  for (const auto& [clique, gain, noise, counts] : scored) {
    if (out.size() == kTogether || gain < kNearlyAsGood * scored.front().gain) break;
    const Clique& mine = clique;
    const bool apart = std::ranges::all_of(
        out, [&mine](const Clique& other) { return intersect(mine, other).size() <= 1; });
    if (!apart) continue;
    fitted.push_back(clique);
    if (static_cast<double>(model_bytes(domain, fitted)) <= limit_mb * 1e6) {
      out.push_back(clique);
    } else {
      fitted.pop_back();
    }
  }
  return out;
}

}  // namespace

std::vector<PublicClique> public_structure(PublicModel& data, std::span<const Clique> candidates,
                                           double limit_mb, const EnoughCliques& enough) {
  const Domain& domain = data.counts().domain();
  std::vector<Clique> fitted;
  for (AttributeId id = 0; id < domain.size(); ++id) fitted.push_back(Clique{id});
  std::vector<PublicClique> open;
  for (const auto& clique : candidates) {
    if (clique.size() >= 2) open.push_back({.clique = clique, .counts = {}});
  }
  if (data.rows() == 0.0) return {};
  double cells = 0.0;
  for (const auto& clique : candidates) cells += static_cast<double>(domain.cells(clique));
  const bool keep_counts = cells <= kMostPublicCounts;
  if (keep_counts) data.counts().prepare(candidates);
  data.fit(fitted, kTolerance);
  rescore(data, open, keep_counts);

  std::vector<PublicClique> chosen;
  const auto better = [](const PublicClique& a, const PublicClique& b) { return a.gain > b.gain; };
  bool done = false;
  for (int fits = 1; !done; ++fits) {
    const ModelSizer sizer(domain, fitted);
    std::erase_if(open, [&](const PublicClique& candidate) {
      return static_cast<double>(sizer.bytes_with(candidate.clique)) > limit_mb * 1e6;
    });
    std::ranges::stable_sort(open, better);
    // Gains mostly fall as the model grows: a candidate whose fresh gain beats all stale ones is
    // the best there is.
    std::size_t fresh = fits % kRescoreAll == 0 ? open.size() : 0;
    if (fresh > 0) rescore(data, open, keep_counts);
    while (true) {
      std::sort(open.begin(), open.begin() + static_cast<std::ptrdiff_t>(fresh), better);
      const double stale = fresh < open.size() ? open[fresh].gain : 0.0;
      if (fresh == open.size() || stale <= 0.0 || (fresh > 0 && open.front().gain >= stale)) break;
      const std::size_t more = std::min(kBatch, open.size() - fresh);
      rescore(data, std::span(open).subspan(fresh, more), keep_counts);
      fresh += more;
    }
    if (fresh == 0 || open.front().gain <= 0.0) break;
    const auto together = best_together(domain, fitted, std::span(open).first(fresh), limit_mb);
    for (const auto& clique : together) {
      const auto at = std::ranges::find(open, clique, &PublicClique::clique);
      at->counts = data.counts().at(clique);
      chosen.push_back(std::move(*at));
      open.erase(at);
      fitted.push_back(clique);
      done = enough && enough(chosen.back());
      if (done) break;
    }
    if (!done) data.fit(fitted, kTolerance);
  }
  data.counts().forget();  // thousands of marginals that nobody will ask for
  return chosen;
}

}  // namespace tandem
