// SPDX-License-Identifier: Apache-2.0
#include "tandem/model/generator/marginal_answers.h"

#include <algorithm>
#include <utility>

#include "tandem/base/check.h"

namespace tandem {
namespace {

// Numbers of products of codes that are held at once: half a megabyte, which caches keep.
constexpr std::size_t kNumbersAtOnce = std::size_t{1} << 17;
constexpr std::size_t kFewestRows = 32;   // multiplied at once, however many codes they have
constexpr std::size_t kRowsOfTask = 128;  // that one thread takes on the way back

std::size_t rows_at_once(std::size_t numbers_a_row) {
  return std::max(kFewestRows, kNumbersAtOnce / std::max<std::size_t>(1, numbers_a_row));
}

template <class T>
MatrixView<T> block(MatrixView<T> P, const CodeLayout& layout, AttributeId id) {
  return P.some_rows(layout.first[id], layout.size[id]);
}

// Products of the codes of some columns, one column more at each level.
class Products {
 public:
  Products(const CodeLayout& layout, std::span<const AttributeId> columns)
      : layout_(layout), columns_(columns), kept_(columns.size()), levels_(columns.size()) {}

  ConstMatrix make(ConstMatrix P) {
    levels_.front() = block(P, layout_, columns_.front());
    for (std::size_t i = 1; i < columns_.size(); ++i) {
      const ConstMatrix left = levels_[i - 1];
      const ConstMatrix right = block(P, layout_, columns_[i]);
      const Matrix out = room(kept_[i], left.rows * right.rows, P.columns);
      float_math().row_products(left, right, out);
      levels_[i] = out;
    }
    return levels_.back();
  }

  // Where the gradient of the products goes: set by a product, then spread(). A single column's is
  // added to that of P at once.
  bool single() const { return columns_.size() == 1; }
  Matrix gradient_room() { return room(gradient_, levels_.back().rows, levels_.back().columns); }
  void spread(ConstMatrix P, Matrix of_P) {
    Floats below;
    for (std::size_t i = columns_.size() - 1; i >= 1; --i) {
      const ConstMatrix left = levels_[i - 1];
      Matrix of_left = block(of_P, layout_, columns_.front());
      if (i > 1) {
        of_left = room(below, left.rows, left.columns);
        std::ranges::fill(below, 0.0F);
      }
      const ConstMatrix mine{gradient_.data(), levels_[i].rows, P.columns, P.columns};
      float_math().row_products_back(left, block(P, layout_, columns_[i]), mine, of_left,
                                     block(of_P, layout_, columns_[i]));
      std::swap(gradient_, below);
    }
  }

 private:
  static Matrix room(Floats& numbers, std::size_t rows, std::size_t columns) {
    numbers.resize(rows * columns);
    return {numbers.data(), rows, columns, columns};
  }

