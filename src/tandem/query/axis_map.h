// SPDX-License-Identifier: Apache-2.0
#pragma once
// A small linear map of one column's codes: a factor of a Kronecker product of them.
//
// Coefficients are whole multiples of a power-of-two unit, as in every LinearMap. Maps of many
// codes that have a short description are kept as one: the identity, and what is left of a column
// when its mean is taken out, times its number of codes.

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "tandem/base/int128.h"

namespace tandem {

class AxisMap {
 public:
  enum class Kind {
    Identity,
    Centred,  // n I - J
    Given
  };

  static AxisMap identity(std::size_t codes) { return AxisMap(Kind::Identity, codes); }
  static AxisMap centred(std::size_t codes) { return AxisMap(Kind::Centred, codes); }
  // A dense matrix, row after row, in units of 2^unit_exponent.
  static AxisMap given(std::vector<std::int64_t> entries, std::size_t codes, int unit_exponent = 0);

  Kind kind() const { return kind_; }
  std::size_t codes() const { return codes_; }
  std::size_t outputs() const { return kind_ == Kind::Given ? entries_.size() / codes_ : codes_; }
  int unit_exponent() const { return unit_exponent_; }
  std::span<const std::int64_t> entries() const { return entries_; }  // of Kind::Given
  std::int64_t entry(std::size_t output, std::size_t code) const;     // in units

  UInt128 largest_entry() const;  // absolute
  bool has_negative() const;      // entries

  // In units, along the middle axis of a table of outer x codes x inner cells. Exact in whole
  // numbers, as long as no sum is beyond them. Number: double, std::int64_t or Int128.
  template <class Number>
  std::vector<Number> apply(std::span<const Number> table, std::size_t outer,
                            std::size_t inner) const;

  std::string describe() const;  // tells different maps apart
  bool operator==(const AxisMap&) const = default;

 private:
  AxisMap(Kind kind, std::size_t codes) : kind_(kind), codes_(codes) {}

  Kind kind_ = Kind::Identity;
  std::size_t codes_ = 0;
  int unit_exponent_ = 0;
  std::vector<std::int64_t> entries_;
};

}  // namespace tandem
