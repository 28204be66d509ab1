// SPDX-License-Identifier: Apache-2.0
#include "tandem/mechanism/tandem/fillers.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "tandem/mechanism/rounds/candidates.h"
#include "tandem/mechanism/tandem/tuning.h"
#include "tandem/model/public/max_entropy.h"

namespace tandem {
using namespace tuning;

namespace {}  // namespace

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
  parts = maximal(std::move(parts));
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
  Placed out{{measured.begin(), measured.end()}, measured.size(), {}, {}};
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
    const bool room = static_cast<double>(bytes) <= limit_;
    const bool grows = room && bytes != sizer.bytes();
    out.turns.push_back({&filler, room, grows});
    if (!room) {
      out.without_room.push_back(&filler);
      continue;
    }
    out.cliques.push_back(clique);
    if (grows) sizer = ModelSizer(domain_, out.cliques);
  }
  return out;
}

// Beside a candidate most fillers fare as they do alone. So all candidates go through the turns
// together, with one sizer for each turn, and only one beside which a filler fares differently goes
// on by itself from there. One turn after the other, the outcome is that of place() beside each of
// them. For many candidates several turns are weighed at once, and by themselves only where they
// don't fit; since trees are made greedily, and a larger set can take the smaller one, that now and
// then keeps a filler that would not have fitted in between.
std::vector<Fillers::Placed> Fillers::place_beside(std::span<const Clique> measured,
                                                   std::span<const Clique> candidates,
                                                   std::span<const double> nu, Threads threads,
                                                   double most_weighings) const {
  const Placed alone = place(measured, nu);
  const ModelSizer start(domain_, measured);
  const std::size_t count = alone.turns.size();
  const auto stride = static_cast<std::size_t>(
      std::ceil(std::max(1.0, static_cast<double>(count * candidates.size()) / most_weighings)));
  const auto end_of = [&](std::size_t turn) { return std::min(count, turn + stride); };
  const auto add_kept = [&](std::size_t from, std::size_t to, std::vector<Clique>& cliques) {
    for (std::size_t turn = from; turn < to; ++turn) {
      if (alone.turns[turn].room) cliques.push_back(alone.turns[turn].filler->found.clique);
    }
  };
  auto size = start.weigh(candidates, HUGE_VAL, threads);       // of each tree so far
  std::vector<std::size_t> parts_at(candidates.size(), count);  // the turn that differs
  std::vector<std::size_t> left(candidates.size());
  std::iota(left.begin(), left.end(), std::size_t{0});
  std::vector<Clique> kept(measured.begin(), measured.end());
  std::vector<Clique> tree = kept;  // as it was when it last grew
  for (std::size_t turn = 0; turn < count && !left.empty(); turn = end_of(turn)) {
    const auto& [filler, room, grows] = alone.turns[turn];
    if (stride == 1) {
      tree.push_back(filler->found.clique);
    } else {
      add_kept(turn, end_of(turn), tree);
    }
    std::vector<Clique> beside;
    for (const auto i : left) beside.push_back(candidates[i]);
    const auto bytes = ModelSizer(domain_, tree).weigh(beside, limit_, threads);
    std::vector<std::size_t> next;
    for (std::size_t k = 0; k < left.size(); ++k) {
      const std::size_t i = left[k];
      const bool fits = bytes[k] != ModelSizer::kAboveLimit;
      const bool as_alone =
          stride > 1 ? fits : fits == room && (fits && bytes[k] != size[i]) == grows;
      if (as_alone) {
        if (fits) size[i] = bytes[k];
        next.push_back(i);
      } else {
        parts_at[i] = turn;
      }
    }
    left = std::move(next);
    add_kept(turn, end_of(turn), kept);
    if (stride == 1) tree.pop_back();
    if (stride > 1 || grows) tree = kept;
  }
  std::vector<Placed> out(candidates.size());
  parallel_for(candidates.size(), threads, [&](std::size_t i) {
    Placed& placed = out[i];
    placed.cliques.assign(measured.begin(), measured.end());
    placed.cliques.push_back(candidates[i]);
    placed.measured = placed.cliques.size();
    std::vector<Clique> tree_here = placed.cliques;
    const auto weigh = [&] {
      return start.bytes_with_all(std::span(tree_here).subspan(measured.size()), limit_);
    };
    const auto settle = [&](std::size_t turn, bool room) {
      const Filler* filler = alone.turns[turn].filler;
      if (room) {
        placed.cliques.push_back(filler->found.clique);
      } else {
        placed.without_room.push_back(filler);
      }
    };
    for (std::size_t turn = 0; turn < parts_at[i]; ++turn) {
      settle(turn, alone.turns[turn].room);
      if (alone.turns[turn].grows) tree_here = placed.cliques;
    }
    for (std::size_t turn = parts_at[i]; turn < count; turn = end_of(turn)) {
      tree_here = stride > 1 ? placed.cliques : tree_here;
      const auto turns = std::span(alone.turns).subspan(turn, end_of(turn) - turn);
      // Where it parts one of them has no room, and one without may have some now.
      if (stride > 1 && turn > parts_at[i] && std::ranges::all_of(turns, &Turn::room)) {
        add_kept(turn, end_of(turn), tree_here);
        const UInt128 bytes = weigh();
        tree_here = placed.cliques;
        if (bytes != ModelSizer::kAboveLimit) {
          for (std::size_t t = turn; t < end_of(turn); ++t) settle(t, true);
          size[i] = bytes;
          continue;
        }
      }
      for (std::size_t t = turn; t < end_of(turn); ++t) {
        tree_here.push_back(alone.turns[t].filler->found.clique);
        const UInt128 bytes = weigh();
        tree_here.pop_back();
        const bool room = bytes != ModelSizer::kAboveLimit;
        settle(t, room);
        if (room && bytes != size[i]) tree_here = placed.cliques;
        if (room) size[i] = bytes;
      }
    }
  });
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
                                         std::span<const double> nu, Threads threads,
                                         double most_weighings) const {
  const auto placed = place_beside(measured, candidates, nu, threads, most_weighings);
  std::vector<double> out;
  for (const auto& each : placed) out.push_back(lost(each));
  return out;
}

}  // namespace tandem
