// SPDX-License-Identifier: Apache-2.0
#include "tandem/query/axis_map.h"

#include <fmt/core.h>

#include <algorithm>
#include <utility>

#include "tandem/base/check.h"
#include "tandem/base/digest.h"

namespace tandem {

AxisMap AxisMap::given(std::vector<std::int64_t> entries, std::size_t codes, int unit_exponent) {
  check(codes > 0 && !entries.empty() && entries.size() % codes == 0, "a map has whole rows");
  check(unit_exponent >= -62 && unit_exponent <= 62, "the unit of a map is 2^-62 to 2^62");
  AxisMap out(Kind::Given, codes);
  out.unit_exponent_ = unit_exponent;
  out.entries_ = std::move(entries);
  return out;
}

std::int64_t AxisMap::entry(std::size_t output, std::size_t code) const {
  switch (kind_) {
    case Kind::Identity:
      return output == code ? 1 : 0;
    case Kind::Centred:
      return output == code ? static_cast<std::int64_t>(codes_) - 1 : -1;
    case Kind::Given:
      break;
  }
  return entries_[output * codes_ + code];
}

UInt128 AxisMap::largest_entry() const {
  if (kind_ == Kind::Identity) return 1;
  if (kind_ == Kind::Centred) return std::max<std::size_t>(1, codes_ - 1);
  UInt128 most = 0;
  for (const auto entry : entries_) {
    const auto wide = static_cast<Int128>(entry);
    most = std::max(most, static_cast<UInt128>(wide < 0 ? -wide : wide));
  }
  return most;
}

bool AxisMap::has_negative() const {
  if (kind_ != Kind::Given) return kind_ == Kind::Centred;
  return std::ranges::any_of(entries_, [](std::int64_t entry) { return entry < 0; });
}

template <class Number>
std::vector<Number> AxisMap::apply(std::span<const Number> table, std::size_t outer,
                                   std::size_t inner) const {
  check(table.size() == outer * codes_ * inner, "a map is applied along an axis of its own size");
  if (kind_ == Kind::Identity) return {table.begin(), table.end()};
  std::vector<Number> out(outer * outputs() * inner, Number(0));
  for (std::size_t o = 0; o < outer; ++o) {
    const auto from = table.subspan(o * codes_ * inner, codes_ * inner);
    const std::span<Number> to(out.data() + o * outputs() * inner, outputs() * inner);
    if (kind_ == Kind::Centred) {
      std::vector<Number> sums(inner, Number(0));
      for (std::size_t c = 0; c < codes_; ++c) {
        for (std::size_t i = 0; i < inner; ++i) sums[i] += from[c * inner + i];
      }
      const auto n = static_cast<Number>(codes_);
      for (std::size_t c = 0; c < codes_; ++c) {
        for (std::size_t i = 0; i < inner; ++i) {
          to[c * inner + i] = n * from[c * inner + i] - sums[i];
        }
      }
      continue;
    }
    for (std::size_t r = 0; r < outputs(); ++r) {
      for (std::size_t c = 0; c < codes_; ++c) {
        const std::int64_t coefficient = entries_[r * codes_ + c];
        if (coefficient == 0) continue;
        const auto factor = static_cast<Number>(coefficient);
        for (std::size_t i = 0; i < inner; ++i) to[r * inner + i] += factor * from[c * inner + i];
      }
    }
  }
  return out;
}

template std::vector<double> AxisMap::apply(std::span<const double>, std::size_t,
                                            std::size_t) const;
template std::vector<std::int64_t> AxisMap::apply(std::span<const std::int64_t>, std::size_t,
                                                  std::size_t) const;
template std::vector<Int128> AxisMap::apply(std::span<const Int128>, std::size_t,
                                            std::size_t) const;

std::string AxisMap::describe() const {
  if (kind_ == Kind::Identity) return fmt::format("i{}", codes_);
  if (kind_ == Kind::Centred) return fmt::format("c{}", codes_);
  std::string text;
  for (const auto entry : entries_) text += fmt::format("{},", entry);
  return fmt::format("g{};{};{}", codes_, unit_exponent_, sha256_hex(text));
}

}  // namespace tandem
