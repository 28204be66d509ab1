// SPDX-License-Identifier: Apache-2.0
#include "tandem/query/product_queries.h"

#include <algorithm>

#include "tandem/base/check.h"

namespace tandem {

using Kind = ColumnQueries::Kind;

std::size_t ColumnQueries::rows(std::size_t n) const {
  switch (kind) {
    case Kind::Identity:
    case Kind::Prefix:
      return n;
    case Kind::Total:
      return 1;
    case Kind::Ranges:
      return n * (n + 1) / 2;
    case Kind::Given:
      check(n > 0 && given.size() % n == 0, "given queries have whole rows");
      return given.size() / n;
  }
  return 0;
}

double ColumnQueries::trace(std::size_t n) const {
  double out = 0.0;
  for (std::size_t j = 0; j < n; ++j) {
    switch (kind) {
      case Kind::Identity:
      case Kind::Total:
        out += 1.0;
        break;
      case Kind::Prefix:
        out += static_cast<double>(n - j);
        break;
      case Kind::Ranges:
        out += static_cast<double>((j + 1) * (n - j));
        break;
      case Kind::Given:
        break;
    }
  }
  for (const auto entry : given) out += static_cast<double>(entry) * static_cast<double>(entry);
  return out;
}

std::vector<double> ColumnQueries::sums(std::size_t n) const {
  const std::vector<double> ones(n, 1.0);
  return apply(ones, 1, n, 1);
}

double ColumnQueries::total(std::size_t n) const {
  double out = 0.0;
  if (kind == Kind::Ranges) {  // n - l + 1 ranges of length l
    for (std::size_t l = 1; l <= n; ++l) {
      out += static_cast<double>(l) * static_cast<double>(l) * static_cast<double>(n - l + 1);
    }
    return out;
  }
  for (const double sum : sums(n)) out += sum * sum;
  return out;
}

std::vector<double> ColumnQueries::apply(std::span<const double> table, std::size_t outer,
                                         std::size_t n, std::size_t inner) const {
  check(table.size() == outer * n * inner, "a table has the shape that it is said to");
  if (kind == Kind::Identity) return {table.begin(), table.end()};
  const std::size_t outputs = rows(n);
  std::vector<double> out(outer * outputs * inner);
  if (kind == Kind::Given) {
    for (std::size_t o = 0; o < outer; ++o) {
      for (std::size_t r = 0; r < outputs; ++r) {
        double* to = out.data() + (o * outputs + r) * inner;
        for (std::size_t j = 0; j < n; ++j) {
          const auto entry = static_cast<double>(given[r * n + j]);
          const double* from = table.data() + (o * n + j) * inner;
          for (std::size_t t = 0; t < inner; ++t) to[t] += entry * from[t];
        }
      }
    }
    return out;
  }
  std::vector<double> prefix((n + 1) * inner);
  for (std::size_t o = 0; o < outer; ++o) {
    const double* from = table.data() + o * n * inner;
    double* to = out.data() + o * outputs * inner;
    for (std::size_t j = 0; j < n * inner; ++j) prefix[inner + j] = prefix[j] + from[j];
    const auto write = [&](std::size_t a, std::size_t end) {
      for (std::size_t t = 0; t < inner; ++t) {
        *to++ = prefix[end * inner + t] - prefix[a * inner + t];
      }
    };
    if (kind == Kind::Total) {
      write(0, n);
    } else if (kind == Kind::Prefix) {
      for (std::size_t j = 0; j < n; ++j) write(0, j + 1);
    } else {
      for (std::size_t a = 0; a < n; ++a) {
        for (std::size_t b = a; b < n; ++b) write(a, b + 1);
      }
    }
  }
  return out;
}

double ProductQueries::queries(const Domain& domain) const {
  double out = 1.0;
  for (std::size_t i = 0; i < factors.size(); ++i) {
    out *= static_cast<double>(factors[i].rows(domain[clique[i]].size));
  }
  return out;
}

}  // namespace tandem
