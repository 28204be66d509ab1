// SPDX-License-Identifier: Apache-2.0
#pragma once
// What of a best response is clear without a search, and independent problems for the rest.
//
// A bit takes a value where what that wins for certain weighs as much as all that it might lose;
// conjunctions that become alike are merged, and conjunctions without bits in common are problems
// of their own. Some record among those that are left satisfies as much as any.

#include <cstdint>
#include <span>
#include <vector>

#include "tandem/optimize/max_csp.h"

namespace tandem {

class CspReduction {
 public:
  explicit CspReduction(const MaxCsp& problem);

  // Bits of a part stand for `indicators()` of it, which are bits of the whole. Of what a part
  // satisfies, its base is 0.
  std::span<const MaxCsp> parts() const { return parts_; }
  // The whole, from what was found for each part; where nothing is asked, as in `start`.
  std::vector<std::uint8_t> assemble(std::span<const std::vector<std::uint8_t>> found,
                                     std::span<const std::uint8_t> start) const;

 private:
  const MaxCsp& problem_;
  std::vector<std::int8_t> fixed_;  // -1: open
  std::vector<MaxCsp> parts_;
};

}  // namespace tandem
