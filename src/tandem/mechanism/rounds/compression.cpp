// SPDX-License-Identifier: Apache-2.0
#include "tandem/mechanism/rounds/compression.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>

namespace tandem {

Compression::Column Compression::merge(const Measurement& y, double merge_below) {
  std::vector<bool> rare;
  for (const double value : y.values) rare.push_back(value < merge_below * y.sigma.value());
  rare[static_cast<std::size_t>(std::ranges::max_element(y.values) - y.values.begin())] = false;
  if (std::ranges::count(rare, true) == 1) rare.assign(rare.size(), false);  // no group of one
  const auto merged = static_cast<std::size_t>(std::ranges::count(rare, true));
  Column out;
  out.size.assign(rare.size() - merged, 1.0);
  std::size_t next = 0;
  for (const bool joins : rare) out.group.push_back(joins ? rare.size() - merged : next++);
  if (merged > 0) out.size.push_back(static_cast<double>(merged));
  return out;
}

Compression::Compression(Domain domain, std::span<const Measurement> one_ways, double merge_below)
    : original_(std::move(domain)) {
  for (const auto& attribute : original_.attributes()) {
    Column whole{.group = std::vector<std::size_t>(attribute.size),
                 .size = std::vector<double>(attribute.size, 1.0)};
    std::iota(whole.group.begin(), whole.group.end(), std::size_t{0});
    columns_.push_back(std::move(whole));
  }
  for (const auto& y : one_ways) columns_[y.query.clique[0]] = merge(y, merge_below);
  std::vector<Attribute> groups;
  for (AttributeId id = 0; id < original_.size(); ++id) {
    groups.push_back({original_[id].name, static_cast<Code>(columns_[id].size.size()), {}});
  }
  groups_ = Domain(std::move(groups));
}

std::vector<std::size_t> Compression::group_cells(const Clique& clique) const {
  std::vector<std::size_t> cells = {0};
  for (const auto id : clique) {
    std::vector<std::size_t> further;
    for (const std::size_t cell : cells) {
      for (const std::size_t group : columns_[id].group) {
        further.push_back(cell * columns_[id].size.size() + group);
      }
    }
    cells = std::move(further);
  }
  return cells;
}

LinearQuery Compression::query(const Clique& clique) const {
  if (std::ranges::all_of(clique, [&](AttributeId id) { return columns_[id].whole(); })) {
    return {clique};
  }
  const auto groups = group_cells(clique);
  std::vector<std::vector<LinearMap::Entry>> rows(groups_.cells(clique));
  for (std::size_t cell = 0; cell < groups.size(); ++cell) rows[groups[cell]].push_back({cell, 1});
  return {clique, LinearMap::rows(std::move(rows), groups.size())};
}

std::vector<Measurement> Compression::compress(Measurement measurement, bool noise_of_all) const {
  const Clique& clique = measurement.query.clique;
  const bool of_table = measurement.query.map.is_identity();
  if (of_table) measurement.values = query(clique).map.apply(measurement.values);
  measurement.query.map = LinearMap::identity();
  if (!of_table || !noise_of_all || clique.size() != 1 || columns_[clique[0]].whole()) {
    return {std::move(measurement)};
  }
  const auto& size = columns_[clique[0]].size;
  std::vector<std::vector<LinearMap::Entry>> alone;
  for (std::size_t group = 0; group + 1 < size.size(); ++group) alone.push_back({{group, 1}});
  Measurement merged = measurement;
  merged.query.map = LinearMap::rows({{{size.size() - 1, 1}}}, size.size());
  merged.values = {measurement.values.back()};
  merged.sigma = Sigma(measurement.sigma.value() * std::sqrt(size.back()));
  measurement.query.map = LinearMap::rows(std::move(alone), size.size());
  measurement.values.pop_back();
  return {std::move(measurement), std::move(merged)};
}

std::vector<Factor> Compression::compress(std::span<const Factor> zeros) const {
  std::vector<Factor> out;
  for (const auto& zero : zeros) {
    Factor small{zero.clique, std::vector<double>(groups_.cells(zero.clique),
                                                  -std::numeric_limits<double>::infinity())};
    const auto cells = group_cells(zero.clique);
    for (std::size_t i = 0; i < cells.size(); ++i) {
      small.values[cells[i]] = std::max(small.values[cells[i]], zero.values[i]);
    }
    out.push_back(std::move(small));
  }
  return out;
}

GraphicalModel Compression::spread(const GraphicalModel& model,
                                   std::span<const Factor> zeros) const {
  std::vector<Factor> potentials(zeros.begin(), zeros.end());
  for (const auto& potential : model.potentials()) {
    Factor wide{potential.clique, {}};
    for (const std::size_t cell : group_cells(potential.clique)) {
      wide.values.push_back(potential.values[cell]);
    }
    potentials.push_back(std::move(wide));
  }
  for (AttributeId id = 0; id < original_.size(); ++id) {
    if (columns_[id].whole()) continue;
    Factor alike{Clique{id}, {}};
    for (const std::size_t group : columns_[id].group) {
      alike.values.push_back(-std::log(columns_[id].size[group]));
    }
    potentials.push_back(std::move(alike));
  }
  return {original_, std::move(potentials), model.total(), {}, model.threads()};
}

}  // namespace tandem
