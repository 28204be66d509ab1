// SPDX-License-Identifier: Apache-2.0
#include "tandem/optimize/strategy/marginals_planner.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <numeric>
#include <optional>
#include <unordered_map>
#include <unordered_set>

#include "tandem/base/check.h"
#include "tandem/base/rng.h"
#include "tandem/optimize/strategy/column_strategy.h"
#include "tandem/optimize/strategy/column_workload.h"
#include "tandem/optimize/strategy/marginal_cover.h"
#include "tandem/optimize/strategy/set_inclusion.h"
#include "tandem/optimize/strategy/smooth_search.h"

namespace tandem {
namespace {

constexpr std::size_t kStarts = 20;
constexpr std::size_t kStartsOfListed = 2;  // beyond 16 columns: they end within 0.1% of each other
constexpr int kEvaluationsOfStart = 150;
constexpr int kEvaluationsAtTheEnd = 2000;
constexpr int kEvaluationsAtTheEndOfListed = 300;
constexpr double kTolerance = 1e-6;  // of the gradient of the error's logarithm
constexpr std::size_t kMostLatticeColumns = 16;
constexpr double kMostCellsOfLattice = 1e7;  // of one marginal: beyond it none is measured
constexpr double kMostCellsOfUnion = 1e5;
constexpr std::size_t kMostUnions = 20'000;
constexpr int kWeightBits = 10;         // of a weight's mantissa
constexpr double kLeastWeight = 1e-12;  // of the largest, where a set is measured at all
constexpr double kMostLoss = 7e-4;      // of the error, by weights that are left out
constexpr int kMapBits = 17;            // of a p-identity, at most
constexpr int kStartsOfColumn = 4;      // of a p-identity
constexpr std::uint64_t kSeed = 1;

struct Candidates {
  std::vector<Clique> sets;
  std::vector<double> shared;  // prod c_i: 1/N_A where marginals are measured
  std::vector<double> c;       // c_R of each residual space
  std::unique_ptr<SetInclusion> inclusion;
};

// How the total's weight enters.
enum class Total {
  Free,  // a set like any other, or none
  Tied   // as large as all others together, which costs nothing where a person may be absent
};

struct Weights {
  std::vector<double> theta;
  double squared_error = 0.0;
};

// log(S^2 sum_R c_R / lambda_R) as a function of log theta.
class MarginalsError {
 public:
  MarginalsError(Candidates& candidates, bool laplace, Total total)
      : candidates_(candidates),
        laplace_(laplace),
        tied_(total == Total::Tied),
        theta_(candidates.sets.size()),
        q_(theta_.size()),
        gain_(theta_.size()),
        steepness_(theta_.size()),
        lambda_(candidates.c.size()),
        h_(candidates.c.size()) {
    const auto empty = [](const Clique& set) { return set.empty(); };
    const auto found = std::ranges::find_if(candidates.sets, empty);
    if (found != candidates.sets.end()) {
      empty_ = static_cast<std::size_t>(found - candidates.sets.begin());
    }
    tied_ = tied_ && empty_ < theta_.size();
  }

  double operator()(std::span<const double> u, std::span<double> gradient) {
    const std::size_t count = theta_.size();
    double size = 0.0;  // sum of theta, or of theta^2
    for (std::size_t a = 0; a < count; ++a) {
      theta_[a] = std::exp(u[a]);
      if (tied_ && a == empty_) continue;
      size += laplace_ ? theta_[a] : theta_[a] * theta_[a];
    }
    if (tied_) theta_[empty_] = laplace_ ? size : std::sqrt(size);
    for (std::size_t a = 0; a < count; ++a) {
      q_[a] = theta_[a] * theta_[a] * candidates_.shared[a];
    }
    candidates_.inclusion->over_supersets(q_, lambda_);
    double error = 0.0;
    for (std::size_t r = 0; r < lambda_.size(); ++r) {
      const double ratio = candidates_.c[r] / lambda_[r];
      error += ratio;
      h_[r] = ratio / lambda_[r];
    }
    if (!std::isfinite(error) || !std::isfinite(size)) {
      return std::numeric_limits<double>::infinity();
    }
    candidates_.inclusion->over_subsets(h_, gain_);
    const double by_total = tied_ ? 2.0 * q_[empty_] * gain_[empty_] / error : 0.0;
    for (std::size_t a = 0; a < count; ++a) {
      const double share = (laplace_ ? theta_[a] : theta_[a] * theta_[a]) / size;
      const double price = 2.0 * share;
      double worth = 2.0 * q_[a] * gain_[a] / error;
      // A tied total grows with every weight, by that weight's share.
      if (tied_) worth += by_total * share;
      gradient[a] = tied_ && a == empty_ ? 0.0 : price - worth;
      steepness_[a] = tied_ && a == empty_ ? 1.0 : price + worth;
    }
    return (laplace_ ? 2.0 : 1.0) * std::log(size) + std::log(error);
  }

