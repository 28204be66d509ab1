// SPDX-License-Identifier: Apache-2.0
#pragma once
// A column of numbers for tests of files: 0.0, 0.1, ... 9.9. Beyond the ends: the nearer one.

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <memory>
#include <string>

#include "tandem/base/text.h"
#include "tandem/data/codec.h"

namespace tandem::test {

class TenthsCodec final : public Codec {
 public:
  Code size() const override { return 100; }
  bool numeric() const override { return true; }
  Encoded encode(std::string_view text) const override {
    const auto number = parse_number(text);
    if (!number) return {0, Fit::Unfit};
    const double tenths = std::clamp(std::floor(*number * 10.0 + 0.5), 0.0, 99.0);
    const bool within = *number >= 0.0 && *number <= 9.9;
    return {static_cast<Code>(tenths), within ? Fit::Exact : Fit::Adapted};
  }
  void decode(Code code, Rng& /*rng*/, std::string& to) const override {
    fmt::format_to(std::back_inserter(to), "{}.{}", code / 10, code % 10);
  }
  std::string expected() const override { return "a number 0 to 9.9"; }
};

inline std::unique_ptr<Codec> tenths_codec() { return std::make_unique<TenthsCodec>(); }

}  // namespace tandem::test
