// SPDX-License-Identifier: Apache-2.0
// The falsifier of conjunctions: searches sets, people and what replaces them for the largest moves
// of scores and counts. What the gate declares is derived from what it charges.
#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "privacy/proofs/proofs.h"
#include "privacy/proofs/worlds.h"
#include "tandem/base/rng.h"

namespace tandem::proofs {
namespace {

constexpr Code kSecond = 3;  // codes of the second column; the first has two

// How far one person moves what is asked of a set.
struct Moves {
  double range = 0.0;  // of the difference of two scores
  double l1 = 0.0;     // of all counts
  double squared_l2 = 0.0;

  void grow(const Moves& other) {
    range = std::max(range, other.range);
    l1 = std::max(l1, other.l1);
    squared_l2 = std::max(squared_l2, other.squared_l2);
  }
};

std::vector<Code> codes_of(std::size_t kind) {
  return {static_cast<Code>(kind / kSecond), static_cast<Code>(kind % kSecond)};
}

bool holds(const std::vector<Literal>& literals, std::size_t kind) {
  const auto codes = codes_of(kind);
  return std::ranges::all_of(literals, [&](const Literal& literal) {
    return (codes[literal.attribute] == literal.code) == literal.equal;
  });
}

// Conjunctions that all hold for the last kind of row and none for the first, so that what is
// declared can be reached.
std::vector<std::vector<Literal>> any_conjunctions(const Domain& domain, Rng& rng) {
  const std::size_t last = domain.cells(domain.all()) - 1;
  std::vector<std::vector<Literal>> out;
  const std::size_t wanted = 1 + rng.below(3);
  while (out.size() < wanted) {
    std::vector<Literal> literals;
    for (std::size_t i = 0; i <= rng.below(2); ++i) {
      const auto id = static_cast<AttributeId>(rng.below(2));
      literals.push_back({id, static_cast<Code>(rng.below(domain[id].size)), rng.below(2) == 0});
    }
    if (holds(literals, last) && !holds(literals, 0)) out.push_back(literals);
  }
  return out;
}

Moves moves_between(const std::vector<std::vector<Literal>>& conjunctions, const Histogram& here,
                    const Histogram& there) {
  Moves out;
  double highest = -HUGE_VAL;
  double lowest = HUGE_VAL;
  const double rows = rows_of(there) - rows_of(here);
  for (const auto& literals : conjunctions) {
    double moved = 0.0;
    for (std::size_t kind = 0; kind < here.size(); ++kind) {
      if (holds(literals, kind)) moved += there[kind] - here[kind];
    }
    for (const double score : {moved, rows - moved}) {
      highest = std::max(highest, score);
      lowest = std::min(lowest, score);
    }
    out.l1 += std::abs(moved);
    out.squared_l2 += moved * moved;
  }
  out.range = highest - lowest;
  return out;
}

// Climbs over what a person has and would have instead; the rows of others and references move
// nothing, and are the same on both sides.
Moves climb(const std::vector<std::vector<Literal>>& conjunctions, std::size_t kinds,
            const PrivacyUnit& unit) {
  Moves out;
  const auto people = tables_up_to(kinds, unit.rows_per_person);
  for (const auto& here : people) {
    for (const auto& there : people) {
      if (are_neighbours(here, there, unit)) out.grow(moves_between(conjunctions, here, there));
    }
  }
  return out;
}

Moves declared(const Domain& domain, const ConjunctionSet& set, const PrivacyUnit& unit) {
  constexpr double kRate = 0.5;
  constexpr double kPrice = 1e-6;  // so much noise that it is as if it were not discrete
  const Histogram empty(domain.cells(domain.all()), 0);
  const Curator pure = gate(domain, empty, {.unit = unit, .filter = Filter::pure(Epsilon(1.0))});
  const Curator zcdp = gate(domain, empty, {.unit = unit});
  const double laplace =
      pure.conjunction_noise(set, pure.filter().price(kPrice), NoiseKind::Laplace).value();
  const double gaussian =
      zcdp.conjunction_noise(set, zcdp.filter().price(kPrice), NoiseKind::Gaussian).value();
  return {pure.cost_for_conjunctions(kRate).upper_bound() / kRate,
          laplace * kPrice / std::sqrt(2.0), 2.0 * kPrice * gaussian * gaussian};
}

bool is(double stated, double found) { return std::abs(stated - found) <= 1e-3 * found; }

}  // namespace

Violation conjunctions_move_as_declared() {
  const Domain domain = domain_of({2, kSecond});
  Rng rng(31);
  for (int s = 0; s < 12; ++s) {
    const auto conjunctions = any_conjunctions(domain, rng);
    ConjunctionBuilder builder(domain);
    for (const auto& literals : conjunctions) builder.add(literals);
    const auto set = std::move(builder).finish();
    if (set.size() != conjunctions.size()) continue;  // two were alike
    for (const auto& unit : units(3)) {
      const Moves found = climb(conjunctions, domain.cells(domain.all()), unit);
      const Moves stated = declared(domain, set, unit);
      if (is(stated.range, found.range) && is(stated.l1, found.l1) &&
          is(stated.squared_l2, found.squared_l2)) {
        continue;
      }
      return fmt::format(
          "{} conjunctions ({}): neighbours are {} apart in scores, {} and {} in L1 and squared L2 "
          "of counts; declared are {:.5g}, {:.5g} and {:.5g}",
          set.size(), show(unit), found.range, found.l1, found.squared_l2, stated.range, stated.l1,
          stated.squared_l2);
    }
  }
  return std::nullopt;
}

}  // namespace tandem::proofs
