// SPDX-License-Identifier: Apache-2.0
#pragma once
// A column as the algorithms see it: a name and finitely many codes 0 .. size-1. Public.

#include <cstdint>
#include <string>
#include <vector>

namespace tandem {

using AttributeId = std::uint32_t;  // position in a Domain
using Code = std::uint32_t;         // one value of an attribute

struct Attribute {
  std::string name;
  Code size = 0;
  std::vector<std::string> labels;  // one per code, or none: then a code is its own label
  // Codes stand in an order, so that ranges of them mean something; texts for no value come last.
  bool ordered = true;
};

}  // namespace tandem
