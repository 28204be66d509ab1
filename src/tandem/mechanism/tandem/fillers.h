// SPDX-License-Identifier: Apache-2.0
#pragma once
// How private and public cliques share a model's size: public ones fill what the measured ones
// leave, as far as the public data is trusted.

#include <map>
#include <span>
#include <unordered_map>
#include <vector>

#include "tandem/base/parallel.h"
#include "tandem/model/pgm/junction_tree.h"
#include "tandem/model/public/public_structure.h"

namespace tandem {

class Fillers {
 public:
  // What one source offers: its cliques in the order of their choice, of so many rows.
  struct Offer {
    std::vector<PublicClique> structure;
    double public_rows = 0.0;  // n^
  };
  // `weights` of all candidates.
  Fillers(const Domain& domain, std::vector<Offer> offers,
          const std::unordered_map<Clique, double>& weights, double limit_mb);

  struct Choice {
    std::vector<Clique> kept;
    double lost = 0.0;  // weighted gains, in shares, of those without room
  };
  // nu of each source. Trusted as nu rows, a filler gains less than what n^ rows promised; where
  // nothing is left it is not wanted, and no loss. What one without room would have gained is
  // judged beside all that is in the model: whose parts are there is missed less. Those kept
  // `before` stay as long as they fit all together. Trees are made greedily, so that a smaller set
  // can take a larger one, and who comes first alone could be left out. Not for two threads at
  // once: it remembers.
  Choice choose(std::span<const Clique> measured, std::span<const double> nu,
                std::span<const Clique> before = {}) const;

  // Trees that are weighed in a round while each filler takes its turn alone: about a second's
  // work. ADULT and ACS stay below it, so that what is released there does not depend on it.
  static constexpr double kMostWeighings = 1e5;
  // What would be lost with one more measured clique, for each candidate.
  std::vector<double> lost_beside(std::span<const Clique> measured,
                                  std::span<const Clique> candidates, std::span<const double> nu,
                                  Threads threads, double most_weighings = kMostWeighings) const;

  bool empty() const { return structure_.empty(); }
  // Of each candidate whether it has room beside what the sizer has.
  std::vector<char> fit(const ModelSizer& sizer, std::span<const Clique> candidates,
                        Threads threads) const {
    return sizer.within(candidates, limit_, threads);
  }

 private:
  struct Filler {
    PublicClique found;
    double weight = 0.0;
    std::size_t source = 0;
    double public_rows = 0.0;
    // What it gains beside cliques that hold these parts of it.
    mutable std::map<std::vector<Clique>, double> gain_beside;
  };
  struct Turn {
    const Filler* filler;
    bool room;
    bool grows;  // has room and makes the tree larger
  };
  struct Placed {
    std::vector<Clique> cliques;  // measured, then those kept
    std::size_t measured = 0;
    std::vector<const Filler*> without_room;
    std::vector<Turn> turns;  // of the fillers that were weighed, in this order
  };
  static bool wanted(const Filler& filler, std::span<const double> nu);
  Placed place(std::span<const Clique> measured, std::span<const double> nu,
               std::span<const Clique> before = {}) const;
  std::vector<Placed> place_beside(std::span<const Clique> measured,
                                   std::span<const Clique> candidates, std::span<const double> nu,
                                   Threads threads, double most_weighings) const;
  double lost(const Placed& placed) const;
  double gain_beside(const Filler& filler, std::span<const Clique> cliques) const;

  Domain domain_;
  std::vector<Filler> structure_;
  double limit_;  // bytes
};

}  // namespace tandem
