// SPDX-License-Identifier: Apache-2.0
#include "tandem/optimize/strategy/strategy.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "tandem/base/check.h"
#include "tandem/optimize/strategy/residual_tables.h"
#include "tandem/query/map_distance.h"

namespace tandem {
namespace {

ColumnQueries factor_of(const ProductQueries& item, AttributeId id) {
  for (std::size_t i = 0; i < item.clique.size(); ++i) {
    if (item.clique[i] == id) return item.factors[i];
  }
  return {ColumnQueries::Kind::Total, {}};
}

// (W pi)^2: what each query takes of the variance of a column's total.
std::vector<double> squared_means(const ColumnQueries& queries, const ColumnSplit& split,
                                  std::size_t n) {
  std::vector<double> out = queries.apply(split.profile_of(n), 1, n, 1);
  for (double& mean : out) mean *= mean;
  return out;
}

// The column map of each attribute; a strategy of sets measures a column in one way only.
std::vector<const ColumnMap*> maps_by_attribute(const PlanningProblem& problem,
                                                const Strategy& strategy) {
  std::vector<const ColumnMap*> out(problem.sizes.size(), nullptr);
  for (const auto& map : strategy.maps) {
    for (std::size_t i = 0; i < map.clique.size(); ++i) {
      const ColumnMap* column = &strategy.columns[map.columns[i]];
      check(out[map.clique[i]] == nullptr || out[map.clique[i]] == column,
            "a strategy of sets has one map for each column");
      out[map.clique[i]] = column;
    }
  }
  return out;
}

double sensitivity_of_sets(const PlanningProblem& problem, const Strategy& strategy,
                           const Threads& threads) {
  const auto by_attribute = maps_by_attribute(problem, strategy);
  std::vector<std::size_t> place(problem.sizes.size(), 0);
  std::vector<ResidualColumn<double>> columns;
  for (std::size_t i = 0; i < by_attribute.size(); ++i) {
    if (by_attribute[i] == nullptr) continue;
    place[i] = columns.size();
    const auto n = static_cast<double>(problem.sizes[i]);
    ResidualColumn<double> column{n * (n - 1.0), -n};
    if (by_attribute[i]->kind == ColumnMap::Kind::Identity) {
      column = {1.0, 0.0};
    } else if (by_attribute[i]->kind == ColumnMap::Kind::Given) {
      const DenseMatrix x = gram(by_attribute[i]->matrix());
      column = {0.0, 0.0};
      for (std::size_t j = 0; j < x.rows; ++j) column.same = std::max(column.same, x(j, j));
      for (const double value : x.values) column.apart = std::min(column.apart, value);
    }
    columns.push_back(column);
  }
  std::vector<ResidualTerm<double>> terms;
  for (const auto& map : strategy.maps) {
    ResidualTerm<double> term;
    for (const auto id : map.clique) term.places.push_back(place[id]);
    term.squared_weight = map.weight.value() * map.weight.value();
    terms.push_back(std::move(term));
  }
  const double norm = largest_residual_norm<double>(terms, columns);
  const double distance =
      problem.unit.replace_one ? largest_residual_distance<double>(terms, columns, threads) : 0.0;
  return std::sqrt(problem.unit.worst(norm, distance));
}

double product_sensitivity(const PlanningProblem& problem, const Strategy& strategy) {
  const bool laplace = problem.noise == NoiseKind::Laplace;
  std::vector<std::vector<ColumnPair<double>>> pairs;
  std::vector<double> norms;
  for (const auto& column : strategy.columns) {
    if (column.kind == ColumnMap::Kind::Identity) {  // columns of I have nothing in common
      norms.push_back(1.0);
      pairs.push_back({{1.0, 1.0, 1.0}});
      if (column.values > 1) pairs.back().push_back({1.0, 1.0, 0.0});
      continue;
    }
    const DenseMatrix m = column.matrix();
    double largest = 0.0;
    for (std::size_t c = 0; c < m.columns; ++c) {
      double norm = 0.0;
      for (std::size_t r = 0; r < m.rows; ++r) {
        norm += laplace ? std::abs(m(r, c)) : m(r, c) * m(r, c);
      }
      largest = std::max(largest, norm);
    }
    norms.push_back(largest);
    pairs.emplace_back();
    if (!problem.unit.replace_one) continue;
    pairs.back() = (laplace ? column_pairs_l1<double>(m.values, m.columns)
                            : column_pairs_l2<double>(m.values, m.columns));
  }
  double norm = 0.0;
  double distance = 0.0;
  for (const auto& map : strategy.maps) {
    const double weight = laplace ? map.weight.value() : map.weight.value() * map.weight.value();
    double product = weight;
    std::vector<std::vector<ColumnPair<double>>> factors;
    for (const auto column : map.columns) {
      product *= norms[column];
      if (problem.unit.replace_one) factors.push_back(pairs[column]);
    }
    norm += product;
    distance += weight * largest_product_distance<double>(factors);
  }
  const double worst = problem.unit.worst(norm, distance);
  return laplace ? worst : std::sqrt(worst);
}

double marginals_sensitivity(const PlanningProblem& problem, const Strategy& strategy) {
  const bool laplace = problem.noise == NoiseKind::Laplace;
  double norm = 0.0;
  double distance = 0.0;
  for (const auto& map : strategy.maps) {
    const double weight = map.weight.value();
    const double size = laplace ? weight : weight * weight;
    norm += size;
    if (problem.cells(map.clique) > 1.0) distance += 2.0 * size;
  }
  const double worst = problem.unit.worst(norm, distance);
  return laplace ? worst : std::sqrt(worst);
}

}  // namespace

DenseMatrix ColumnMap::matrix() const {
  DenseMatrix out(outputs(), values);
  for (std::size_t i = 0; i < values && kind != Kind::Given; ++i) {
    if (kind == Kind::Residual) {
      std::ranges::fill(out.row(i), -1.0);
      out(i, i) += static_cast<double>(values);
    } else {
      out(i, i) = 1.0;
    }
  }
  for (std::size_t i = 0; i < entries.size(); ++i) {
    out.values[i] = std::ldexp(static_cast<double>(entries[i]), exponent);
  }
  return out;
}

double DyadicWeight::value() const { return std::ldexp(static_cast<double>(mantissa), exponent); }

DyadicWeight DyadicWeight::nearest(double value, int bits) {
  check(value > 0.0 && bits >= 1 && bits <= 50, "a weight is positive, with a few bits");
  int exponent = 0;
  const double fraction = std::frexp(value, &exponent);  // in [1/2, 1)
  DyadicWeight out{std::llround(std::ldexp(fraction, bits)), exponent - bits};
  while (out.mantissa % 2 == 0) {
    out.mantissa /= 2;
    ++out.exponent;
  }
  return out;
}

int bits_of_column(std::size_t columns, double others, bool several_maps, const PlanningUnit& unit,
                   int most) {
  constexpr int kLeast = 5;  // fewer would no longer tell values apart
  const double room = kSensitivityBits - (several_maps ? kLeastWeightBits : 0) - others -
                      std::log2(static_cast<double>(unit.rows_per_person));
  const auto each = static_cast<int>(room / static_cast<double>(std::max<std::size_t>(columns, 1)));
  return std::clamp(each, kLeast, most);
}

double Strategy::outputs() const {
  double out = 0.0;
  for (const auto& map : maps) {
    double product = 1.0;
    for (const auto column : map.columns) product *= static_cast<double>(columns[column].outputs());
    out += product;
  }
  return out;
}

std::size_t Strategy::map_for(const Clique& clique) const {
  for (std::size_t k = 0; k < maps.size(); ++k) {
    if (maps[k].clique.contains(clique)) return k;
  }
  throw InternalError("a product of the strategy answers the queries");
}

std::optional<double> ResidualKnowledge::scale(const Clique& clique) const {
  const auto found = precision.find(clique);
  if (found == precision.end()) return std::nullopt;
  double out = 1.0 / found->second;
  for (const auto id : clique) out *= splits[id].within_scale;
  return out;
}

ResidualKnowledge residual_knowledge(const PlanningProblem& problem, const Strategy& strategy) {
  check(strategy.shape == Strategy::Shape::Sets, "products know of no residual spaces");
  ResidualKnowledge out;
  out.splits.resize(problem.sizes.size());
  const auto by_attribute = maps_by_attribute(problem, strategy);
  for (std::size_t i = 0; i < by_attribute.size(); ++i) {
    if (by_attribute[i] == nullptr) continue;
    const auto n = static_cast<double>(problem.sizes[i]);
    if (by_attribute[i]->kind == ColumnMap::Kind::Identity) {
      out.splits[i].shared = 1.0 / n;
    } else if (by_attribute[i]->kind == ColumnMap::Kind::Residual) {
      out.splits[i].within_scale = 1.0 / (n * n);
    } else {
      out.splits[i] = split_by(gram(by_attribute[i]->matrix()));
    }
  }
  for (const auto& map : strategy.maps) {
    check(map.clique.size() <= 30, "a map has at most 30 columns");
    const double weight = map.weight.value();
    for (std::size_t chosen = std::size_t{1} << map.clique.size(); chosen-- > 0;) {
      double precision = weight * weight;
      for (std::size_t i = 0; i < map.clique.size(); ++i) {
        if ((chosen >> i & 1U) == 0) precision *= out.splits[map.clique[i]].shared;
      }
      if (precision > 0.0) out.precision[subset_of(map.clique, chosen)] += precision;
    }
  }
  if (problem.unit.total_is_public) out.precision.erase(Clique{});
  return out;
}

StrategyKnowledge knowledge_of(const PlanningProblem& problem, const Strategy& strategy,
                               const Threads& threads) {
  StrategyKnowledge out;
  if (strategy.shape == Strategy::Shape::Sets) {
    out.residuals = residual_knowledge(problem, strategy);
    return out;
  }
  for (const auto& column : strategy.columns) {
    threads.check();
    out.covariances.push_back(inverse(gram(column.matrix())));
  }
  return out;
}

namespace {

void predict_products(const PlanningProblem& problem, Strategy& strategy, const Threads& threads) {
  const StrategyKnowledge known = knowledge_of(problem, strategy, threads);
  for (std::size_t t = 0; t < problem.workload.size(); ++t) {
    const auto& item = problem.workload[t];
    strategy.item_errors[t] =
        item.weight * item.weight * QueryVariances(problem, strategy, known, item).sum();
  }
}

void predict_sets(const PlanningProblem& problem, Strategy& strategy) {
  const double squared = strategy.sensitivity * strategy.sensitivity;
  const ResidualKnowledge known = residual_knowledge(problem, strategy);
  ColumnErrors columns(problem.sizes.size(), known.splits);
  for (std::size_t t = 0; t < problem.workload.size(); ++t) {
    const auto& item = problem.workload[t];
    const std::size_t width = item.clique.size();
    std::vector<ColumnErrors::Pair> pairs(width);
    for (std::size_t i = 0; i < width; ++i) {
      pairs[i] = columns.of(item.clique[i], item.factors[i], problem.sizes[item.clique[i]]);
    }
    for (std::size_t chosen = 0; chosen < std::size_t{1} << width; ++chosen) {
      if (chosen == 0 && problem.unit.total_is_public) continue;
      double error = squared * item.weight * item.weight;
      for (std::size_t i = 0; i < width; ++i) {
        error *= (chosen >> i & 1U) != 0 ? pairs[i].inside : pairs[i].outside;
      }
      if (error == 0.0) continue;
      const auto scale = known.scale(subset_of(item.clique, chosen));
      check(scale.has_value(), "a strategy knows of all that a workload asks");
      strategy.item_errors[t] += error * *scale;
    }
  }
}

double sensitivity_of(const PlanningProblem& problem, const Strategy& strategy,
                      const Threads& threads) {
  const auto plain = [](const ColumnMap& column) {
    return column.kind == ColumnMap::Kind::Identity;
  };
  if (strategy.shape == Strategy::Shape::Products) return product_sensitivity(problem, strategy);
  if (std::ranges::all_of(strategy.columns, plain)) return marginals_sensitivity(problem, strategy);
  return problem.noise == NoiseKind::Laplace ? product_sensitivity(problem, strategy)
                                             : sensitivity_of_sets(problem, strategy, threads);
}

}  // namespace

void predict(const PlanningProblem& problem, Strategy& strategy, const Threads& threads) {
  strategy.sensitivity = sensitivity_of(problem, strategy, threads) *
                         static_cast<double>(problem.unit.rows_per_person);
  strategy.item_errors.assign(problem.workload.size(), 0.0);
  if (strategy.shape == Strategy::Shape::Products) {
    predict_products(problem, strategy, threads);
  } else {
    predict_sets(problem, strategy);
  }
  strategy.squared_error =
      std::accumulate(strategy.item_errors.begin(), strategy.item_errors.end(), 0.0);
}

double unit_rmse(const PlanningProblem& problem, const Strategy& strategy) {
  return std::sqrt(strategy.squared_error / problem.queries());
}

QueryVariances::QueryVariances(const PlanningProblem& problem, const Strategy& strategy,
                               const StrategyKnowledge& known, const ProductQueries& item) {
  const std::size_t width = item.clique.size();
  for (std::size_t i = 0; i < width; ++i) {
    rows_.push_back(item.factors[i].rows(problem.sizes[item.clique[i]]));
  }
  const double squared = strategy.sensitivity * strategy.sensitivity;
  if (strategy.shape == Strategy::Shape::Products) {
    const Clique asked = asked_columns(problem, item);
    if (asked.empty() && problem.unit.total_is_public) return;
    const PlannedMap& map = strategy.maps[strategy.map_for(asked)];
    Term term{squared / (map.weight.value() * map.weight.value()), {}};
    term.factors.resize(width);
    for (std::size_t i = 0; i < width; ++i) {
      term.factors[i] = squared_means(item.factors[i], {}, problem.sizes[item.clique[i]]);
    }
    for (std::size_t i = 0; i < map.clique.size(); ++i) {
      const auto found = std::ranges::find(item.clique, map.clique[i]);
      const auto variances =
          variances_of(factor_of(item, map.clique[i]), known.covariances[map.columns[i]]);
      if (found != item.clique.end()) {
        term.factors[static_cast<std::size_t>(found - item.clique.begin())] = variances;
      } else {
        term.scale *= variances.front();
      }
    }
    terms_.push_back(term);
    if (!problem.unit.total_is_public) return;
    // Queries that see no more than the public total are answered from it: the same term once more,
    // of these alone, is taken away.
    term.scale = -term.scale;
    for (std::size_t i = 0; i < width; ++i) {
      const auto times = times_total(item.factors[i], problem.sizes[item.clique[i]]);
      for (std::size_t r = 0; r < times.size(); ++r) {
        if (times[r] == 0.0) term.factors[i][r] = 0.0;
      }
    }
    terms_.push_back(std::move(term));
    return;
  }
  std::vector<std::vector<double>> inside(width);
  std::vector<std::vector<double>> outside(width);
  for (std::size_t i = 0; i < width; ++i) {
    const std::size_t n = problem.sizes[item.clique[i]];
    const auto id = item.clique[i];
    const ColumnSplit& split = known.residuals.splits[id];
    if (split.within.rows == 0 && item.factors[i].kind == ColumnQueries::Kind::Identity) {
      inside[i].assign(n, 1.0 - 1.0 / static_cast<double>(n));
    } else {
      inside[i] = variances_within(item.factors[i], split.within_of(n));
    }
    outside[i] = squared_means(item.factors[i], split, n);
  }
  for (std::size_t chosen = 0; chosen < std::size_t{1} << width; ++chosen) {
    const auto scale = known.residuals.scale(subset_of(item.clique, chosen));
    if (!scale) continue;  // nothing is asked there, or it is exactly known
    Term term{squared * *scale, {}};
    for (std::size_t i = 0; i < width; ++i) {
      term.factors.push_back((chosen >> i & 1U) != 0 ? inside[i] : outside[i]);
    }
    terms_.push_back(std::move(term));
  }
}

double QueryVariances::at(std::span<const std::size_t> rows) const {
  double out = 0.0;
  for (const auto& term : terms_) {
    double product = term.scale;
    for (std::size_t i = 0; i < rows.size(); ++i) product *= term.factors[i][rows[i]];
    out += product;
  }
  return out;
}

double QueryVariances::sum() const {
  double out = 0.0;
  for (const auto& term : terms_) {
    double product = term.scale;
    for (const auto& factor : term.factors) {
      product *= std::accumulate(factor.begin(), factor.end(), 0.0);
    }
    out += product;
  }
  return out;
}

std::vector<double> QueryVariances::all() const {
  std::vector<std::size_t> rows(rows_.size(), 0);
  std::vector<double> out;
  for (;;) {
    out.push_back(at(rows));
    std::size_t i = rows.size();
    while (i > 0 && ++rows[i - 1] == rows_[i - 1]) rows[--i] = 0;
    if (i == 0) return out;
  }
}

}  // namespace tandem
