// SPDX-License-Identifier: Apache-2.0
#pragma once
// What holds between the columns of all public rows, put as relations for a person to confirm.

#include <cstddef>
#include <string>
#include <vector>

#include "tandem/data/schema.h"

namespace tandem {

struct RelationProposal {
  bool derives = false;
  std::string text;      // "admitted <= discharged", "discharged = admitted + length days"
  std::size_t rows = 0;  // public rows that have all its values, and keep it
};

// Derived columns first, then orders, of dates before numbers. An order is proposed where rows put
// together by chance would often break it. A single row of any file speaks against a relation.
std::vector<RelationProposal> propose_relations(const Schema& schema,
                                                const std::vector<std::string>& public_sources);

}  // namespace tandem
