// SPDX-License-Identifier: Apache-2.0
#include "tandem/model/contraction.h"

#include <algorithm>
#include <cstring>

#include "tandem/base/four.h"
#include "tandem/base/multiversion.h"

namespace tandem {
namespace {

// Rows of `out` at once, kept in registers over the whole sum.
template <int Rows, int Fours>
[[gnu::always_inline]] inline void tile(const double* a, const double* b, double* out,
                                        std::size_t inner, std::size_t columns) {
  Four sum[Rows][Fours] = {};
  for (std::size_t k = 0; k < inner; ++k) {
    Four right[Fours];
    std::memcpy(right, b + k * columns, sizeof right);
    for (int r = 0; r < Rows; ++r) {
      const double left = a[static_cast<std::size_t>(r) * inner + k];
      for (int f = 0; f < Fours; ++f) sum[r][f] += left * right[f];
    }
  }
  for (int r = 0; r < Rows; ++r) {
    std::memcpy(out + static_cast<std::size_t>(r) * columns, sum[r], sizeof sum[r]);
  }
}

template <int Rows>
[[gnu::always_inline]] inline void strip(const double* a, const double* b, double* out,
                                         std::size_t inner, std::size_t columns) {
  std::size_t at = 0;
  for (; at + 8 <= columns; at += 8) tile<Rows, 2>(a, b + at, out + at, inner, columns);
  if (at < columns) tile<Rows, 1>(a, b + at, out + at, inner, columns);
}

// out = a * b for row-major matrices; columns is a multiple of four.
TANDEM_MULTIVERSION void matrix_product(const double* a, const double* b, double* out,
                                        std::size_t rows, std::size_t inner, std::size_t columns) {
  std::size_t r = 0;
  for (; r + 4 <= rows; r += 4) {
    strip<4>(a + r * inner, b, out + r * columns, inner, columns);
  }
  for (; r < rows; ++r) strip<1>(a + r * inner, b, out + r * columns, inner, columns);
}

std::vector<AttributeId> chain(std::initializer_list<const Clique*> parts) {
  std::vector<AttributeId> out;
  for (const Clique* part : parts) out.insert(out.end(), part->begin(), part->end());
  return out;
}

// Each product is a Table, whose cells have the axes that `axes` says.
template <class Table, class Axes>
std::vector<Table> products(const AxisOrder& order, const TableView& left,
                            std::span<const ArrangedTable* const> rights, const Clique& keep,
                            Axes&& axes) {
  const Domain& domain = order.domain();
  const Clique shared = intersect(left.clique, rights.front()->clique);
  const Clique batch = intersect(shared, keep);
  const Clique summed = without(shared, keep);
  const Clique in_rows = without(left.clique, shared);
  const std::size_t batches = domain.cells(batch);
  const std::size_t inner = domain.cells(summed);
  const std::size_t rows = domain.cells(in_rows);
  std::vector<Clique> own;
  std::vector<std::size_t> starts = {0};  // of each right's columns
  for (const auto* right : rights) {
    own.push_back(without(right->clique, shared));
    starts.push_back(starts.back() + domain.cells(own.back()));
  }
  const std::size_t padded = (starts.back() + 3) / 4 * 4;

  std::vector<double> a(left.values.size());
  transpose(domain, order.axes(left.clique), chain({&batch, &in_rows, &summed}), left.values.data(),
            a.data());
  std::vector<double> b(batches * inner * padded, 0.0);
  std::vector<double> room;
  for (std::size_t i = 0; i < rights.size(); ++i) {
    const std::size_t columns = starts[i + 1] - starts[i];
    room.resize(rights[i]->values.size());
    transpose(domain, order.axes(rights[i]->clique), chain({&batch, &summed, &own[i]}),
              rights[i]->values.data(), room.data());
    for (std::size_t r = 0; r < batches * inner; ++r) {
      std::copy_n(room.data() + r * columns, columns, b.data() + r * padded + starts[i]);
    }
  }
  std::vector<double> product(batches * rows * padded);
  for (std::size_t i = 0; i < batches; ++i) {
    matrix_product(a.data() + i * rows * inner, b.data() + i * inner * padded,
                   product.data() + i * rows * padded, rows, inner, padded);
  }

  std::vector<Table> out;
  out.reserve(rights.size());
  for (std::size_t i = 0; i < rights.size(); ++i) {
    const std::size_t columns = starts[i + 1] - starts[i];
    room.resize(batches * rows * columns);
    for (std::size_t r = 0; r < batches * rows; ++r) {
      std::copy_n(product.data() + r * padded + starts[i], columns, room.data() + r * columns);
    }
    Table table{join(batch, join(in_rows, own[i])), std::vector<double>(room.size())};
    transpose(domain, chain({&batch, &in_rows, &own[i]}), axes(table.clique), room.data(),
              table.values.data());
    out.push_back(std::move(table));
  }
  return out;
}

}  // namespace

ArrangedTable contract(const AxisOrder& order, const TableView& left, const TableView& right,
                       const Clique& keep) {
  const Domain& domain = order.domain();
  const Clique shared = intersect(left.clique, right.clique);
  const Clique batch = intersect(shared, keep);
  const Clique summed = without(shared, keep);
  // The wider of the two is the matrix whose columns run fastest.
  const Clique only_left = without(left.clique, shared);
  const Clique only_right = without(right.clique, shared);
  const bool swap = domain.cells(only_left) > domain.cells(only_right);
  const TableView& a = swap ? right : left;
  const TableView& b = swap ? left : right;
  const Clique& in_rows = swap ? only_right : only_left;
  const Clique& in_columns = swap ? only_left : only_right;

  const std::size_t batches = domain.cells(batch);
  const std::size_t inner = domain.cells(summed);
  const std::size_t rows = domain.cells(in_rows);
  const std::size_t columns = domain.cells(in_columns);
  const std::size_t padded = (columns + 3) / 4 * 4;

  std::vector<double> a_values(a.values.size());
  transpose(domain, order.axes(a.clique), chain({&batch, &in_rows, &summed}), a.values.data(),
            a_values.data());
  std::vector<double> b_values(batches * inner * padded, 0.0);
  transpose(domain, order.axes(b.clique), chain({&batch, &summed, &in_columns}), b.values.data(),
            b_values.data());
  if (padded != columns) {  // spread the rows out, from the last
    for (std::size_t r = batches * inner; r-- > 0;) {
      std::copy_backward(b_values.begin() + static_cast<std::ptrdiff_t>(r * columns),
                         b_values.begin() + static_cast<std::ptrdiff_t>((r + 1) * columns),
                         b_values.begin() + static_cast<std::ptrdiff_t>(r * padded + columns));
      std::fill_n(b_values.begin() + static_cast<std::ptrdiff_t>(r * padded + columns),
                  padded - columns, 0.0);
    }
  }
  std::vector<double> product(batches * rows * padded);
  for (std::size_t i = 0; i < batches; ++i) {
    matrix_product(a_values.data() + i * rows * inner, b_values.data() + i * inner * padded,
                   product.data() + i * rows * padded, rows, inner, padded);
  }
  if (padded != columns) {
    for (std::size_t r = 1; r < batches * rows; ++r) {
      std::copy_n(product.begin() + static_cast<std::ptrdiff_t>(r * padded), columns,
                  product.begin() + static_cast<std::ptrdiff_t>(r * columns));
    }
    product.resize(batches * rows * columns);
  }

  ArrangedTable out{join(batch, join(in_rows, in_columns)), std::vector<double>(product.size())};
  transpose(domain, chain({&batch, &in_rows, &in_columns}), order.axes(out.clique), product.data(),
            out.values.data());
  return out;
}

std::vector<ArrangedTable> contract_each(const AxisOrder& order, const TableView& left,
                                         std::span<const ArrangedTable* const> rights,
                                         const Clique& keep) {
  return products<ArrangedTable>(order, left, rights, keep,
                                 [&](const Clique& clique) { return order.axes(clique); });
}

std::vector<Factor> contract_to_factors(const AxisOrder& order, const TableView& left,
                                        std::span<const ArrangedTable* const> rights,
                                        const Clique& keep) {
  return products<Factor>(order, left, rights, keep, [](const Clique& clique) {
    return std::vector<AttributeId>(clique.begin(), clique.end());
  });
}

}  // namespace tandem
