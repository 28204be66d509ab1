// SPDX-License-Identifier: Apache-2.0
#include "tandem/optimize/strategy/planning_problem.h"

#include <algorithm>
#include <functional>
#include <numeric>
#include <unordered_map>

#include "tandem/base/check.h"
#include "tandem/base/int128.h"

namespace tandem {

using Kind = ColumnQueries::Kind;

DenseMatrix gram_of(const ColumnQueries& queries, std::size_t n) {
  DenseMatrix out(n, n);
  const auto fill = [&](const auto& entry) {
    for (std::size_t i = 0; i < n; ++i) {
      for (std::size_t j = 0; j < n; ++j) {
        out(i, j) = static_cast<double>(entry(std::min(i, j), std::max(i, j)));
      }
    }
  };
  switch (queries.kind) {
    case Kind::Identity:
      fill([](std::size_t i, std::size_t j) { return i == j ? 1 : 0; });
      break;
    case Kind::Total:
      fill([](std::size_t, std::size_t) { return 1; });
      break;
    case Kind::Prefix:  // both values lie in the prefixes that reach the larger
      fill([n](std::size_t, std::size_t j) { return n - j; });
      break;
    case Kind::Ranges:
      fill([n](std::size_t i, std::size_t j) { return (i + 1) * (n - j); });
      break;
    case Kind::Given: {
      DenseMatrix w(queries.rows(n), n);
      std::ranges::copy(queries.given, w.values.begin());
      out = gram(w);
      break;
    }
  }
  return out;
}

namespace {

// w C w' of each row w.
std::vector<double> squares_of_rows(const DenseMatrix& rows, const DenseMatrix& covariance) {
  const DenseMatrix product = multiply(rows, covariance);
  std::vector<double> out;
  out.reserve(rows.rows);
  for (std::size_t r = 0; r < rows.rows; ++r) {
    const auto row = rows.row(r);
    out.push_back(std::inner_product(row.begin(), row.end(), product.row(r).begin(), 0.0));
  }
  return out;
}

// Of rows of whole numbers: each less its mean, where the difference is exact but for one rounding.
DenseMatrix about_means(const ColumnQueries& queries, std::size_t n) {
  DenseMatrix out(queries.rows(n), n);
  for (std::size_t r = 0; r < out.rows; ++r) {
    const auto row = std::span(queries.given).subspan(r * n, n);
    const auto sum = std::accumulate(row.begin(), row.end(), Int128{0});
    for (std::size_t j = 0; j < n; ++j) {
      out(r, j) =
          static_cast<double>(static_cast<Int128>(n) * row[j] - sum) / static_cast<double>(n);
    }
  }
  return out;
}

// tr W (I - J/n) W': the sum over queries of (w - mean)^2, without cancellation.
double squares_about_means(const ColumnQueries& queries, std::size_t n) {
  const auto size = static_cast<double>(n);
  double out = 0.0;
  switch (queries.kind) {
    case Kind::Identity:
      return size - 1.0;
    case Kind::Total:
      return 0.0;
    case Kind::Prefix:  // one of each length
    case Kind::Ranges:  // n - l + 1 of length l
      for (std::size_t l = 1; l < n; ++l) {
        const auto length = static_cast<double>(l);
        const double count = queries.kind == Kind::Prefix ? 1.0 : size - length + 1.0;
        out += count * length * (size - length) / size;
      }
      return out;
    case Kind::Given:
      for (const double entry : about_means(queries, n).values) out += entry * entry;
      return out;
  }
  return out;
}

}  // namespace

std::vector<double> variances_of(const ColumnQueries& queries, const DenseMatrix& covariance) {
  const std::size_t n = covariance.rows;
  std::vector<double> out;
  out.reserve(queries.rows(n));
  if (queries.kind == Kind::Identity) {
    for (std::size_t j = 0; j < n; ++j) out.push_back(covariance(j, j));
    return out;
  }
  if (queries.kind == Kind::Given) {
    DenseMatrix w(queries.rows(n), n);
    std::ranges::copy(queries.given, w.values.begin());
    return squares_of_rows(w, covariance);
  }
  DenseMatrix corner(n + 1, n + 1);  // sums of the covariance above and left of a place
  for (std::size_t i = 0; i < n; ++i) {
    double sum = 0.0;
    for (std::size_t j = 0; j < n; ++j) {
      sum += covariance(i, j);
      corner(i + 1, j + 1) = corner(i, j + 1) + sum;
    }
  }
  const auto block = [&](std::size_t from, std::size_t end) {
    return corner(end, end) - corner(from, end) - corner(end, from) + corner(from, from);
  };
  if (queries.kind == Kind::Total) {
    out.push_back(block(0, n));
  } else if (queries.kind == Kind::Prefix) {
    for (std::size_t j = 0; j < n; ++j) out.push_back(block(0, j + 1));
  } else {
    for (std::size_t a = 0; a < n; ++a) {
      for (std::size_t b = a; b < n; ++b) out.push_back(block(a, b + 1));
    }
  }
  return out;
}

std::vector<double> variances_within(const ColumnQueries& queries, const DenseMatrix& within) {
  const std::size_t n = within.rows;
  auto out = queries.kind == Kind::Given ? squares_of_rows(about_means(queries, n), within)
                                         : variances_of(queries, within);
  const auto exact = only_totals(queries, n);  // but for rounding
  for (std::size_t r = 0; r < exact.size(); ++r) {
    if (exact[r]) out[r] = 0.0;
  }
  return out;
}

std::vector<bool> only_totals(const ColumnQueries& queries, std::size_t n) {
  std::vector<bool> out(queries.rows(n), n == 1);
  switch (queries.kind) {
    case Kind::Identity:
      break;
    case Kind::Total:
      out[0] = true;
      break;
    case Kind::Prefix:
      out[n - 1] = true;
      break;
    case Kind::Ranges:
      out[n - 1] = true;  // the last that begins at the first value
      break;
    case Kind::Given:
      for (std::size_t r = 0; r < out.size(); ++r) {
        const auto row = std::span(queries.given).subspan(r * n, n);
        out[r] = std::ranges::all_of(row, [&](std::int64_t entry) { return entry == row[0]; });
      }
      break;
  }
  return out;
}

bool asks_only_totals(const ColumnQueries& queries, std::size_t n) {
  if (n == 1 || queries.kind == Kind::Total) return true;
  if (queries.kind != Kind::Given) return false;
  return std::ranges::all_of(only_totals(queries, n), std::identity());
}

std::vector<double> times_total(const ColumnQueries& queries, std::size_t n) {
  const auto only = only_totals(queries, n);
  std::vector<double> out(only.size(), 0.0);
  for (std::size_t r = 0; r < out.size(); ++r) {
    if (!only[r]) continue;
    out[r] = queries.kind == Kind::Given ? static_cast<double>(queries.given[r * n]) : 1.0;
  }
  return out;
}

double PlanningUnit::worst(double norm, double distance) const {
  if (!replace_one) return norm;
  return total_is_public ? distance : std::max(norm, distance);
}

double PlanningProblem::cells(const Clique& clique) const {
  double out = 1.0;
  for (const auto id : clique) out *= static_cast<double>(sizes[id]);
  return out;
}

double PlanningProblem::queries() const {
  double out = 0.0;
  for (const auto& item : workload) {
    double product = 1.0;
    for (std::size_t i = 0; i < item.factors.size(); ++i) {
      product *= static_cast<double>(item.factors[i].rows(sizes[item.clique[i]]));
    }
    out += product;
  }
  return out;
}

std::vector<double> ColumnSplit::profile_of(std::size_t n) const {
  return profile.empty() ? std::vector<double>(n, 1.0 / static_cast<double>(n)) : profile;
}

DenseMatrix ColumnSplit::within_of(std::size_t n) const {
  return within.rows > 0 ? within : centred(gram_of(ColumnQueries{}, n));
}

ColumnSplit split_by(const DenseMatrix& measured_gram) {
  // With X = c J + Y, (X + s J)^-1 = K + pi pi' / (c + s), and its sums are pi / (c + s). A shift s
  // of the size of X makes the inverse a tame one, also where c = 0.
  const std::size_t n = measured_gram.rows;
  double shift = 0.0;
  for (std::size_t i = 0; i < n; ++i) shift += measured_gram(i, i) / static_cast<double>(n);
  DenseMatrix shifted = measured_gram;
  for (double& value : shifted.values) value += shift;
  ColumnSplit out;
  out.within = inverse(shifted);
  double all = 0.0;
  for (std::size_t i = 0; i < n; ++i) {
    double sum = 0.0;
    for (const double value : out.within.row(i)) sum += value;
    out.profile.push_back(sum);
    all += sum;
  }
  for (double& share : out.profile) share /= all;
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t j = 0; j < n; ++j) {
      out.within(i, j) -= all * out.profile[i] * out.profile[j];
    }
  }
  constexpr double kRounding = 1e-12;  // of the shift: a smaller c is none
  out.shared = 1.0 / all - shift;
  if (out.shared < kRounding * shift) out.shared = 0.0;
  return out;
}

