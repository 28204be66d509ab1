// SPDX-License-Identifier: Apache-2.0
#include "tandem/model/tables/contraction.h"

#include <algorithm>
#include <cstring>
#include <memory>

#include "tandem/base/four.h"
#include "tandem/base/multiversion.h"

namespace tandem {
namespace {

// A matrix of row after row, each `stride` cells after the one before.
template <class T>
struct Matrix {
  T* cells;
  std::size_t stride;
};

// Large products are made block by block: so much of `b` is put together and stays in the cache
// while all rows of `a` pass by it.
constexpr std::size_t kInnerBlock = 256;
constexpr std::size_t kColumnBlock = 128;
constexpr std::size_t kPanel = 8;     // columns that are summed at once
constexpr std::size_t kFewRows = 12;  // that wouldn't repay the putting together

// Rows of `out` at once, kept in registers over the whole sum; added to what is there, or not.
// Fours are loaded one by one: an array that is copied whole goes over the stack in smaller pieces,
// and each read of it waits for these.
template <std::size_t Rows, std::size_t Fours>
[[gnu::always_inline]] inline void tile(Matrix<const double> a, Matrix<const double> b,
                                        Matrix<double> out, std::size_t inner, bool add) {
  Four sum[Rows][Fours];
  for (std::size_t r = 0; r < Rows; ++r) {
    for (std::size_t f = 0; f < Fours; ++f) {
      sum[r][f] = Four{};
      if (add) load(out.cells + r * out.stride + 4 * f, sum[r][f]);
    }
  }
  for (std::size_t k = 0; k < inner; ++k) {
    Four right[Fours];
    for (std::size_t f = 0; f < Fours; ++f) load(b.cells + k * b.stride + 4 * f, right[f]);
    for (std::size_t r = 0; r < Rows; ++r) {
      const double left = a.cells[r * a.stride + k];
      for (std::size_t f = 0; f < Fours; ++f) sum[r][f] += left * right[f];
    }
  }
  for (std::size_t r = 0; r < Rows; ++r) {
    for (std::size_t f = 0; f < Fours; ++f) store(sum[r][f], out.cells + r * out.stride + 4 * f);
  }
}

// The panels of `b` follow each other at `panel` cells.
template <std::size_t Rows>
[[gnu::always_inline]] inline void strip(Matrix<const double> a, Matrix<const double> b,
                                         std::size_t panel, Matrix<double> out, std::size_t inner,
                                         std::size_t columns, bool add) {
  std::size_t at = 0;
  for (; at + kPanel <= columns; at += kPanel, b.cells += panel) {
    tile<Rows, 2>(a, b, {out.cells + at, out.stride}, inner, add);
  }
  if (at < columns) tile<Rows, 1>(a, b, {out.cells + at, out.stride}, inner, add);
}

[[gnu::always_inline]] inline void strips(Matrix<const double> a, Matrix<const double> b,
                                          std::size_t panel, Matrix<double> out, std::size_t rows,
                                          std::size_t inner, std::size_t columns, bool add) {
  for (; rows >= 4; rows -= 4, a.cells += 4 * a.stride, out.cells += 4 * out.stride) {
    strip<4>(a, b, panel, out, inner, columns, add);
  }
  if (rows >= 2) {
    strip<2>(a, b, panel, out, inner, columns, add);
    rows -= 2, a.cells += 2 * a.stride, out.cells += 2 * out.stride;
  }
  if (rows == 1) strip<1>(a, b, panel, out, inner, columns, add);
}

// out = a * b; columns is a multiple of four, and the rows of `a` follow each other.
TANDEM_MULTIVERSION_FMA void matrix_product(const double* a, Matrix<const double> b,
                                            Matrix<double> out, std::size_t rows, std::size_t inner,
                                            std::size_t columns) {
  if (rows < kFewRows || inner * columns < kInnerBlock * kPanel) {
    return strips({a, inner}, b, kPanel, out, rows, inner, columns, false);
  }
  alignas(64) double block[kInnerBlock * kColumnBlock];
  for (std::size_t k = 0; k < inner; k += kInnerBlock) {
    const std::size_t deep = std::min(kInnerBlock, inner - k);
    for (std::size_t c = 0; c < columns; c += kColumnBlock) {
      const std::size_t wide = std::min(kColumnBlock, columns - c);
      for (std::size_t at = 0; at < wide; at += kPanel) {
        const double* from = b.cells + k * b.stride + c + at;
        double* to = block + at * deep;
        const std::size_t bytes = std::min(kPanel, wide - at) * sizeof(double);
        for (std::size_t i = 0; i < deep; ++i, from += b.stride, to += kPanel) {
          std::memcpy(to, from, bytes);
        }
      }
      strips({a + k, inner}, {block, kPanel}, kPanel * deep, {out.cells + c, out.stride}, rows,
             deep, wide, k > 0);
    }
  }
}

std::size_t padded_to_four(std::size_t columns) { return (columns + 3) / 4 * 4; }

// Room for cells that are all written before they are read.
using Room = std::unique_ptr<double[]>;
Room room_for(std::size_t cells) { return std::make_unique_for_overwrite<double[]>(cells); }

// The table's cells with its axes in the order `to`: in place where they are in that order already,
// otherwise in `room`.
const double* with_axes(const AxisOrder& order, const TableView& table,
                        std::span<const AttributeId> to, Room& room) {
  const auto axes = order.axes(table.clique);
  if (std::ranges::equal(axes, to)) return table.values.data();
  room = room_for(table.values.size());
  transpose(order.domain(), axes, to, table.values.data(), room.get());
  return room.get();
}

std::vector<AttributeId> chain(std::initializer_list<const Clique*> parts) {
  std::vector<AttributeId> out;
  for (const Clique* part : parts) out.insert(out.end(), part->begin(), part->end());
  return out;
}

// The table as columns of a matrix whose rows begin every `width` cells: a row for each cell of
// `in_rows`. Columns beyond its own, up to `padded`, are zero.
void put_in_columns(const AxisOrder& order, const TableView& table,
                    std::initializer_list<const Clique*> in_rows, const Clique& in_columns,
                    double* to, std::size_t width, std::size_t padded) {
  auto axes = chain(in_rows);
  axes.insert(axes.end(), in_columns.begin(), in_columns.end());
  transpose(order.domain(), order.axes(table.clique), axes, table.values.data(), to, {},
            {in_columns.size(), width});
  const std::size_t columns = order.domain().cells(in_columns);
  if (columns == padded) return;
  const std::size_t rows = table.values.size() / columns;
  for (std::size_t r = 0; r < rows; ++r) {
    std::fill_n(to + r * width + columns, padded - columns, 0.0);
  }
}

}  // namespace

AlignedTable contract(const AxisOrder& order, const TableView& left, const TableView& right,
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
  const std::size_t padded = padded_to_four(columns);

  Room room_of_a, room_of_b;
  const double* a_values = with_axes(order, a, chain({&batch, &in_rows, &summed}), room_of_a);
  const double* b_values = nullptr;
  if (padded == columns) {
    b_values = with_axes(order, b, chain({&batch, &summed, &in_columns}), room_of_b);
  } else {
    room_of_b = room_for(batches * inner * padded);
    put_in_columns(order, b, {&batch, &summed}, in_columns, room_of_b.get(), padded, padded);
    b_values = room_of_b.get();
  }
  const Room product = room_for(batches * rows * padded);
  for (std::size_t i = 0; i < batches; ++i) {
    matrix_product(a_values + i * rows * inner, {b_values + i * inner * padded, padded},
                   {product.get() + i * rows * padded, padded}, rows, inner, padded);
  }
  AlignedTable out{join(batch, join(in_rows, in_columns)), UnsetCells(batches * rows * columns)};
  transpose(domain, chain({&batch, &in_rows, &in_columns}), order.axes(out.clique), product.get(),
            out.values.data(), {in_columns.size(), padded});
  return out;
}

RightSide::RightSide(const AxisOrder& order, Clique shared, const Clique& keep,
                     std::span<const AlignedTable* const> rights)
    : order_(order),
      shared_(std::move(shared)),
      batch_(intersect(shared_, keep)),
      summed_(without(shared_, keep)) {
  const Domain& domain = order.domain();
  starts_.push_back(0);
  for (const auto* right : rights) {
    own_.push_back(without(right->clique, shared_));
    columns_.push_back(domain.cells(own_.back()));
    starts_.push_back(starts_.back() + padded_to_four(columns_.back()));
  }
  const std::size_t rows = domain.cells(shared_);
  const std::size_t width = starts_.back();
  matrix_ = room_for(rows * width);
  for (std::size_t i = 0; i < rights.size(); ++i) {
    put_in_columns(order, *rights[i], {&batch_, &summed_}, own_[i], matrix_.get() + starts_[i],
                   width, starts_[i + 1] - starts_[i]);
  }
}

// Each product is a Table, whose cells have the axes that `axes` says.
template <class Table, class Axes>
std::vector<Table> RightSide::products(const TableView& left, std::span<const std::size_t> which,
                                       Axes&& axes) const {
  const Domain& domain = order_.domain();
  const Clique in_rows = without(left.clique, shared_);
  const std::size_t batches = domain.cells(batch_);
  const std::size_t inner = domain.cells(summed_);
  const std::size_t rows = domain.cells(in_rows);
  const std::size_t width = starts_.back();
  Room room_of_a;
  const double* a = with_axes(order_, left, chain({&batch_, &in_rows, &summed_}), room_of_a);

  // Rights that stand side by side are one product.
  struct Run {
    std::size_t from, columns, to;
  };
  std::vector<Run> runs;
  std::size_t found = 0;
  for (const auto i : which) {
    const std::size_t more = starts_[i + 1] - starts_[i];
    if (runs.empty() || runs.back().from + runs.back().columns != starts_[i]) {
      runs.push_back({starts_[i], 0, found});
    }
    runs.back().columns += more;
    found += more;
  }
  const Room product = room_for(batches * rows * found);
  for (std::size_t i = 0; i < batches; ++i) {
    const double* b = matrix_.get() + i * inner * width;
    double* to = product.get() + i * rows * found;
    for (const auto& run : runs) {
      matrix_product(a + i * rows * inner, {b + run.from, width}, {to + run.to, found}, rows, inner,
                     run.columns);
    }
  }

  std::vector<Table> out;
  out.reserve(which.size());
  std::size_t start = 0;
  for (const auto i : which) {
    const std::size_t cells = batches * rows * columns_[i];
    Table table{join(batch_, join(in_rows, own_[i])), decltype(Table::values)(cells)};
    transpose(domain, chain({&batch_, &in_rows, &own_[i]}), axes(table.clique),
              product.get() + start, table.values.data(), {own_[i].size(), found});
    start += starts_[i + 1] - starts_[i];
    out.push_back(std::move(table));
  }
  return out;
}

std::vector<AlignedTable> RightSide::times(const TableView& left,
                                           std::span<const std::size_t> which) const {
  return products<AlignedTable>(left, which,
                                [&](const Clique& clique) { return order_.axes(clique); });
}

std::vector<Factor> RightSide::factors_times(const TableView& left,
                                             std::span<const std::size_t> which) const {
  return products<Factor>(left, which, [](const Clique& clique) { return clique.ids(); });
}

}  // namespace tandem
