// SPDX-License-Identifier: Apache-2.0
#include "tandem/model/restricted.h"

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "tandem/base/error.h"
#include "tandem/model/histogram/factored_histogram.h"
#include "tandem/model/mixture_model.h"
#include "tandem/model/product_model.h"

namespace tandem {
namespace {

std::vector<bool> allowed_codes(const Restriction& restriction, Code size) {
  std::vector<bool> out(size, false);
  for (const auto code : restriction.allowed) out[code] = true;
  return out;
}

SupportHistogram given(const SupportHistogram& model, AttributeId id, const Restriction& only) {
  const auto allowed = allowed_codes(only, model.domain()[id].size);
  std::vector<std::size_t> kept;
  std::vector<double> weights;
  model.rows().column(id).visit([&](auto codes) {
    for (std::size_t r = 0; r < codes.size(); ++r) {
      if (!allowed[codes[r]]) continue;
      kept.push_back(r);
      weights.push_back(model.weights()[r]);
    }
  });
  return {Support{model.rows().select(kept), std::move(weights)}, model.total()};
}

FactoredHistogram given(const FactoredHistogram& model, const Restriction& only) {
  std::vector<FactoredHistogram::Part> parts;
  for (const auto& [group, histogram] : model.parts()) {
    if (group.contains(only.attribute)) {
      const auto id = within_group(Clique{only.attribute}, group)[0];
      parts.push_back({group, given(histogram, id, only)});
    } else {
      parts.push_back({group, histogram});
    }
  }
  return {model.domain(), std::move(parts)};
}

ProductModel given(const ProductModel& model, const Restriction& only) {
  std::vector<std::vector<double>> weights;
  for (AttributeId id = 0; id < model.domain().size(); ++id) {
    const auto column = model.probabilities(id);
    weights.emplace_back(column.begin(), column.end());
  }
  auto& column = weights[only.attribute];
  const auto allowed = allowed_codes(only, static_cast<Code>(column.size()));
  for (std::size_t code = 0; code < column.size(); ++code) {
    if (!allowed[code]) column[code] = 0.0;
  }
  return {model.domain(), std::move(weights), model.total()};
}

// How many rows of the model have an allowed code.
double allowed_rows(const Model& model, const Restriction& only) {
  const auto marginal = model.project(Clique{only.attribute});
  double rows = 0.0;
  for (const auto code : only.allowed) rows += marginal.values[code];
  return rows;
}

std::unique_ptr<Model> given(const Model& model, const Restriction& only);

// Parts weigh by how many of the allowed rows they have.
std::unique_ptr<Model> given(const MixtureModel& model, const Restriction& only) {
  std::vector<MixtureModel::Part> parts;
  double sum = 0.0;
  for (const auto& [share, part] : model.parts()) {
    const double rows = share * allowed_rows(*part, only);
    if (!(rows > 0.0)) continue;
    parts.push_back({rows, given(*part, only)});
    sum += rows;
  }
  for (auto& part : parts) part.share /= sum;
  if (parts.size() == 1) return std::move(parts.front().model);
  return std::make_unique<MixtureModel>(std::move(parts));
}

std::unique_ptr<Model> given(const Model& model, const Restriction& only) {
  if (const auto* graphical = dynamic_cast<const GraphicalModel*>(&model)) {
    return std::make_unique<GraphicalModel>(graphical->given(std::span(&only, 1)));
  }
  if (const auto* product = dynamic_cast<const ProductModel*>(&model)) {
    return std::make_unique<ProductModel>(given(*product, only));
  }
  if (const auto* rows = dynamic_cast<const SupportHistogram*>(&model)) {
    return std::make_unique<SupportHistogram>(given(*rows, only.attribute, only));
  }
  if (const auto* parts = dynamic_cast<const FactoredHistogram*>(&model)) {
    return std::make_unique<FactoredHistogram>(given(*parts, only));
  }
  if (const auto* mixture = dynamic_cast<const MixtureModel*>(&model)) {
    return given(*mixture, only);
  }
  throw InternalError("A model of an unknown kind can't be restricted.");
}

}  // namespace

// By the chain rule: the share of the first, of the second given the first, and so on.
RestrictedModel restricted(const Model& model, std::span<const Restriction> restrictions) {
  RestrictedModel out{nullptr, 1.0};
  const Model* now = &model;
  for (const auto& restriction : restrictions) {
    out.share *= allowed_rows(*now, restriction) / total(now->project(Clique{}));
    if (!(out.share > 0.0)) return {nullptr, 0.0};
    out.model = given(*now, restriction);
    now = out.model.get();
  }
  return out;
}

}  // namespace tandem