ColumnErrors::Pair ColumnErrors::of(std::size_t attribute, const ColumnQueries& queries,
                                    std::size_t n) {
  auto& known = known_[attribute];
  for (const auto& [asked, errors] : known) {
    if (asked == queries) return errors;
  }
  Pair out{squares_about_means(queries, n),
           queries.total(n) / (static_cast<double>(n) * static_cast<double>(n))};
  if (asks_only_totals(queries, n)) {
    out.inside = 0.0;
  } else if (attribute < splits_.size() && splits_[attribute].within.rows > 0) {
    const ColumnSplit& split = splits_[attribute];
    const DenseMatrix g = gram_of(queries, n);
    out.inside = queries.kind == Kind::Given
                     ? trace_of_product(gram(about_means(queries, n)), split.within)
                     : trace_of_product(g, split.within);
    out.outside = 0.0;
    for (std::size_t i = 0; i < n; ++i) {
      for (std::size_t j = 0; j < n; ++j) {
        out.outside += split.profile[i] * g(i, j) * split.profile[j];
      }
    }
  }
  known.emplace_back(queries, out);
  return out;
}

Clique asked_columns(const PlanningProblem& problem, const ProductQueries& item) {
  std::vector<AttributeId> ids;
  for (std::size_t i = 0; i < item.clique.size(); ++i) {
    const std::size_t n = problem.sizes[item.clique[i]];
    if (!asks_only_totals(item.factors[i], n)) ids.push_back(item.clique[i]);
  }
  return Clique(std::move(ids));
}

