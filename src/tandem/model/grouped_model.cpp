// SPDX-License-Identifier: Apache-2.0
#include "tandem/model/grouped_model.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numeric>
#include <string_view>
#include <utility>

#include "tandem/base/check.h"
#include "tandem/base/math.h"
#include "tandem/model/histogram/factored_histogram.h"
#include "tandem/model/model_file.h"
#include "tandem/model/model_reader.h"
#include "tandem/model/model_writer.h"
#include "tandem/model/restricted.h"

namespace tandem {
namespace {

constexpr std::string_view kKind = "grouped";

// How the cells of a clique follow from a group's key and a cell of its other columns.
struct Layout {
  Clique others;                     // of the clique, as the groups' models number them
  std::vector<std::size_t> offset;   // of each cell of these
  std::vector<std::size_t> strides;  // of each key column; 0 where the clique is without it

  Layout(const Domain& domain, const Clique& clique, const Clique& key, const Clique& rest)
      : offset(1, 0), strides(key.size(), 0) {
    std::vector<AttributeId> mine;
    std::size_t stride = domain.cells(clique);
    for (const auto id : clique) {
      const std::size_t size = domain[id].size;
      stride /= size;
      if (key.contains(id)) {
        strides[static_cast<std::size_t>(std::ranges::find(key, id) - key.begin())] = stride;
        continue;
      }
      mine.push_back(id);
      std::vector<std::size_t> further;
      further.reserve(offset.size() * size);
      for (const std::size_t at : offset) {
        for (std::size_t code = 0; code < size; ++code) further.push_back(at + code * stride);
      }
      offset = std::move(further);
    }
    others = within_group(Clique(std::move(mine)), rest);
  }
};

}  // namespace

GroupedModel::GroupedModel(Domain domain, Clique key, std::vector<Group> groups)
    : domain_(std::move(domain)), key_(std::move(key)), groups_(std::move(groups)) {
  others_ = without(domain_.all(), key_);
  check(!key_.empty() && !others_.empty() && !groups_.empty(),
        "a grouped model has a key, other columns and a group");
  std::ranges::sort(groups_, {}, &Group::key);
  const Domain inner = domain_of_group(domain_, others_);
  for (std::size_t g = 0; g < groups_.size(); ++g) {
    const Group& group = groups_[g];
    check(group.key.size() == key_.size() && group.rows > 0.0 && std::isfinite(group.rows),
          "a group has a value for each key column, and rows");
    for (std::size_t i = 0; i < key_.size(); ++i) {
      check(group.key[i] < domain_[key_[i]].size, "a group's key is in the domain");
    }
    check(g == 0 || groups_[g - 1].key != group.key, "groups have different keys");
    check(group.model != nullptr && group.model->domain() == inner,
          "a group has a model of the columns outside the key");
    total_ += group.rows;
  }
}

Factor GroupedModel::project(const Clique& clique) const {
  return std::move(project_all(std::span(&clique, 1)).front());
}

std::vector<Factor> GroupedModel::project_all(std::span<const Clique> cliques) const {
  std::vector<Factor> out;
  std::vector<Layout> layouts;
  std::vector<Clique> inside;
  for (const auto& clique : cliques) {
    out.push_back({clique, std::vector<double>(domain_.cells(clique), 0.0)});
    layouts.emplace_back(domain_, clique, key_, others_);
    inside.push_back(layouts.back().others);
  }
  for (const auto& group : groups_) {
    const auto mine = group.model->project_all(inside);
    const double scale = group.rows / group.model->total();
    for (std::size_t i = 0; i < out.size(); ++i) {
      std::size_t base = 0;
      for (std::size_t k = 0; k < key_.size(); ++k) base += group.key[k] * layouts[i].strides[k];
      for (std::size_t c = 0; c < mine[i].values.size(); ++c) {
        out[i].values[base + layouts[i].offset[c]] += scale * mine[i].values[c];
      }
    }
  }
  return out;
}

Table GroupedModel::sample(std::size_t rows, Rng& rng) const {
  std::vector<double> shares;
  for (const auto& group : groups_) shares.push_back(group.rows);
  const auto counts = round_to_total(shares, rows, rng);
  std::vector<std::size_t> place(rows);  // where each of the groups' rows goes
  std::iota(place.begin(), place.end(), std::size_t{0});
  rng.shuffle(std::span(place));
  Table out(domain_, rows);
  std::size_t next = 0;
  for (std::size_t g = 0; g < groups_.size(); ++g) {
    if (counts[g] == 0) continue;
    const Table mine = groups_[g].model->sample(counts[g], rng);
    for (std::size_t row = 0; row < counts[g]; ++row) {
      for (std::size_t k = 0; k < key_.size(); ++k) {
        out.column(key_[k]).set(place[next + row], groups_[g].key[k]);
      }
      for (std::size_t c = 0; c < others_.size(); ++c) {
        out.column(others_[c])
            .set(place[next + row], mine.column(static_cast<AttributeId>(c))[row]);
      }
    }
    next += counts[g];
  }
  return out;
}

std::unique_ptr<Model> GroupedModel::given(const Restriction& only) const {
  const auto wanted = only.mask(domain_[only.attribute].size);
  const bool of_key = key_.contains(only.attribute);
  const auto place =
      static_cast<std::size_t>(std::ranges::find(key_, only.attribute) - key_.begin());
  std::vector<Group> groups;
  double sum = 0.0;
  for (const auto& group : groups_) {
    Group kept{.key = group.key, .rows = group.rows, .model = nullptr};
    if (of_key) {
      if (!wanted[group.key[place]]) continue;
      // A copy: what every row of its first column's codes allows.
      std::vector<Code> all(domain_[others_[0]].size);
      std::iota(all.begin(), all.end(), Code{0});
      kept.model = group.model->given({0, std::move(all)});
    } else {
      const Restriction inner{within_group(Clique{only.attribute}, others_)[0], only.allowed};
      kept.rows *= allowed_rows(*group.model, inner) / group.model->total();
      if (!(kept.rows > 0.0)) continue;
      kept.model = group.model->given(inner);
    }
    sum += kept.rows;
    groups.push_back(std::move(kept));
  }
  for (auto& group : groups) group.rows *= total_ / sum;
  return std::make_unique<GroupedModel>(domain_, key_, std::move(groups));
}

bool GroupedModel::rows_are_exact() const {
  return std::ranges::all_of(groups_,
                             [](const Group& group) { return group.model->rows_are_exact(); });
}

// Each group's model is a file of its own inside this one.
bool GroupedModel::write(ModelWriter& out) const {
  out.begin(kKind, total_);
  out.set("key", out.names(key_));
  Document list = Document::array();
  for (const auto& group : groups_) {
    const auto inner = write_model(*group.model);
    if (!inner) return false;
    Document codes = Document::array();
    for (const Code code : group.key) codes.push(static_cast<std::uint64_t>(code));
    list.push(Document::object({{"key", std::move(codes)}, {"rows", group.rows}}));
    out.add("model", Clique{},
            std::span(reinterpret_cast<const std::uint8_t*>(inner->data()), inner->size()));
  }
  out.set("groups", std::move(list));
  return true;
}

std::unique_ptr<Model> GroupedModel::read(const ModelReader& in) {
  const Clique key = in.clique(in.header().at("key"));
  const Clique others = without(in.domain().all(), key);
  if (key.empty() || others.empty()) in.fail("has groups without a key, or without other columns");
  const Domain inner = domain_of_group(in.domain(), others);
  const auto& list = in.header().at("groups").as_array();
  std::vector<Group> groups;
  double sum = 0.0;
  for (const auto& array : in.arrays()) {
    if (array.what != "model" || array.type != "u1" || groups.size() == list.size()) {
      in.fail("has no model where one belongs");
    }
    const Document& entry = list[groups.size()];
    Group group;
    for (const auto& code : entry.at("key").as_array()) {
      const std::size_t k = group.key.size();
      const double value = code.as_number();
      if (k == key.size() || !(value >= 0.0 && value < in.domain()[key[k]].size) ||
          value != std::floor(value)) {
        in.fail("has a group whose key is none");
      }
      group.key.push_back(static_cast<Code>(value));
    }
    group.rows = entry.at("rows").as_number();
    if (group.key.size() != key.size() || !(group.rows > 0.0 && std::isfinite(group.rows))) {
      in.fail("has a group whose key is none, or without rows");
    }
    if (!groups.empty() && !(groups.back().key < group.key)) {
      in.fail("has groups out of order");
    }
    sum += group.rows;
    const std::string_view bytes(array.bytes, array.count);
    if (ModelReader(bytes, inner, in.name(), in.limits()).kind() == kKind) {
      in.fail("has groups of groups");
    }
    group.model = read_model(bytes, inner, in.name(), in.limits());
    groups.push_back(std::move(group));
  }
  if (groups.empty() || groups.size() != list.size() ||
      !(std::abs(sum - in.total()) <= 1e-6 * in.total())) {
    in.fail("has groups that don't add up");
  }
  return std::make_unique<GroupedModel>(in.domain(), key, std::move(groups));
}

}  // namespace tandem