  // A step is then (worth - price) / (worth + price): at most one in every logarithm.
  void curvature(std::span<double> inverse) const {
    for (std::size_t a = 0; a < inverse.size(); ++a) inverse[a] = 1.0 / (steepness_[a] + 1e-12);
  }

  // The weights at u, the total's among them, and the squared error with them.
  Weights weights(std::span<const double> u, const PlanningUnit& unit) {
    std::vector<double> unused(u.size());
    (*this)(u, unused);
    double norm = 0.0;
    double distance = 0.0;
    for (std::size_t a = 0; a < theta_.size(); ++a) {
      const double size = laplace_ ? theta_[a] : theta_[a] * theta_[a];
      norm += size;
      if (a != empty_) distance += 2.0 * size;
    }
    const double worst = unit.worst(norm, distance);
    const auto rows = static_cast<double>(unit.rows_per_person);
    double error = 0.0;
    for (std::size_t r = 0; r < lambda_.size(); ++r) error += candidates_.c[r] / lambda_[r];
    return {theta_, error * rows * rows * (laplace_ ? worst * worst : worst)};
  }

 private:
  Candidates& candidates_;
  bool laplace_, tied_;
  std::size_t empty_ = std::numeric_limits<std::size_t>::max();
  std::vector<double> theta_, q_, gain_, steepness_, lambda_, h_;
};

std::vector<Clique> lattice_sets(const PlanningProblem& problem,
                                 std::span<const AttributeId> columns,
                                 std::span<const Clique> parts, bool with_empty) {
  const std::unordered_set<Clique> asked(parts.begin(), parts.end());
  std::vector<Clique> out;
  for (std::size_t set = with_empty ? 0 : 1; set < std::size_t{1} << columns.size(); ++set) {
    std::vector<AttributeId> ids;
    for (std::size_t i = 0; i < columns.size(); ++i) {
      if ((set >> i & 1U) != 0) ids.push_back(columns[i]);
    }
    Clique clique(std::move(ids));
    if (problem.cells(clique) <= kMostCellsOfLattice || asked.contains(clique)) {
      out.push_back(std::move(clique));
    }
  }
  return out;
}

// The residual spaces' own sets, and unions of two and three of the widest, smallest first.
std::vector<Clique> with_unions(const PlanningProblem& problem, std::vector<Clique> sets) {
  std::unordered_set<Clique> known(sets.begin(), sets.end());
  std::vector<Clique> widest = maximal(sets);
  std::vector<Clique> frontier = widest;
  std::vector<std::pair<double, Clique>> unions;
  for (int round = 0; round < 2; ++round) {
    std::vector<Clique> next;
    for (const auto& a : frontier) {
      for (const auto& b : widest) {
        if (unions.size() >= 4 * kMostUnions) break;
        if (intersect(a, b).empty()) continue;  // nothing in common: no residual is told of twice
        Clique both = join(a, b);
        const double cells = problem.cells(both);
        if (cells > kMostCellsOfUnion || !known.insert(both).second) continue;
        unions.emplace_back(cells, both);
        next.push_back(std::move(both));
      }
    }
    frontier = std::move(next);
  }
  std::ranges::stable_sort(unions, {}, [](const auto& u) { return u.first; });
  if (unions.size() > kMostUnions) unions.resize(kMostUnions);
  for (auto& [cells, clique] : unions) sets.push_back(std::move(clique));
  return sets;
}

// What is measured of each attribute within a set.
struct Columns {
  std::vector<ColumnMap> maps;
  std::vector<ColumnSplit> splits;

