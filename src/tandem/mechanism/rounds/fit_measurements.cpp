// SPDX-License-Identifier: Apache-2.0
#include "tandem/mechanism/rounds/fit_measurements.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <unordered_set>
#include <utility>

#include "tandem/base/error.h"
#include "tandem/base/text.h"
#include "tandem/mechanism/rounds/model_start.h"
#include "tandem/model/pgm/estimate_pgm.h"
#include "tandem/model/pgm/junction_tree.h"

namespace tandem {

namespace {

// Ten times as exact as a mechanism's last fit, which has to end sometime.
constexpr double kTolerance = 1e-5;
constexpr int kMostPropagations = 20'000;

std::vector<Clique> measured_cliques(std::span<const Measurement> measurements) {
  std::vector<Clique> out;
  std::unordered_set<Clique> seen;
  for (const auto& measurement : measurements) {
    const Clique& clique = measurement.query.clique;
    if (!clique.empty() && seen.insert(clique).second) out.push_back(clique);
  }
  std::stable_partition(out.begin(), out.end(),
                        [](const Clique& clique) { return clique.size() == 1; });
  return out;
}

// The smaller cliques inside one, larger ones first; of a very large one, single columns alone.
std::vector<Clique> parts_of(const Clique& clique) {
  constexpr std::size_t kMostColumns = 12;
  std::vector<Clique> out;
  if (clique.size() > kMostColumns) {
    for (const auto id : clique) out.push_back(Clique{id});
    return out;
  }
  out = subsets(clique);
  out.pop_back();  // itself
  std::ranges::stable_sort(out, std::ranges::greater{}, &Clique::size);
  return out;
}

// What a measured marginal says of a part of its columns: noise adds up with the cells.
Measurement summed(const Measurement& measurement, const Domain& domain, const Clique& onto) {
  Measurement out = measurement;
  out.query = {onto};
  out.values = marginalize({measurement.query.clique, measurement.values}, domain, onto).values;
  out.sigma =
      Sigma(measurement.sigma.value() * std::sqrt(static_cast<double>(measurement.values.size()) /
                                                  static_cast<double>(out.values.size())));
  return out;
}

// The cliques that a model within a limit has room for.
class Room {
 public:
  Room(const Domain& domain, double max_model_mb)
      : domain_(domain), limit_(static_cast<UInt128>(max_model_mb * 1e6)) {
    if (model_bytes(domain, taken_) > limit_) {
      throw UsageError(fmt::format(
          TANDEM_SETTING(
              "max-model-mb") " is {:g}, and the columns alone take {}; choose a larger one.",
          max_model_mb, human_bytes(static_cast<double>(model_bytes(domain, taken_)))));
    }
  }

  bool take(const Clique& clique) {
    if (covered_by(clique, taken_)) return true;
    taken_.push_back(clique);
    if (model_bytes(domain_, taken_) <= limit_) return true;
    taken_.pop_back();
    return false;
  }

  std::span<const Clique> taken() const { return taken_; }

 private:
  const Domain& domain_;
  UInt128 limit_;
  std::vector<Clique> taken_;
};

// The measurements that have room, and of other marginals the largest parts that have.
std::vector<Measurement> with_room(const Domain& domain, std::vector<Measurement> measurements,
                                   Room& room) {
  std::vector<Measurement> out;
  std::vector<Measurement> larger;
  for (auto& measurement : measurements) {
    if (measurement.query.clique.empty()) continue;
    auto& list = covered_by(measurement.query.clique, room.taken()) ? out : larger;
    list.push_back(std::move(measurement));
  }
  for (const auto& measurement : larger) {
    if (!measurement.query.map.is_identity()) continue;
    std::vector<Clique> kept;
    for (const auto& part : parts_of(measurement.query.clique)) {
      if (covered_by(part, kept) || !room.take(part)) continue;
      kept.push_back(part);
      out.push_back(summed(measurement, domain, part));
    }
  }
  return out;
}

void weigh_alike(std::vector<Measurement>& measurements) {
  const bool all_noisy =
      std::ranges::all_of(measurements, [](const Measurement& m) { return m.sigma > Sigma(0.0); });
  if (all_noisy) return;
  Sigma common(1.0);
  for (const auto& measurement : measurements) {
    if (measurement.sigma > Sigma(0.0)) common = measurement.sigma;
  }
  for (auto& measurement : measurements) measurement.sigma = common;
}

}  // namespace

FittedModel fit_measurements(const Domain& domain, std::vector<Measurement> measurements,
                             double total, double max_model_mb,
                             std::vector<ImpossibleBox> impossible, std::span<const Factor> start,
                             Threads threads) {
  const auto cliques = measured_cliques(measurements);
  Room room(domain, max_model_mb);
  ModelStart rules;
  if (!impossible.empty()) {
    rules = start_model({domain, {}, {}, std::move(impossible)}, max_model_mb);
  }
  for (const auto& clique : rules.cliques) room.take(clique);
  std::size_t whole = 0;
  for (const auto& clique : cliques) whole += room.take(clique) ? 1 : 0;
  weigh_alike(measurements);
  measurements = with_room(domain, std::move(measurements), room);
  std::vector<Factor> inside = std::move(rules.zeros);
  for (const auto& factor : start) {
    if (covered_by(factor.clique, room.taken())) inside.push_back(factor);
  }
  auto fit = estimate_pgm(
      domain, measurements, total, inside,
      {.tolerance = kTolerance, .max_propagations = kMostPropagations, .threads = threads});
  return {.model = std::move(fit.model),
          .measured = cliques.size(),
          .cut = cliques.size() - whole,
          .propagations = fit.propagations,
          .converged = fit.converged,
          .warnings = std::move(rules.warnings)};
}

}  // namespace tandem
