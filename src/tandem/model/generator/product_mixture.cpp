// SPDX-License-Identifier: Apache-2.0
#include "tandem/model/generator/product_mixture.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "tandem/base/check.h"
#include "tandem/base/math.h"
#include "tandem/model/generator/float_math.h"
#include "tandem/model/model_reader.h"
#include "tandem/model/model_writer.h"

namespace tandem {
namespace {

constexpr std::size_t kNumbersAtOnce = std::size_t{1} << 16;  // products held: half a megabyte

// Products of the codes of columns, for kinds `from` to `to`, each times its weight if there are.
Doubles products(std::span<const AttributeId> columns, const ProductMixture& model,
                 std::size_t from, std::size_t to, std::span<const double> weights) {
  Doubles out;
  Doubles of_kind;
  Doubles next;
  for (std::size_t k = from; k < to; ++k) {
    of_kind.assign(1, weights.empty() ? 1.0 : weights[k]);
    for (const auto id : columns) {
      const std::size_t size = model.domain()[id].size;
      const auto mine = model.probabilities(id).subspan(k * size, size);
      next.clear();
      for (const double value : of_kind) {
        for (const double p : mine) next.push_back(value * p);
      }
      std::swap(of_kind, next);
    }
    out.insert(out.end(), of_kind.begin(), of_kind.end());
  }
  return out;
}

}  // namespace

ProductMixture::ProductMixture(Domain domain, std::vector<double> weights,
                               std::vector<std::vector<double>> probabilities, double total,
                               Threads threads)
    : domain_(std::move(domain)), total_(total), threads_(std::move(threads)) {
  check(probabilities.size() == domain_.size(), "a mixture has distributions for each column");
  std::vector<char> stays(weights.size(), 1);
  for (std::size_t k = 0; k < weights.size(); ++k) {
    check(weights[k] >= 0.0 && std::isfinite(weights[k]), "a kind of rows has a weight");
    if (weights[k] == 0.0) stays[k] = 0;
  }
  for (AttributeId id = 0; id < domain_.size(); ++id) {
    const std::size_t size = domain_[id].size;
    check(probabilities[id].size() == size * weights.size(), "a kind has a weight for each code");
    for (std::size_t k = 0; k < weights.size(); ++k) {
      const std::span mine(probabilities[id].data() + k * size, size);
      const double sum = std::accumulate(mine.begin(), mine.end(), 0.0);
      check(sum >= 0.0 && std::isfinite(sum), "weights of codes are numbers");
      if (sum == 0.0) {
        stays[k] = 0;
        continue;
      }
      for (double& value : mine) value /= sum;
    }
  }
  probabilities_.resize(domain_.size());
  for (std::size_t k = 0; k < weights.size(); ++k) {
    if (stays[k] == 0) continue;
    weights_.push_back(weights[k]);
    for (AttributeId id = 0; id < domain_.size(); ++id) {
      const std::size_t size = domain_[id].size;
      const auto mine = std::span(probabilities[id]).subspan(k * size, size);
      probabilities_[id].insert(probabilities_[id].end(), mine.begin(), mine.end());
    }
  }
  check(!weights_.empty(), "a mixture has a kind of rows");
  const double sum = std::accumulate(weights_.begin(), weights_.end(), 0.0);
  check(std::isfinite(sum), "weights of kinds have a sum");
  for (double& weight : weights_) weight /= sum;
}

// The columns in two groups, cut where they have the fewest products together.
Factor ProductMixture::project(const Clique& clique) const {
  Factor out{clique, std::vector<double>(domain_.cells(clique), 0.0)};
  const std::span<const AttributeId> columns(clique.begin(), clique.end());
  const std::size_t cells = out.values.size();
  std::size_t cut = 0;
  std::size_t left_cells = 1;
  for (std::size_t i = 0, left = 1; i < columns.size(); ++i) {
    left *= domain_[columns[i]].size;
    if (left + cells / left > left_cells + cells / left_cells) continue;
    cut = i + 1;
    left_cells = left;
  }
  const std::size_t right_cells = cells / left_cells;
  const std::size_t step = std::max<std::size_t>(1, kNumbersAtOnce / (left_cells + right_cells));
  Doubles sums(cells);
  for (std::size_t k = 0; k < kinds(); k += step) {
    const std::size_t to = std::min(kinds(), k + step);
    const auto left = products(columns.first(cut), *this, k, to, weights_);
    const auto right = products(columns.subspan(cut), *this, k, to, {});
    float_math().product_at_double({left.data(), to - k, left_cells, left_cells},
                                   {right.data(), to - k, right_cells, right_cells},
                                   {sums.data(), left_cells, right_cells, right_cells}, k > 0);
  }
  for (std::size_t c = 0; c < cells; ++c) out.values[c] = total_ * sums[c];
  return out;
}

std::vector<Factor> ProductMixture::project_all(std::span<const Clique> cliques) const {
  std::vector<Factor> out(cliques.size());
  parallel_for(cliques.size(), threads_, [&](std::size_t i) { out[i] = project(cliques[i]); });
  return out;
}

Table ProductMixture::sample(std::size_t rows, Rng& rng) const {
  Table out(domain_, rows);
  const auto counts = round_to_total(weights_, rows, rng);
  std::vector<std::size_t> place(rows);  // where each of the kinds' rows goes
  std::iota(place.begin(), place.end(), std::size_t{0});
  rng.shuffle(std::span(place));
  std::vector<Code> codes;
  for (AttributeId id = 0; id < domain_.size(); ++id) {
    const std::size_t size = domain_[id].size;
    std::size_t next = 0;
    for (std::size_t k = 0; k < kinds(); ++k) {
      if (counts[k] == 0) continue;
      const auto of_code =
          round_to_total(probabilities(id).subspan(k * size, size), counts[k], rng);
      codes.clear();
      for (std::size_t code = 0; code < size; ++code) {
        codes.insert(codes.end(), of_code[code], static_cast<Code>(code));
      }
      rng.shuffle(std::span(codes));
      for (const Code code : codes) out.column(id).set(place[next++], code);
    }
  }
  return out;
}

std::unique_ptr<Model> ProductMixture::given(const Restriction& only) const {
  auto weights = weights_;
  auto probabilities = probabilities_;
  auto& column = probabilities[only.attribute];
  const std::size_t size = domain_[only.attribute].size;
  const auto wanted = only.mask(static_cast<Code>(size));
  for (std::size_t k = 0; k < kinds(); ++k) {
    double share = 0.0;
    for (std::size_t code = 0; code < size; ++code) {
      double& value = column[k * size + code];
      if (!wanted[code]) value = 0.0;
      share += value;
    }
    weights[k] *= share;
  }
  return std::make_unique<ProductMixture>(domain_, std::move(weights), std::move(probabilities),
                                          total_, threads_);
}

bool ProductMixture::write(ModelWriter& out) const {
  out.begin("products", total_);
  out.add("weights", Clique{}, weights());
  for (AttributeId id = 0; id < domain_.size(); ++id) {
    out.add("weights", Clique{id}, probabilities(id));
  }
  return true;
}

std::unique_ptr<Model> ProductMixture::read(const ModelReader& in) {
  const Domain& domain = in.domain();
  const auto& arrays = in.arrays();
  if (arrays.size() != domain.size() + 1) in.fail("has no weights for each column");
  const std::size_t kinds = arrays.front().count;
  double codes = 1.0;
  for (const auto& attribute : domain.attributes()) codes += static_cast<double>(attribute.size);
  if (2.0 * sizeof(double) * codes * static_cast<double>(kinds) > in.limits().most_bytes) {
    in.fail("is larger than the memory limit allows");
  }
  if (!arrays.front().clique.empty()) in.fail("has its columns in another order");
  auto weights = in.weights(arrays.front(), kinds);
  std::vector<std::vector<double>> probabilities;
  for (AttributeId id = 0; id < domain.size(); ++id) {
    const auto& array = arrays[id + 1];
    const std::size_t size = domain[id].size;
    if (array.clique != Clique{id}) in.fail("has its columns in another order");
    if (array.count / size != kinds || array.count % size != 0) {
      in.fail("has no weights where they belong");
    }
    probabilities.push_back(in.weights(array, array.count));
    for (std::size_t k = 0; k < kinds; ++k) {
      const std::span mine(probabilities.back().data() + k * size, size);
      if (!(std::accumulate(mine.begin(), mine.end(), 0.0) > 0.0)) {
        in.fail("has a kind of rows without a code");
      }
    }
  }
  return std::make_unique<ProductMixture>(domain, std::move(weights), std::move(probabilities),
                                          in.total(), in.limits().threads);
}

}  // namespace tandem
