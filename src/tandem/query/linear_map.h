// SPDX-License-Identifier: Apache-2.0
#pragma once
// A linear map of the cells of a marginal: what is asked of it. The identity is the marginal
// itself; other maps list their rows, or are a product of small maps, one for each attribute.
//
// Coefficients are whole multiples of a power-of-two unit, so that answers on counts are whole
// multiples of it too: exact in the trusted core, whose sensitivities follow from these numbers.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "tandem/query/axis_map.h"

namespace tandem {

class LinearMap {
 public:
  struct Entry {
    std::size_t column = 0;        // a cell of the marginal
    std::int64_t coefficient = 0;  // in units
  };

  static LinearMap identity() { return {}; }
  // One list of entries a row. 2^unit_exponent is the unit; columns are below `columns`.
  static LinearMap rows(std::vector<std::vector<Entry>> rows, std::size_t columns,
                        int unit_exponent = 0);
  // A row-major dense matrix, each entry rounded to the nearest multiple of 2^unit_exponent.
  static LinearMap rounded(std::span<const double> entries, std::size_t rows, std::size_t columns,
                           int unit_exponent);

  // A map for each attribute of the clique, in its order: every combination of their outputs is
  // one. Nothing of the size of the whole matrix is formed.
  static LinearMap kronecker(std::vector<std::shared_ptr<const AxisMap>> axes);

  bool is_identity() const { return kind_ == Kind::Identity; }
  bool is_kronecker() const { return kind_ == Kind::Kronecker; }
  std::size_t outputs(std::size_t cells) const { return is_identity() ? cells : outputs_; }
  std::size_t columns() const { return columns_; }      // of a map that isn't the identity
  std::span<const Entry> row(std::size_t index) const;  // of one made of rows
  std::span<const std::shared_ptr<const AxisMap>> axes() const { return axes_; }  // of a product
  double unit() const;
  int unit_exponent() const { return unit_exponent_; }

  std::vector<double> apply(std::span<const double> cells) const;
  // In units, of a product: one axis after the other. REQUIRES: sums stay within the number.
  template <class Number>
  std::vector<Number> apply_axes(std::vector<Number> cells) const;

  bool operator==(const LinearMap&) const;

 private:
  enum class Kind { Identity, Rows, Kronecker };
  LinearMap() = default;

  Kind kind_ = Kind::Identity;
  int unit_exponent_ = 0;
  std::size_t columns_ = 0;
  std::size_t outputs_ = 0;           // of a map that isn't the identity
  std::vector<std::size_t> offsets_;  // of each row in entries_, and the end
  std::vector<Entry> entries_;
  std::vector<std::shared_ptr<const AxisMap>> axes_;  // shared: strategies repeat few large ones
};

}  // namespace tandem