  double shared(const Clique& set) const {
    double out = 1.0;
    for (const auto id : set) out *= splits[id].shared;
    return out;
  }
};

Columns all_values(const PlanningProblem& problem) {
  Columns out;
  for (const auto n : problem.sizes) {
    out.maps.push_back({ColumnMap::Kind::Identity, n, {}, 0});
    out.splits.emplace_back();
    out.splits.back().shared = 1.0 / static_cast<double>(n);
  }
  return out;
}

Strategy strategy_of(const Columns& columns, const PlanningProblem& problem,
                     std::span<const Clique> sets, std::span<const double> weights, double least,
                     int bits) {
  Strategy out;
  out.planner = "marginals";
  out.shape = Strategy::Shape::Sets;
  std::unordered_map<std::size_t, std::size_t> index;  // of attributes among out.columns
  const double largest = *std::ranges::max_element(weights);
  for (std::size_t a = 0; a < sets.size(); ++a) {
    if (weights[a] < least * largest) continue;
    PlannedMap map;
    map.clique = sets[a];
    for (const auto id : sets[a]) {
      const auto [found, is_new] = index.try_emplace(id, out.columns.size());
      if (is_new) out.columns.push_back(columns.maps[id]);
      map.columns.push_back(found->second);
    }
    // Where the total is free up to the weight of all others, it is rounded to below that.
    const bool free = sets[a].empty() && problem.unit.replace_one;
    // A search may let all of them grow, and lets those that hardly matter vanish.
    const double weight = std::max(kLeastWeight, weights[a] / largest);
    map.weight =
        DyadicWeight::nearest(free ? weight * (1.0 - std::ldexp(1.0, -bits)) : weight, bits);
    out.maps.push_back(std::move(map));
  }
  return out;
}

bool tells_all(const PlanningProblem& problem, const Strategy& strategy,
               std::span<const ResidualPart> parts) {
  const auto known = residual_knowledge(problem, strategy);
  return std::ranges::all_of(
      parts, [&](const ResidualPart& part) { return known.precision.contains(part.clique); });
}

Strategy plan_sets(const PlanningProblem& problem, const Columns& maps, const Threads& threads) {
  const bool laplace = problem.noise == NoiseKind::Laplace;
  const auto parts = residual_parts(problem, maps.splits);
  if (parts.empty()) {  // only the total is asked for, and it is public
    Strategy out =
        strategy_of(maps, problem, std::vector<Clique>{{}}, std::vector<double>{1.0}, 0.0, 8);
    predict(problem, out, threads);
    out.planned_squared_error = out.squared_error;
    return out;
  }
  std::vector<AttributeId> columns;
  std::vector<Clique> sets;
  for (const auto& part : parts) {
    sets.push_back(part.clique);
    for (const auto id : part.clique) {
      if (std::ranges::find(columns, id) == columns.end()) columns.push_back(id);
    }
  }
  std::ranges::sort(columns);
  const bool lattice = laplace && columns.size() <= kMostLatticeColumns;
  if (lattice) {
    sets = lattice_sets(problem, columns, sets, !problem.unit.total_is_public);
  } else if (laplace) {
    sets = with_unions(problem, std::move(sets));
  }
  // A search of its own for each start, since inclusions have working memory.
  const auto candidates = [&] {
    Candidates out;
    out.sets = sets;
    for (const auto& set : sets) out.shared.push_back(maps.shared(set));
    for (const auto& part : parts) out.c.push_back(part.error * maps.shared(part.clique));
    out.inclusion = set_inclusion(sets, parts, columns, lattice);
    return out;
  };
  std::size_t widest = 0;
  for (const auto& set : sets) widest = std::max(widest, set.size());

  const auto search = [&](Total total, std::vector<double>& u, int evaluations) {
    Candidates own = candidates();
    MarginalsError error(own, laplace, total);
    return search_minimum([&](auto x, auto g) { return error(x, g); }, u, evaluations, kTolerance,
                          threads, [&](auto, auto inverse) { error.curvature(inverse); });
  };
  const auto best_of_starts = [&](Total total) {
    const std::size_t starts = lattice ? kStarts : laplace ? kStartsOfListed : 1;
    std::vector<std::vector<double>> found(starts);
    std::vector<double> values(starts);
    const std::optional<MarginalCover> cover =
        laplace ? std::optional(MarginalCover(problem, sets, maps.splits)) : std::nullopt;
    parallel_for(starts, threads, [&](std::size_t start) {
      Rng rng(kSeed + start);
      auto& u = found[start];
      if (!laplace) {
        u.assign(sets.size(), 0.0);
      } else if (lattice && start < kStarts / 2 &&
                 start <= widest) {  // one width has most of the weight
        for (const auto& set : sets) {
          u.push_back((set.size() == start ? 0.0 : -4.0) + 0.1 * rng.uniform());
        }
      } else {
        const bool even = lattice && start + 1 == starts;
        const double disorder = even ? 0.0 : 0.1 * static_cast<double>(start);
        u = cover->start(disorder, rng, threads);
      }
      values[start] = search(total, u, laplace ? kEvaluationsOfStart : kEvaluationsAtTheEnd);
    });
    auto u = found[static_cast<std::size_t>(std::ranges::min_element(values) - values.begin())];
    if (laplace) search(total, u, lattice ? kEvaluationsAtTheEnd : kEvaluationsAtTheEndOfListed);
    Candidates own = candidates();
    return MarginalsError(own, laplace, total).weights(u, problem.unit);
  };

  // Rounds a plan, leaving out as many weights as cost nearly nothing.
  const auto finish = [&](const Weights& planned) {
    Strategy out;
    for (const double least : {0.03, 0.01, 3e-3, 1e-3, 1e-4, 1e-6, 0.0}) {
      out = strategy_of(maps, problem, sets, planned.theta, least, kWeightBits);
      if (!tells_all(problem, out, parts)) continue;
      predict(problem, out, threads);
      if (out.squared_error <= (1.0 + kMostLoss) * planned.squared_error) break;
    }
    out.planned_squared_error = planned.squared_error;
    return out;
  };
  Strategy out = finish(best_of_starts(Total::Free));
  if (problem.unit.replace_one && !problem.unit.total_is_public) {
    Strategy tied = finish(best_of_starts(Total::Tied));
    if (tied.squared_error < out.squared_error) out = std::move(tied);
  }
  return out;
}

}  // namespace

Strategy plan_marginals(const PlanningProblem& problem, const Threads& threads) {
  return plan_sets(problem, all_values(problem), threads);
}

Strategy plan_ordered_marginals(const PlanningProblem& problem, const Threads& threads) {
  check(problem.noise == NoiseKind::Laplace, "ordered marginals are for Laplace noise");
  Columns columns = all_values(problem);
  for (const auto& asked : column_workloads(problem)) {
    if (asked.values_alike) continue;
    const std::size_t n = problem.sizes[asked.attribute];
    columns.maps[asked.attribute] = rounded_by_norm(
        best_p_identity(asked.gram(n), problem.noise, p_of(n), kStartsOfColumn, 0, threads),
        problem.noise, kMapBits);
    columns.splits[asked.attribute] = split_by(gram(columns.maps[asked.attribute].matrix()));
  }
  Strategy out = plan_sets(problem, columns, threads);
  out.planner = "ordered-marginals";
  // The widest map that is measured says how finely columns may be measured.
  int bits = kMapBits;
  for (const auto& map : out.maps) {
    const auto given = std::ranges::count_if(
        map.columns, [&](std::size_t c) { return out.columns[c].kind == ColumnMap::Kind::Given; });
    bits = std::min(
        bits, bits_of_column(static_cast<std::size_t>(given), 0.0, true, problem.unit, kMapBits));
  }
  if (bits == kMapBits) return out;
  for (auto& column : out.columns) {
    if (column.kind == ColumnMap::Kind::Given) {
      column = rounded_by_norm(column.matrix(), problem.noise, bits);
    }
  }
  predict(problem, out, threads);
  return out;
}

}  // namespace tandem
