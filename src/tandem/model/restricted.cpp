// SPDX-License-Identifier: Apache-2.0
#include "tandem/model/restricted.h"

namespace tandem {

double allowed_rows(const Model& model, const Restriction& only) {
  const auto marginal = model.project(Clique{only.attribute});
  double rows = 0.0;
  for (const auto code : only.allowed) rows += marginal.values[code];
  return rows;
}

// By the chain rule: the share of the first, of the second given the first, and so on.
RestrictedModel restricted(const Model& model, std::span<const Restriction> restrictions) {
  RestrictedModel out{nullptr, 1.0};
  const Model* now = &model;
  for (const auto& restriction : restrictions) {
    out.share *= allowed_rows(*now, restriction) / now->total();
    if (!(out.share > 0.0)) return {nullptr, 0.0};
    out.model = now->given(restriction);
    now = out.model.get();
  }
  return out;
}

}  // namespace tandem
