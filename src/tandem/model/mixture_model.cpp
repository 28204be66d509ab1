// SPDX-License-Identifier: Apache-2.0
#include "tandem/model/mixture_model.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "tandem/base/check.h"
#include "tandem/base/math.h"

namespace tandem {

MixtureModel::MixtureModel(std::vector<Part> parts) : parts_(std::move(parts)) {
  check(!parts_.empty(), "a mixture has a part");
  double sum = 0.0;
  for (const auto& part : parts_) {
    check(part.model != nullptr && part.share > 0.0, "a part of a mixture has a model and a share");
    check(part.model->domain() == domain(), "parts of a mixture have one domain");
    sum += part.share;
  }
  check(std::abs(sum - 1.0) < 1e-9, "shares of a mixture add up to 1");
}

Factor MixtureModel::project(const Clique& clique) const {
  return std::move(project_all(std::span(&clique, 1)).front());
}

std::vector<Factor> MixtureModel::project_all(std::span<const Clique> cliques) const {
  std::vector<Factor> out;
  for (const auto& clique : cliques) {
    out.push_back({clique, std::vector<double>(domain().cells(clique), 0.0)});
  }
  for (const auto& part : parts_) {
    const auto mine = part.model->project_all(cliques);
    for (std::size_t i = 0; i < out.size(); ++i) {
      for (std::size_t c = 0; c < out[i].values.size(); ++c) {
        out[i].values[c] += part.share * mine[i].values[c];
      }
    }
  }
  return out;
}

Table MixtureModel::sample(std::size_t rows, Rng& rng) const {
  std::vector<double> shares;
  for (const auto& part : parts_) shares.push_back(part.share);
  const auto counts = round_to_total(shares, rows, rng);
  // Where each of the parts' rows goes.
  std::vector<std::size_t> place(rows);
  std::iota(place.begin(), place.end(), std::size_t{0});
  for (std::size_t i = rows; i > 1; --i) std::swap(place[i - 1], place[rng.below(i)]);
  Table out(domain(), rows);
  std::size_t next = 0;
  for (std::size_t p = 0; p < parts_.size(); ++p) {
    const Table mine = parts_[p].model->sample(counts[p], rng);
    for (AttributeId id = 0; id < domain().size(); ++id) {
      for (std::size_t row = 0; row < counts[p]; ++row) {
        out.column(id).set(place[next + row], mine.column(id)[row]);
      }
    }
    next += counts[p];
  }
  return out;
}

}  // namespace tandem
