// SPDX-License-Identifier: Apache-2.0
// The falsifier: climbs over tables, people and references towards the largest move of a score, on
// the integers that selection works with.
#include <fmt/core.h>

#include <algorithm>
#include <boost/multiprecision/cpp_int.hpp>
#include <cmath>
#include <cstdlib>

#include "privacy/proofs/falsifier.h"
#include "privacy/proofs/proofs.h"
#include "tandem/base/rng.h"
#include "tandem/privacy/conjunction_draw.h"
#include "tandem/privacy/sensitivity.h"

namespace tandem::proofs {

namespace {

using boost::multiprecision::cpp_int;

constexpr int kClimbs = 12;  // with 3, a search may end below the sensitivity it should reach
constexpr int kMoves = 500;

// ---- A slow evaluation of its own ---------------------------------------------------------------

cpp_int on_grid(double value) { return cpp_int(std::nearbyint(std::ldexp(value, 20))); }

cpp_int distance(double count, double reference) {
  return abs(cpp_int(count) * (1 << 20) - on_grid(reference));
}

cpp_int floor_shift(const cpp_int& value, int shift) {
  const cpp_int step = cpp_int(1) << shift;
  cpp_int quotient = value / step;
  if (quotient * step > value) --quotient;
  return quotient;
}

// On the grid, in units of 2^exponent.
cpp_int weight_on_grid(double weight, int exponent) {
  return on_grid(std::ldexp(weight, -exponent));
}

cpp_int slow_value(const Score& score, const Domain& domain, const Histogram& table,
                   const ScoreGrid& grid) {
  cpp_int units(std::nearbyint(std::ldexp(score.constant(), 40 - grid.exponent)));
  for (const auto& term : score.terms()) {
    const auto counts = count(domain, table, term.reference->clique).values;
    const auto& reference = term.reference->values;
    cpp_int value = 0;
    switch (term.shape) {
      case Score::Shape::L1Error:
        for (std::size_t i = 0; i < counts.size(); ++i) value += distance(counts[i], reference[i]);
        break;
      case Score::Shape::LargestError:
        for (const auto i : term.cells) value = std::max(value, distance(counts[i], reference[i]));
        break;
      case Score::Shape::AbsoluteError:
        value = distance(counts[term.cells.at(0)], reference[term.cells.at(0)]);
        break;
      case Score::Shape::SignedError:
        value =
            cpp_int(counts[term.cells.at(0)]) * (1 << 20) - on_grid(reference[term.cells.at(0)]);
        break;
    }
    units += weight_on_grid(term.weight, grid.exponent) * value;
  }
  return floor_shift(units, grid.shift);
}

std::vector<cpp_int> slow_values(const ScoreCase& scores, const Histogram& table,
                                 const ScoreGrid& grid) {
  std::vector<cpp_int> out;
  for (const auto& candidate : scores.candidates) {
    out.push_back(slow_value(candidate.score, scores.domain, table, grid));
  }
  for (const auto& cells : scores.cells) {
    const auto answers = answer(scores.domain, table, cells.query);
    const int exponent = cells.query.map.unit_exponent() + 20;
    for (std::size_t i = 0; i < answers.size(); ++i) {
      const auto& among = cells.among;
      if (!among.empty() && std::ranges::find(among, i) == among.end()) continue;
      cpp_int value = (cpp_int(answers[i]) << exponent) - on_grid(cells.reference[i] * cells.unit);
      if (cells.kind == CellScore::Absolute) value = abs(value);
      out.push_back(floor_shift(weight_on_grid(cells.weight, grid.exponent) * value, grid.shift));
    }
  }
  return out;
}

// ---- Climbing -----------------------------------------------------------------------------------

// A table, one person's rows in it, those they are replaced by, and references.
struct State {
  Histogram others;
  std::vector<std::size_t> before;  // kinds of the person's rows
  std::vector<std::size_t> after;
  std::vector<std::vector<double>> references;
};

class Climber {
 public:
  Climber(const ScoreForm& form, const PrivacyUnit& unit, int rows, std::uint64_t seed)
      : form_(form), unit_(unit), rows_(static_cast<std::size_t>(rows)), rng_(seed) {}

