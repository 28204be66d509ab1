// SPDX-License-Identifier: Apache-2.0
#include "tandem/mechanism/answers/measured_answers.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "tandem/base/check.h"
#include "tandem/mechanism/answers/laplace_margins.h"
#include "tandem/mechanism/answers/merged_counts.h"
#include "tandem/optimize/strategy/reconstruction.h"
#include "tandem/optimize/strategy/residual_tables.h"
#include "tandem/optimize/strategy/strategy.h"

namespace tandem {
namespace {

constexpr int kWeightBits = 50;           // of 1/sigma: as good as the number itself
constexpr std::size_t kMostColumns = 20;  // of one measurement: its 2^columns parts are listed

// How a measurement asks about a column.
ColumnMap column_of(const AxisMap& axis) {
  ColumnMap out;
  out.values = axis.codes();
  if (axis.kind() == AxisMap::Kind::Centred) out.kind = ColumnMap::Kind::Residual;
  if (axis.kind() == AxisMap::Kind::Given) {
    out.kind = ColumnMap::Kind::Given;
    out.entries.assign(axis.entries().begin(), axis.entries().end());
    out.exponent = axis.unit_exponent();
  }
  return out;
}

bool same(const ColumnMap& a, const ColumnMap& b) {
  return a.kind == b.kind && a.values == b.values && a.exponent == b.exponent &&
         a.entries == b.entries;
}

// Whether X + shift J is positive definite, by its Cholesky factors: whether a map with the Gram
// matrix X tells all values apart, or (with a shift) all differences of them.
bool tells_apart(DenseMatrix x, bool with_total) {
  const std::size_t n = x.rows;
  double mean = 0.0;
  for (std::size_t i = 0; i < n; ++i) mean += x(i, i) / static_cast<double>(n);
  if (with_total) {
    for (double& value : x.values) value += mean;
  }
  constexpr double kRounding = 1e-10;  // of the mean diagonal: less is nothing
  for (std::size_t k = 0; k < n; ++k) {
    for (std::size_t j = 0; j < k; ++j) x(k, k) -= x(k, j) * x(k, j);
    if (!(x(k, k) > kRounding * mean)) return false;
    x(k, k) = std::sqrt(x(k, k));
    for (std::size_t i = k + 1; i < n; ++i) {
      for (std::size_t j = 0; j < k; ++j) x(i, k) -= x(i, j) * x(k, j);
      x(i, k) /= x(k, k);
    }
  }
  return true;
}

bool tells_differences(const ColumnMap& map) {
  return map.kind != ColumnMap::Kind::Given || tells_apart(gram(map.matrix()), true);
}

bool tells_values(const ColumnMap& map) {
  if (map.kind == ColumnMap::Kind::Given) return tells_apart(gram(map.matrix()), false);
  return map.kind == ColumnMap::Kind::Identity;
}

// A measurement with the columns' maps spelt out.
struct Asked {
  const Measurement* measurement = nullptr;
  std::vector<ColumnMap> columns;
  bool plain() const {
    return std::ranges::all_of(
        columns, [](const ColumnMap& c) { return c.kind == ColumnMap::Kind::Identity; });
  }
};

bool is_noisy(const Measurement& y) {
  return y.origin == Origin::Private && y.noise != NoiseKind::None && y.sigma.value() > 0.0;
}

std::vector<Asked> usable(const Domain& domain, std::span<const Measurement> measurements) {
  std::vector<Asked> out;
  for (const auto& y : measurements) {
    if (!is_noisy(y) || y.query.clique.size() > kMostColumns) continue;
    Asked asked{&y, {}};
    if (y.query.map.is_identity()) {
      for (const auto id : y.query.clique) {
        asked.columns.push_back({ColumnMap::Kind::Identity, domain[id].size, {}, 0});
      }
    } else if (y.query.map.is_kronecker()) {
      for (const auto& axis : y.query.map.axes()) asked.columns.push_back(column_of(*axis));
    } else {
      continue;
    }
    out.push_back(std::move(asked));
  }
  return out;
}

// Whether each attribute is asked about in one way only, which tells its values apart: then all
// that was measured goes together into one least-squares fit.
bool fit_together(const Domain& domain, std::span<const Asked> asked) {
  std::vector<const ColumnMap*> known(domain.size(), nullptr);
  for (const auto& one : asked) {
    const Clique& clique = one.measurement->query.clique;
    for (std::size_t i = 0; i < clique.size(); ++i) {
      const ColumnMap*& before = known[clique[i]];
      if (before == nullptr) {
        if (!tells_differences(one.columns[i])) return false;
        before = &one.columns[i];
      } else if (!same(*before, one.columns[i])) {
        return false;
      }
    }
  }
  return true;
}

Strategy strategy_of(const Domain& domain, std::vector<Asked> asked,
                     std::vector<const Measurement*>& used) {
  Strategy out;
  out.planner = "measured";
  out.sensitivity = 1.0;  // noise is what it was: s = 1 and w_k = 1 / sigma_k
  if (!fit_together(domain, asked)) {
    std::vector<Asked> whole;  // each of which answers by itself
    for (const auto& one : asked) {
      if (std::ranges::all_of(one.columns, tells_values)) whole.push_back(one);
    }
    std::vector<Asked> plain;
    for (const auto& one : whole) {
      if (one.plain()) plain.push_back(one);
    }
    if (plain.empty()) {
      asked = std::move(whole);
      out.shape = Strategy::Shape::Products;
    } else {
      asked = std::move(plain);
    }
  }
  const bool sets = out.shape == Strategy::Shape::Sets;
  std::vector<std::size_t> known(domain.size(), domain.size());  // place of an attribute's column
  for (auto& one : asked) {
    PlannedMap map;
    map.clique = one.measurement->query.clique;
    map.weight = DyadicWeight::nearest(1.0 / one.measurement->sigma.value(), kWeightBits);
    for (std::size_t i = 0; i < map.clique.size(); ++i) {
      std::size_t place = out.columns.size();
      if (sets && known[map.clique[i]] < domain.size()) {
        place = known[map.clique[i]];
      } else {
        known[map.clique[i]] = place;
        out.columns.push_back(std::move(one.columns[i]));
      }
      map.columns.push_back(place);
    }
    out.maps.push_back(std::move(map));
    used.push_back(one.measurement);
  }
  return out;
}

}  // namespace

struct MeasuredAnswers::Parts {
  Domain domain;
  std::vector<Measurement> merged;  // of sums of cells: each answers by itself
  PlanningProblem problem;
  Strategy strategy;
  std::optional<Reconstruction> estimate;
  StrategyKnowledge known;
  std::vector<double> margins;  // of each product, in standard deviations

