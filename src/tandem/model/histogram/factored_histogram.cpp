// SPDX-License-Identifier: Apache-2.0
#include "tandem/model/histogram/factored_histogram.h"

#include <algorithm>
#include <utility>

#include <limits>
#include "tandem/base/check.h"
#include "tandem/model/model_reader.h"
#include "tandem/model/model_writer.h"
#include "tandem/query/cell_map.h"

namespace tandem {

Domain domain_of_group(const Domain& domain, const Clique& group) {
  std::vector<Attribute> attributes;
  for (const auto id : group) attributes.push_back(domain[id]);
  return Domain(std::move(attributes));
}

Clique within_group(const Clique& clique, const Clique& group) {
  std::vector<AttributeId> ids;
  for (const auto id : clique) {
    const auto at = std::ranges::find(group, id);
    check(at != group.end(), "a clique lies within its group");
    ids.push_back(static_cast<AttributeId>(at - group.begin()));
  }
  return Clique(std::move(ids));
}

FactoredHistogram::FactoredHistogram(Domain domain, std::vector<Part> parts)
    : domain_(std::move(domain)), parts_(std::move(parts)) {
  std::size_t covered = 0;
  for (const auto& part : parts_) covered += part.group.size();
  check(covered == domain_.size(), "each attribute is in one group");
}

Factor FactoredHistogram::project(const Clique& clique) const {
  const double total = parts_.front().histogram.total();
  Factor out{clique, std::vector<double>(domain_.cells(clique), total)};
  for (const auto& [group, histogram] : parts_) {
    const Clique mine = intersect(clique, group);
    if (mine.empty()) continue;
    const auto factor = histogram.project(within_group(mine, group));
    for_each_cell(domain_, clique, mine, [&](std::size_t cell, std::size_t of_mine) {
      out.values[cell] *= factor.values[of_mine] / total;
    });
  }
  return out;
}

Table FactoredHistogram::sample(std::size_t rows, Rng& rng) const {
  std::vector<Column> columns(domain_.size());
  for (const auto& [group, histogram] : parts_) {
    Table drawn = histogram.sample(rows, rng);
    for (std::size_t i = 0; i < group.size(); ++i) {
      columns[group[i]] = std::move(drawn.column(static_cast<AttributeId>(i)));
    }
  }
  return {domain_, std::move(columns)};
}

std::unique_ptr<Model> FactoredHistogram::given(const Restriction& only) const {
  std::vector<Part> parts;
  for (const auto& [group, histogram] : parts_) {
    if (!group.contains(only.attribute)) {
      parts.push_back({group, histogram});
      continue;
    }
    const auto id = within_group(Clique{only.attribute}, group)[0];
    parts.push_back({group, histogram.only({id, only.allowed})});
  }
  return std::make_unique<FactoredHistogram>(domain_, std::move(parts));
}

bool FactoredHistogram::write(ModelWriter& out) const {
  out.begin("histogram", total());
  for (const auto& [group, histogram] : parts_) histogram.write_as(group, out);
  return true;
}

std::unique_ptr<Model> FactoredHistogram::read(const ModelReader& in) {
  const Domain& domain = in.domain();
  std::vector<Part> parts;
  Clique covered;
  for (auto at = in.arrays().begin(); at != in.arrays().end();) {
    const auto end = std::find_if(at, in.arrays().end(),
                                  [](const ModelArray& array) { return array.what != "codes"; });
    if (end == in.arrays().end()) in.fail("has codes without weights");
    const Clique& group = end->clique;
    if (group.size() != static_cast<std::size_t>(end - at) || group.empty() ||
        !intersect(group, covered).empty()) {
      in.fail("has a group of columns that are not its own");
    }
    std::vector<Column> columns;
    for (std::size_t i = 0; i < group.size(); ++i, ++at) {
      if (at->clique != Clique{group[i]} || at->count != end->count ||
          at->count > std::numeric_limits<std::uint32_t>::max()) {
        in.fail("has rows that miss a column");
      }
      columns.push_back(in.codes(*at, domain[group[i]].size));
    }
    Support support{Table(domain_of_group(domain, group), std::move(columns)),
                    in.weights(*end, end->count)};
    parts.push_back({group, SupportHistogram(std::move(support), in.total())});
    covered = join(covered, group);
    ++at;
  }
  if (covered != domain.all() || parts.empty()) in.fail("has rows that miss a column");
  if (parts.size() == 1) {
    return std::make_unique<SupportHistogram>(std::move(parts.front().histogram));
  }
  return std::make_unique<FactoredHistogram>(domain, std::move(parts));
}

}  // namespace tandem
