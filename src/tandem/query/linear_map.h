// SPDX-License-Identifier: Apache-2.0
#pragma once
// A linear map of the cells of a marginal: what is asked of it. The identity is the marginal
// itself.
//
// Coefficients are whole multiples of a power-of-two unit, so that answers on counts are whole
// multiples of it too: exact in the trusted core, whose sensitivities follow from these numbers.

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

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

  bool is_identity() const { return identity_; }
  std::size_t outputs(std::size_t cells) const { return identity_ ? cells : offsets_.size() - 1; }
  std::size_t columns() const { return columns_; }  // of a map that isn't the identity
  std::span<const Entry> row(std::size_t index) const;
  double unit() const;
  int unit_exponent() const { return unit_exponent_; }

  std::vector<double> apply(std::span<const double> cells) const;

  bool operator==(const LinearMap&) const;

 private:
  LinearMap() = default;

  bool identity_ = true;
  int unit_exponent_ = 0;
  std::size_t columns_ = 0;
  std::vector<std::size_t> offsets_;  // of each row in entries_, and the end
  std::vector<Entry> entries_;
};

}  // namespace tandem