  bool is_told(const Clique& part) const {
    if (part.empty() && problem.unit.total_is_public) return true;
    return known.residuals.precision.contains(part);
  }

  // Which parts of an item's queries are not told, and for each of them which rows need it.
  struct Untold {
    std::vector<std::vector<bool>> needs;  // of each factor: whether its row has a share in this
  };
  std::vector<Untold> untold_parts(const ProductQueries& item) const;
  std::vector<std::optional<MeasuredAnswer>> fitted(std::size_t index) const;
};

std::vector<MeasuredAnswers::Parts::Untold> MeasuredAnswers::Parts::untold_parts(
    const ProductQueries& item) const {
  const std::size_t width = item.clique.size();
  // Of each row: whether it tells values apart, and what it makes of the column's profile.
  std::vector<std::vector<bool>> inside(width);
  std::vector<std::vector<bool>> outside(width);
  for (std::size_t i = 0; i < width; ++i) {
    const std::size_t n = problem.sizes[item.clique[i]];
    const auto& profile = estimate->profiles()[item.clique[i]];
    inside[i] = only_totals(item.factors[i], n);
    inside[i].flip();
    for (const double mean : item.factors[i].apply(profile, 1, n, 1)) {
      constexpr double kRounding = 1e-12;
      outside[i].push_back(std::abs(mean) > kRounding);
    }
  }
  std::vector<Untold> out;
  for (std::size_t chosen = 0; chosen < std::size_t{1} << width; ++chosen) {
    if (is_told(subset_of(item.clique, chosen))) continue;
    Untold part;
    for (std::size_t i = 0; i < width; ++i) {
      part.needs.push_back((chosen >> i & 1U) != 0 ? inside[i] : outside[i]);
    }
    out.push_back(std::move(part));
  }
  return out;
}

MeasuredAnswers::MeasuredAnswers(const Domain& domain, std::vector<ProductQueries> products,
                                 std::span<const Measurement> measurements,
                                 std::optional<double> public_total, const Threads& threads)
    : parts_(std::make_unique<Parts>()) {
  PlanningProblem& problem = parts_->problem;
  for (const auto& attribute : domain.attributes()) problem.sizes.push_back(attribute.size);
  problem.workload = std::move(products);
  problem.unit = {public_total.has_value(), public_total.has_value(), 1};
  for (const auto& item : problem.workload) {
    check(item.clique.size() <= kMostColumns, "a product of queries has few columns");
  }
  parts_->domain = domain;
  for (const auto& y : measurements) {
    const bool sums = !y.query.map.is_identity() && !y.query.map.is_kronecker();
    if (sums && is_noisy(y)) parts_->merged.push_back(y);
  }
  std::vector<const Measurement*> used;
  Strategy& strategy = parts_->strategy;
  strategy = strategy_of(domain, usable(domain, measurements), used);
  std::vector<std::vector<double>> values;
  std::size_t laplace = 0;
  for (const auto* y : used) {
    values.push_back(y->values);
    if (y->noise == NoiseKind::Laplace) ++laplace;
  }
  problem.noise = laplace > 0 ? NoiseKind::Laplace : NoiseKind::Gaussian;
  parts_->known = knowledge_of(problem, strategy, threads);
  parts_->estimate.emplace(problem, strategy, parts_->known, std::move(values),
                           public_total.value_or(0.0), threads);
  if (strategy.shape == Strategy::Shape::Sets && laplace == used.size() && laplace > 0) {
    parts_->margins = laplace_margins(problem, strategy, parts_->known, threads);
  } else {  // of both kinds of noise together, intervals are those of the wider one
    parts_->margins.assign(problem.workload.size(), laplace > 0 ? kLaplace95 : kNormal95);
  }
}

MeasuredAnswers::MeasuredAnswers(MeasuredAnswers&&) noexcept = default;
MeasuredAnswers& MeasuredAnswers::operator=(MeasuredAnswers&&) noexcept = default;
MeasuredAnswers::~MeasuredAnswers() = default;

std::vector<std::optional<MeasuredAnswer>> MeasuredAnswers::answer(std::size_t index) const {
  auto out = parts_->fitted(index);
  for (const auto& y : parts_->merged) {
    const auto sums = merged_answers(parts_->domain, parts_->problem.workload[index], y);
    const double margin = y.noise == NoiseKind::Laplace ? kLaplace95 : kNormal95;
    for (std::size_t q = 0; q < sums.size(); ++q) {
      if (!sums[q] || (out[q] && out[q]->stddev <= sums[q]->stddev)) continue;
      out[q] = {sums[q]->estimate, sums[q]->stddev, margin * sums[q]->stddev};
    }
  }
  return out;
}

std::vector<std::optional<MeasuredAnswer>> MeasuredAnswers::Parts::fitted(std::size_t index) const {
  const ProductQueries& item = problem.workload[index];
  std::vector<std::size_t> rows;
  std::size_t queries = 1;
  for (std::size_t i = 0; i < item.clique.size(); ++i) {
    rows.push_back(item.factors[i].rows(problem.sizes[item.clique[i]]));
    queries *= rows.back();
  }
  std::vector<std::optional<MeasuredAnswer>> out(queries);
  std::vector<Untold> untold;
  if (strategy.shape == Strategy::Shape::Products) {
    const Clique asked = asked_columns(problem, item);
    const auto holds = [&](const PlannedMap& map) { return map.clique.contains(asked); };
    const bool known_total = asked.empty() && problem.unit.total_is_public;
    if (!known_total && std::ranges::none_of(strategy.maps, holds)) {
      return out;
    }
  } else {
    untold = untold_parts(item);
  }
  const auto estimates = estimate->answer(item);
  const auto variances = QueryVariances(problem, strategy, known, item).all();
  std::vector<std::size_t> row(rows.size(), 0);
  for (std::size_t q = 0; q < queries; ++q) {
    const bool told = std::ranges::none_of(untold, [&](const Untold& part) {
      for (std::size_t i = 0; i < row.size(); ++i) {
        if (!part.needs[i][row[i]]) return false;
      }
      return true;
    });
    if (told) {
      const double stddev = std::sqrt(std::max(0.0, variances[q]));
      out[q] = {estimates[q], stddev, margins[index] * stddev};
    }
    for (std::size_t i = row.size(); i > 0 && ++row[i - 1] == rows[i - 1]; --i) row[i - 1] = 0;
  }
  return out;
}

}  // namespace tandem
