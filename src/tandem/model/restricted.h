// SPDX-License-Identifier: Apache-2.0
#pragma once
// A model given that rows fulfil several restrictions, and how many of its rows do.

#include <memory>
#include <span>

#include "tandem/model/model.h"

namespace tandem {

struct RestrictedModel {
  std::unique_ptr<Model> model;  // of the same total; nothing when the share is zero
  double share = 0.0;            // of the model's rows that fulfil every restriction
};

// At least one restriction. Costs a pass over a histogram, and for a graphical model a propagation
// for each restriction.
RestrictedModel restricted(const Model& model, std::span<const Restriction> restrictions);

// How many rows of the model have a wanted code.
double allowed_rows(const Model& model, const Restriction& only);

}  // namespace tandem
