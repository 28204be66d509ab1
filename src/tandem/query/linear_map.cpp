// SPDX-License-Identifier: Apache-2.0
#include "tandem/query/linear_map.h"

#include <algorithm>
#include <cmath>

#include "tandem/base/check.h"

namespace tandem {

LinearMap LinearMap::rows(std::vector<std::vector<Entry>> rows, std::size_t columns,
                          int unit_exponent) {
  check(unit_exponent >= -62 && unit_exponent <= 62, "the unit of a map is 2^-62 to 2^62");
  LinearMap map;
  map.kind_ = Kind::Rows;
  map.unit_exponent_ = unit_exponent;
  map.columns_ = columns;
  map.offsets_.push_back(0);
  for (auto& row : rows) {
    std::ranges::sort(row, {}, &Entry::column);
    for (std::size_t i = 0; i < row.size(); ++i) {
      check(row[i].column < columns, "a map's column lies outside its marginal");
      check(i == 0 || row[i - 1].column != row[i].column, "a map's row names each column once");
      if (row[i].coefficient != 0) map.entries_.push_back(row[i]);
    }
    map.offsets_.push_back(map.entries_.size());
  }
  map.outputs_ = map.offsets_.size() - 1;
  return map;
}

LinearMap LinearMap::kronecker(std::vector<std::shared_ptr<const AxisMap>> axes) {
  LinearMap map;
  map.kind_ = Kind::Kronecker;
  map.columns_ = map.outputs_ = 1;
  for (const auto& axis : axes) {
    check(axis != nullptr, "a product has a map for each attribute");
    map.columns_ *= axis->codes();
    map.outputs_ *= axis->outputs();
    map.unit_exponent_ += axis->unit_exponent();
  }
  check(map.unit_exponent_ >= -62 && map.unit_exponent_ <= 62,
        "the unit of a map is 2^-62 to 2^62");
  map.axes_ = std::move(axes);
  return map;
}

template <class Number>
std::vector<Number> LinearMap::apply_axes(std::vector<Number> cells) const {
  check(is_kronecker() && cells.size() == columns_, "a product is applied to its own marginal");
  std::size_t outer = 1;
  std::size_t inner = columns_;
  for (const auto& axis : axes_) {
    inner /= axis->codes();
    cells = axis->apply<Number>(cells, outer, inner);
    outer *= axis->outputs();
  }
  return cells;
}

template std::vector<double> LinearMap::apply_axes(std::vector<double>) const;
template std::vector<std::int64_t> LinearMap::apply_axes(std::vector<std::int64_t>) const;
template std::vector<Int128> LinearMap::apply_axes(std::vector<Int128>) const;

LinearMap LinearMap::rounded(std::span<const double> entries, std::size_t rows, std::size_t columns,
                             int unit_exponent) {
  check(entries.size() == rows * columns, "a dense map has rows x columns entries");
  std::vector<std::vector<Entry>> sparse(rows);
  for (std::size_t r = 0; r < rows; ++r) {
    for (std::size_t c = 0; c < columns; ++c) {
      const double scaled = std::nearbyint(std::ldexp(entries[r * columns + c], -unit_exponent));
      check(std::abs(scaled) < 0x1p62, "a map's coefficient is too large for its unit");
      sparse[r].push_back({c, static_cast<std::int64_t>(scaled)});
    }
  }
  return LinearMap::rows(std::move(sparse), columns, unit_exponent);
}

std::span<const LinearMap::Entry> LinearMap::row(std::size_t index) const {
  check(index + 1 < offsets_.size(), "a map has such a row; identities and products list none");
  return std::span(entries_).subspan(offsets_[index], offsets_[index + 1] - offsets_[index]);
}

double LinearMap::unit() const { return std::ldexp(1.0, unit_exponent_); }

std::vector<double> LinearMap::apply(std::span<const double> cells) const {
  if (is_identity()) return {cells.begin(), cells.end()};
  if (is_kronecker()) {
    auto answers = apply_axes<double>({cells.begin(), cells.end()});
    for (double& answer : answers) answer = std::ldexp(answer, unit_exponent_);
    return answers;
  }
  check(cells.size() == columns_, "a map is applied to a marginal of its own size");
  std::vector<double> out;
  out.reserve(offsets_.size() - 1);
  for (std::size_t r = 0; r + 1 < offsets_.size(); ++r) {
    double sum = 0.0;
    for (const auto& [column, coefficient] : row(r)) {
      sum += static_cast<double>(coefficient) * cells[column];
    }
    out.push_back(std::ldexp(sum, unit_exponent_));
  }
  return out;
}

bool LinearMap::operator==(const LinearMap& other) const {
  const auto same = [](const Entry& a, const Entry& b) {
    return a.column == b.column && a.coefficient == b.coefficient;
  };
  const auto alike = [](const auto& a, const auto& b) { return a == b || *a == *b; };
  return kind_ == other.kind_ && unit_exponent_ == other.unit_exponent_ &&
         columns_ == other.columns_ && offsets_ == other.offsets_ &&
         std::ranges::equal(entries_, other.entries_, same) &&
         std::ranges::equal(axes_, other.axes_, alike);
}

}  // namespace tandem