  State start() {
    State state;
    state.others.resize(form_.domain.cells(form_.domain.all()));
    for (auto& rows : state.others) rows = static_cast<int>(rng_.below(4));
    new_person(state);
    for (const auto size : form_.slots) {
      auto& reference = state.references.emplace_back();
      for (std::size_t i = 0; i < size; ++i) reference.push_back(any_reference());
    }
    return state;
  }

  State moved(State state) {
    switch (rng_.below(4)) {
      case 0:
        new_person(state);
        break;
      case 1: {
        auto& rows = state.others[rng_.below(state.others.size())];
        rows = std::max(0, rows + (rng_.below(2) == 0 ? 1 : -1));
        break;
      }
      default: {
        auto& reference = state.references[rng_.below(state.references.size())];
        reference[rng_.below(reference.size())] = any_reference();
      }
    }
    return state;
  }

 private:
  // Mostly among the counts that occur, sometimes far away.
  double any_reference() {
    if (rng_.below(16) == 0) return 1e6 * (rng_.uniform() - 0.5);
    return 24.0 * rng_.uniform() - 4.0;
  }

  void new_person(State& state) {
    const auto draw = [&](std::size_t count) {
      std::vector<std::size_t> kinds;
      const bool alike = rng_.below(2) == 0;
      for (std::size_t i = 0; i < count; ++i) {
        kinds.push_back(alike && i > 0 ? kinds.front() : rng_.below(state.others.size()));
      }
      return kinds;
    };
    if (unit_.neighbors == Neighbors::AddRemove) {
      state.before = {};
      state.after = draw(rows_);
    } else {
      const bool may_leave = !unit_.keeps_rows();  // otherwise n is public
      state.before = draw(may_leave && rng_.below(4) == 0 ? rng_.below(rows_ + 1) : rows_);
      state.after = draw(may_leave && rng_.below(4) == 0 ? rng_.below(rows_ + 1) : rows_);
    }
  }