std::vector<ResidualPart> residual_parts(const PlanningProblem& problem,
                                         std::span<const ColumnSplit> splits) {
  check(!problem.unit.total_is_public || problem.unit.replace_one,
        "the number of rows is public only under replace-one");
  std::unordered_map<Clique, double> errors;
  ColumnErrors columns(problem.sizes.size(), splits);
  for (const auto& item : problem.workload) {
    const std::size_t width = item.clique.size();
    check(item.factors.size() == width && width <= 30, "a product has one factor for each column");
    std::vector<ColumnErrors::Pair> pairs(width);
    for (std::size_t i = 0; i < width; ++i) {
      pairs[i] = columns.of(item.clique[i], item.factors[i], problem.sizes[item.clique[i]]);
    }
    for (std::size_t chosen = 0; chosen < std::size_t{1} << width; ++chosen) {
      double error = item.weight * item.weight;
      std::vector<AttributeId> ids;
      for (std::size_t i = 0; i < width; ++i) {
        const bool in = (chosen >> i & 1U) != 0;
        error *= in ? pairs[i].inside : pairs[i].outside;
        if (in) ids.push_back(item.clique[i]);
      }
      if (error > 0.0 && !(ids.empty() && problem.unit.total_is_public)) {
        errors[Clique(std::move(ids))] += error;
      }
    }
  }
  std::vector<ResidualPart> out;
  out.reserve(errors.size());
  for (const auto& [clique, error] : errors) out.push_back({clique, error});
  std::ranges::sort(out, [](const ResidualPart& a, const ResidualPart& b) {
    return a.clique.size() != b.clique.size() ? a.clique.size() < b.clique.size()
                                              : a.clique < b.clique;
  });
  return out;
}

}  // namespace tandem
