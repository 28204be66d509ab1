// SPDX-License-Identifier: Apache-2.0
#include "tandem/mechanism/fillers.h"

#include <algorithm>
#include <cmath>

#include "tandem/mechanism/tractable.h"
#include "tandem/model/max_entropy.h"

namespace tandem {
namespace {

// In another population shares are others sooner than what goes with what. Without a filler its
// columns are next to independent, which is worse than a public clique that is off by as much as
// its own strength. docs/decisions/0009-tandem.md
constexpr double kBelievedLonger = 10.0;

}  // namespace

Fillers::Fillers(const Domain& domain, std::vector<Offer> offers,
                 const std::unordered_map<Clique, double>& weights, double limit_mb)
    : domain_(domain), limit_(limit_mb * 1e6) {
  // The greatest gain among those that come next in their sources.
  std::vector<std::size_t> next(offers.size(), 0);
  while (true) {
    std::size_t best = offers.size();
    for (std::size_t s = 0; s < offers.size(); ++s) {
      if (next[s] == offers[s].structure.size()) continue;
      if (best == offers.size() ||
          offers[s].structure[next[s]].gain > offers[best].structure[next[best]].gain) {
        best = s;
      }
    }
    if (best == offers.size()) break;
    auto& found = offers[best].structure[next[best]++];
    const double weight = weights.at(found.clique);
    structure_.push_back({std::move(found), weight, best, offers[best].public_rows, {}});
  }
}

double Fillers::gain_beside(const Filler& filler, std::span<const Clique> cliques) const {
  std::vector<Clique> parts;
  for (const auto& clique : cliques) {
    Clique part = intersect(clique, filler.found.clique);
    if (part.size() > 1) parts.push_back(std::move(part));
  }
  std::ranges::sort(parts);
  parts.erase(std::unique(parts.begin(), parts.end()), parts.end());
  std::erase_if(parts, [&](const Clique& part) {
    return std::ranges::any_of(parts, [&](const Clique& other) {
      return other.size() > part.size() && other.contains(part);
    });
  });
  const auto known = filler.gain_beside.find(parts);
  if (known != filler.gain_beside.end()) return known->second;
  const Factor& counts = filler.found.counts;
  const double gain = l1_distance(counts, from_parts(counts, domain_, parts)) / filler.public_rows -
                      filler.found.noise;
  return filler.gain_beside[parts] = std::max(0.0, gain);
}

bool Fillers::wanted(const Filler& filler, std::span<const double> nu) {
  const PublicClique& found = filler.found;
  const double noisier =
      std::sqrt(std::max(1.0, filler.public_rows / (kBelievedLonger * nu[filler.source])));
  return found.gain + found.noise - found.noise * noisier > 0.0;
}

Fillers::Placed Fillers::place(std::span<const Clique> measured, std::span<const double> nu,
                               std::span<const Clique> before) const {
  Placed out{{measured.begin(), measured.end()}, measured.size(), {}};
  for (const auto& filler : structure_) {
    const bool stays = std::ranges::find(before, filler.found.clique) != before.end();
    if (stays && wanted(filler, nu)) out.cliques.push_back(filler.found.clique);
  }
  ModelSizer sizer(domain_, out.cliques);
  if (static_cast<double>(sizer.bytes()) > limit_) {
    out.cliques.resize(out.measured);
    sizer = ModelSizer(domain_, out.cliques);
  }
  const std::vector<Clique> stay(out.cliques.begin() + static_cast<std::ptrdiff_t>(out.measured),
                                 out.cliques.end());
  for (const auto& filler : structure_) {
    const Clique& clique = filler.found.clique;
    if (!wanted(filler, nu) || std::ranges::find(stay, clique) != stay.end()) continue;
    const auto bytes = sizer.bytes_with(clique);
    if (static_cast<double>(bytes) > limit_) {
      out.without_room.push_back(&filler);
      continue;
    }
    out.cliques.push_back(clique);
    if (bytes != sizer.bytes()) sizer = ModelSizer(domain_, out.cliques);
  }
  return out;
}

double Fillers::lost(const Placed& placed) const {
  double sum = 0.0;
  for (const auto* filler : placed.without_room) {
    sum += filler->weight * gain_beside(*filler, placed.cliques);
  }
  return sum;
}

Fillers::Choice Fillers::choose(std::span<const Clique> measured, std::span<const double> nu,
                                std::span<const Clique> before) const {
  const auto placed = place(measured, nu, before);
  const auto kept = std::span(placed.cliques).subspan(placed.measured);
  return {.kept = {kept.begin(), kept.end()}, .lost = lost(placed)};
}

std::vector<double> Fillers::lost_beside(std::span<const Clique> measured,
                                         std::span<const Clique> candidates,
                                         std::span<const double> nu, Threads threads) const {
  std::vector<Placed> placed(candidates.size());
  parallel_for(candidates.size(), threads, [&](std::size_t i) {
    std::vector<Clique> with(measured.begin(), measured.end());
    with.push_back(candidates[i]);
    placed[i] = place(with, nu);
  });
  std::vector<double> out;
  for (const auto& each : placed) out.push_back(lost(each));
  return out;
}

}  // namespace tandem