  const ScoreForm& form_;
  PrivacyUnit unit_;
  std::size_t rows_;
  Rng rng_;
};

Histogram with(Histogram table, const std::vector<std::size_t>& rows) {
  for (const auto kind : rows) ++table[kind];
  return table;
}

std::uint64_t gap(std::int64_t a, std::int64_t b) {
  return static_cast<std::uint64_t>(a < b ? b - a : a - b);
}

}  // namespace

Climb climb(const ScoreForm& form, const PrivacyUnit& unit, int rows, std::uint64_t seed) {
  Climber climber(form, unit, rows, seed);
  Climb best;
  for (int c = 0; c < kClimbs; ++c) {
    State state = climber.start();
    std::uint64_t height = 0;
    for (int m = 0; m < kMoves; ++m) {
      State next = m == 0 ? state : climber.moved(state);
      const ScoreCase scores = form.fill(next.references);
      const ScoreGrid grid = scores.grid(unit);
      const Histogram one = with(next.others, next.before);
      const Histogram other = with(next.others, next.after);
      const auto here = scores.values(grid, one);
      const auto there = scores.values(grid, other);
      if (m % 50 == 0 &&
          slow_values(scores, one, grid) != std::vector<cpp_int>(here.begin(), here.end())) {
        best.wrong_value = true;
      }
      std::uint64_t found = 0;
      for (std::size_t i = 0; i < here.size(); ++i) found = std::max(found, gap(here[i], there[i]));
      best.grid = grid;
      best.steps = std::max(best.steps, found);
      if (found >= height) {
        height = found;
        state = std::move(next);
      }
    }
  }
  return best;
}

Violation judge(const std::string& what, const Climb& climb, double declared) {
  if (climb.wrong_value) return what + ": a score's value is not the one its formula says";
  const double stated = static_cast<double>(climb.grid.sensitivity) * climb.grid.step();
  // Weights have 20 bits or more, and a sensitivity of 2^20 steps is rounded up to the next.
  if (std::abs(stated - declared) > 4e-6 * declared) {
    return fmt::format("{}: a sensitivity of {:.7g} is declared, not {:.7g}", what, stated,
                       declared);
  }
  if (climb.steps > climb.grid.sensitivity) {
    return fmt::format("{}: neighbours are {} steps apart, {} were declared", what, climb.steps,
                       climb.grid.sensitivity);
  }
  if (static_cast<double>(climb.steps) < 0.999 * static_cast<double>(climb.grid.sensitivity)) {
    return fmt::format("{}: of {} steps declared only {} were reached", what,
                       climb.grid.sensitivity, climb.steps);
  }
  return std::nullopt;
}

namespace {

Violation judge_forms(const std::vector<ScoreForm>& forms) {
  std::uint64_t seed = 1;
  for (const auto& form : forms) {
    for (const auto& unit : units(3)) {
      const auto found =
          judge(form.name + " (" + show(unit) + ")",
                climb(form, unit, unit.rows_per_person, ++seed), form.declared(unit));
      if (found) return found;
    }
  }
  return std::nullopt;
}

}  // namespace

Violation scores_move_as_declared() { return judge_forms(candidate_forms(domain_of({2, 3}))); }

Violation cell_scores_move_as_declared() { return judge_forms(cell_forms(domain_of({2, 3}))); }

Violation few_rows_move_their_share() {
  auto forms = candidate_forms(domain_of({2, 2}));
  for (auto& form : cell_forms(domain_of({2, 2}))) forms.push_back(std::move(form));
  std::uint64_t seed = 1000;
  for (const auto& form : forms) {
    for (const int most : {2, 3}) {
      for (int rows = 1; rows < most; ++rows) {
        const PrivacyUnit unit{Neighbors::AddRemove, most};
        const auto found = climb(form, unit, rows, ++seed);
        if (found.steps * static_cast<std::uint64_t>(most) >
            found.grid.sensitivity * static_cast<std::uint64_t>(rows)) {
          return fmt::format("{}: {} of {} rows move {} steps of {}", form.name, rows, most,
                             found.steps, found.grid.sensitivity);
        }
      }
    }
  }
  return std::nullopt;
}

// ---- Strategies ---------------------------------------------------------------------------------

namespace {

struct Distances {
  std::int64_t l1 = 0;
  std::int64_t squared_l2 = 0;
  std::int64_t largest = 0;
  void grow(const std::vector<std::int64_t>& a, const std::vector<std::int64_t>& b) {
    std::int64_t sum = 0;
    std::int64_t squares = 0;
    for (std::size_t i = 0; i < a.size(); ++i) {
      const std::int64_t apart = std::abs(a[i] - b[i]);
      sum += apart;
      squares += apart * apart;
      largest = std::max(largest, apart);
    }
    l1 = std::max(l1, sum);
    squared_l2 = std::max(squared_l2, squares);
  }
};

// The largest distances between all neighbours: a person's rows before and after, all of them.
Distances all_neighbours(const Domain& domain, const LinearQuery& query, const PrivacyUnit& unit) {
  Distances out;
  const auto people = tables_up_to(domain.cells(domain.all()), unit.rows_per_person);
  std::vector<std::vector<std::int64_t>> answers;
  for (const auto& rows : people) answers.push_back(answer(domain, rows, query));
  for (std::size_t i = 0; i < people.size(); ++i) {
    for (std::size_t j = 0; j < people.size(); ++j) {
      if (are_neighbours(people[i], people[j], unit)) out.grow(answers[i], answers[j]);
    }
  }
  return out;
}

}  // namespace

Violation strategies_move_as_declared() {
  const Domain domain = domain_of({2, 2});
  Rng rng(5);
#ifdef TANDEM_SANITIZED
  const int strategies = 20;
#else
  const int strategies = 120;
#endif
  for (int s = 0; s < strategies; ++s) {
    LinearQuery query{s % 4 == 0 ? Clique{1} : Clique{0, 1}};
    if (s >= 3) {  // the first three are marginals
      const std::size_t cells = domain.cells(query.clique);
      std::vector<std::vector<LinearMap::Entry>> rows(1 + rng.below(4));
      for (auto& row : rows) {
        for (std::size_t c = 0; c < cells; ++c) {
          if (rng.below(3) == 0) continue;
          const auto size = static_cast<std::int64_t>(rng.below(s % 2 == 0 ? 3 : 1000));
          row.push_back({c, rng.below(2) == 0 ? size : -size});
        }
      }
      query.map = LinearMap::rows(std::move(rows), cells, s % 3 == 0 ? -4 : 0);
    }
    if (s == 2) query.clique = Clique{};
    for (const auto& unit : units(3)) {
      const auto found = all_neighbours(domain, query, unit);
      // Where there are too many columns to compare, what is declared is a bound.
      const auto bound = sensitivity_of(query, domain, unit, 0.0);
      if (bound.l1.value() < static_cast<double>(found.l1) ||
          bound.squared_l2.value() < static_cast<double>(found.squared_l2) ||
          bound.largest < static_cast<double>(found.largest)) {
        return fmt::format(
            "strategy {} ({}): neighbours are {} and {} apart in L1 and squared L2, "
            "and the bound is {} and {}",
            s, show(unit), found.l1, found.squared_l2, bound.l1.value(), bound.squared_l2.value());
      }
      const auto declared = sensitivity_of(query, domain, unit);
      if (declared.l1.value() != static_cast<double>(found.l1) ||
          declared.squared_l2.value() != static_cast<double>(found.squared_l2) ||
          declared.largest != static_cast<double>(found.largest)) {
        return fmt::format(
            "strategy {} ({}): neighbours are {}, {} and {} apart in L1, squared L2 and one "
            "output; "
            "declared are {}, {} and {}",
            s, show(unit), found.l1, found.squared_l2, found.largest, declared.l1.value(),
            declared.squared_l2.value(), declared.largest);
      }
    }
  }
  return std::nullopt;
}

namespace {

// A map for each attribute of the clique. `residual`: all take out the sum.
LinearMap random_product(const Domain& domain, const Clique& clique, bool residual, Rng& rng) {
  std::vector<std::shared_ptr<const AxisMap>> axes;
  for (const auto id : clique) {
    const std::size_t codes = domain[id].size;
    const auto kind = residual ? 1 + rng.below(2) : rng.below(4);
    if (kind == 0) {
      axes.push_back(std::make_shared<AxisMap>(AxisMap::identity(codes)));
      continue;
    }
    if (kind == 1) {
      axes.push_back(std::make_shared<AxisMap>(AxisMap::centred(codes)));
      continue;
    }
    std::vector<std::int64_t> entries;
    const std::size_t rows = 1 + rng.below(3);
    for (std::size_t r = 0; r < rows; ++r) {
      std::int64_t sum = 0;
      for (std::size_t c = 0; c < codes; ++c) {
        auto entry = static_cast<std::int64_t>(rng.below(5));
        if (residual || (kind == 3 && rng.below(2) == 0)) entry -= 2;
        if (residual && c + 1 == codes) entry = -sum;
        entries.push_back(entry);
        sum += entry;
      }
    }
    axes.push_back(std::make_shared<AxisMap>(AxisMap::given(std::move(entries), codes, -1)));
  }
  return LinearMap::kronecker(std::move(axes));
}

Clique random_clique(const Domain& domain, Rng& rng) {
  std::vector<AttributeId> ids;
  for (AttributeId id = 0; id < domain.size(); ++id) {
    if (rng.below(3) > 0) ids.push_back(id);
  }
  return Clique(std::move(ids));
}

#ifdef TANDEM_SANITIZED
constexpr int kStacks = 24;
#else
constexpr int kStacks = 150;
#endif

}  // namespace

Violation products_move_as_declared() {
  Rng rng(31);
  for (int s = 0; s < kStacks; ++s) {
    const Domain domain = s % 3 == 0 ? domain_of({3, 2}) : domain_of({2, 2, 2});
    const Clique clique = random_clique(domain, rng);
    const LinearQuery query{clique, random_product(domain, clique, s % 4 == 0, rng)};
    for (const auto& unit : units(2)) {
      const auto found = all_neighbours(domain, query, unit);
      const auto declared = sensitivity_of(query, domain, unit);
      const bool below = declared.l1.value() < static_cast<double>(found.l1) ||
                         declared.squared_l2.value() < static_cast<double>(found.squared_l2) ||
                         declared.largest < static_cast<double>(found.largest);
      // Norms are exact, and so are distances in L2.
      const bool exact = declared.squared_l2.value() == static_cast<double>(found.squared_l2) &&
                         (unit.neighbors == Neighbors::ReplaceOne ||
                          declared.l1.value() == static_cast<double>(found.l1));
      if (below || !exact) {
        return fmt::format(
            "product {} ({}): neighbours are {}, {} and {} apart in L1, squared L2 and one output; "
            "declared are {}, {} and {}",
            s, show(unit), found.l1, found.squared_l2, found.largest, declared.l1.value(),
            declared.squared_l2.value(), declared.largest);
      }
    }
  }
  return std::nullopt;
}

Violation stacks_move_as_declared() {
  Rng rng(37);
  for (int s = 0; s < kStacks; ++s) {
    const Domain domain = s % 3 == 0 ? domain_of({3, 2}) : domain_of({2, 2, 2});
    const bool residual = s % 2 == 0;
    bool centred = true;
    std::vector<WeightedQuery> stack(1 + rng.below(4));
    for (auto& [query, weight] : stack) {
      query.clique = random_clique(domain, rng);
      if (residual || rng.below(2) == 0) {
        query.map = random_product(domain, query.clique, residual, rng);
      }
      weight = 1 + static_cast<std::int64_t>(rng.below(9));
      for (const auto& axis : query.map.axes()) {
        centred = centred && axis->kind() == AxisMap::Kind::Centred;
      }
    }
    for (const auto& unit : units(2)) {
      Distances found;
      const auto people = tables_up_to(domain.cells(domain.all()), unit.rows_per_person);
      std::vector<std::vector<std::int64_t>> answers;
      for (const auto& rows : people) {
        auto& all = answers.emplace_back();
        for (const auto& [query, weight] : stack) {
          for (const auto value : answer(domain, rows, query)) all.push_back(weight * value);
        }
      }
      for (std::size_t i = 0; i < people.size(); ++i) {
        for (std::size_t j = 0; j < people.size(); ++j) {
          if (are_neighbours(people[i], people[j], unit)) found.grow(answers[i], answers[j]);
        }
      }
      const auto declared = sensitivity_of(stack, domain, unit);
      // Columns of n I - J have one norm and one inner product, so two rows reach the bound.
      const bool exact = !(residual && centred) ||
                         declared.squared_l2.value() == static_cast<double>(found.squared_l2);
      if (declared.l1.value() < static_cast<double>(found.l1) ||
          declared.squared_l2.value() < static_cast<double>(found.squared_l2) || !exact) {
        return fmt::format(
            "stack {} ({}): neighbours are {} and {} apart in L1 and squared L2; declared are {} "
            "and {}",
            s, show(unit), found.l1, found.squared_l2, declared.l1.value(),
            declared.squared_l2.value());
      }
    }
  }
  return std::nullopt;
}

Violation rates_are_rounded_down() {
  using boost::multiprecision::cpp_rational;
  Rng rng(29);
  for (int i = 0; i < 2000; ++i) {
    ScoreGrid grid;
    grid.sensitivity = 1 + rng.below(std::uint64_t{1} << (1 + rng.below(40)));
    const double epsilon = std::exp(20.0 * (rng.uniform() - 0.7));
    const cpp_rational rate(grid.rate_for(epsilon));
    if (2 * cpp_rational(grid.sensitivity) * rate > cpp_rational(epsilon)) {
      return fmt::format("a rate for epsilon {} at a sensitivity of {} steps is too large", epsilon,
                         grid.sensitivity);
    }
  }
  // A draw of conjunctions pays for its rate times how far apart one person can move two scores.
  for (int i = 0; i < 2000; ++i) {
    const PrivacyUnit unit{i % 2 == 0 ? Neighbors::ReplaceOne : Neighbors::AddRemove, 1 + i % 7};
    const double rate = std::exp(30.0 * (rng.uniform() - 0.5));
    const auto draw = conjunction_draw(unit, rate);
    const cpp_rational apart(range_of_scores(unit) / kUnitOfConjunctions);
    if (cpp_rational(draw.rate.num, draw.rate.den) * apart > cpp_rational(draw.epsilon.value())) {
      return fmt::format("a draw of conjunctions at rate {} is sharper than the epsilon {} it pays",
                         rate, draw.epsilon.value());
    }
  }
  return std::nullopt;
}

}  // namespace tandem::proofs