  const CodeLayout& layout_;
  std::span<const AttributeId> columns_;
  std::vector<Floats> kept_;
  std::vector<ConstMatrix> levels_;
  Floats gradient_;
};

}  // namespace

CodeLayout::CodeLayout(const Domain& domain) {
  for (const auto& attribute : domain.attributes()) {
    first.push_back(codes);
    size.push_back(attribute.size);
    codes += attribute.size;
  }
}

MarginalAnswers::MarginalAnswers(const CodeLayout& layout, std::vector<Clique> cliques)
    : layout_(layout), cliques_(std::move(cliques)), start_{0} {
  for (const auto& clique : cliques_) {
    check(!clique.empty(), "a generator is asked for marginals with a column");
    std::size_t cells = 1;
    for (const auto id : clique) cells *= layout_.size[id];
    start_.push_back(start_.back() + cells);
  }
}

// Cut where the two groups have the fewest products together.
MarginalAnswers::Sides MarginalAnswers::sides_of(std::size_t marginal) const {
  const std::span<const AttributeId> columns(cliques_[marginal].begin(), cliques_[marginal].end());
  const std::size_t all = cells(marginal);
  Sides best{columns, {}, all, 1};
  std::size_t left = 1;
  for (std::size_t i = 1; i < columns.size(); ++i) {
    left *= layout_.size[columns[i - 1]];
    if (left + all / left > best.left_cells + best.right_cells) continue;
    best = {columns.first(i), columns.subspan(i), left, all / left};
  }
  return best;
}

void MarginalAnswers::answer(ConstMatrix P, std::span<float> answers, Team& team) const {
  check(answers.size() == cells(), "there is an answer for each cell");
  const std::size_t K = P.columns;
  const float share = 1.0F / static_cast<float>(K);
  team.run(size(), [&](std::size_t m) {
    const Sides sides = sides_of(m);
    const auto out = answers.subspan(start_[m], cells(m));
    if (sides.right.empty()) {  // a single column
      float_math().sums_of_rows(block(P, layout_, sides.left.front()), out.data());
    } else {
      Products left(layout_, sides.left);
      Products right(layout_, sides.right);
      const Matrix table{out.data(), sides.left_cells, sides.right_cells, sides.right_cells};
      const std::size_t step = rows_at_once(sides.left_cells + sides.right_cells);
      for (std::size_t k = 0; k < K; k += step) {
        const auto some = P.some_columns(k, std::min(step, K - k));
        float_math().product_bt(left.make(some), right.make(some), table, k > 0);
      }
    }
    for (float& value : out) value *= share;
  });
}

void MarginalAnswers::back(ConstMatrix P, std::span<const float> of_cells,
                           const std::vector<char>& wanted, Matrix of_P, Team& team) const {
  check(of_cells.size() == cells() && wanted.size() == size(), "there is a gradient for each cell");
  const std::size_t K = P.columns;
  const float share = 1.0F / static_cast<float>(K);
  team.run((K + kRowsOfTask - 1) / kRowsOfTask, [&](std::size_t task) {
    const std::size_t from = task * kRowsOfTask;
    const std::size_t to = std::min(K, from + kRowsOfTask);
    const Matrix mine = of_P.some_columns(from, to - from);
    for (std::size_t c = 0; c < mine.rows; ++c) {
      std::fill_n(mine.data + c * mine.stride, mine.columns, 0.0F);
    }
    for (std::size_t m = 0; m < size(); ++m) {
      if (wanted[m] == 0) continue;
      const Sides sides = sides_of(m);
      const float* cells_of = of_cells.data() + start_[m];
      if (sides.right.empty()) {
        float_math().add_to_rows(block(mine, layout_, sides.left.front()), cells_of);
        continue;
      }
      Products left(layout_, sides.left);
      Products right(layout_, sides.right);
      const ConstMatrix table{cells_of, sides.left_cells, sides.right_cells, sides.right_cells};
      const std::size_t step = rows_at_once(sides.left_cells + sides.right_cells);
      for (std::size_t k = from; k < to; k += step) {
        const std::size_t count = std::min(step, to - k);
        const auto some = P.some_columns(k, count);
        const auto of_some = of_P.some_columns(k, count);
        const ConstMatrix of_left = left.make(some);
        const ConstMatrix of_right = right.make(some);
        if (left.single()) {
          float_math().product(table, of_right, block(of_some, layout_, sides.left.front()), true);
        } else {
          float_math().product(table, of_right, left.gradient_room(), false);
          left.spread(some, of_some);
        }
        if (right.single()) {
          float_math().product_at(table, of_left, block(of_some, layout_, sides.right.front()),
                                  true);
        } else {
          float_math().product_at(table, of_left, right.gradient_room(), false);
          right.spread(some, of_some);
        }
      }
    }
    for (std::size_t c = 0; c < mine.rows; ++c) {
      for (std::size_t k = 0; k < mine.columns; ++k) mine.data[c * mine.stride + k] *= share;
    }
  });
}

}  // namespace tandem
