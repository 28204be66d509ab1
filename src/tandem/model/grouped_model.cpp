// SPDX-License-Identifier: Apache-2.0
#include "tandem/model/grouped_model.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>
#include <numeric>
#include <string_view>
#include <utility>

#include "tandem/base/check.h"
#include "tandem/base/math.h"
#include "tandem/model/histogram/factored_histogram.h"
#include "tandem/model/model_file.h"
#include "tandem/model/model_reader.h"
#include "tandem/model/model_writer.h"
#include "tandem/query/counting.h"

namespace tandem {
namespace {

constexpr std::string_view kKind = "grouped";
constexpr double kMostExponent = 1e6;  // of a cell or row in a file

// How the cells of a clique follow from a group's key and a cell of its other columns.
struct Layout {
  Clique others;                     // of the clique, as the shared rows number them
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

  std::size_t base_of(const std::vector<Code>& codes) const {
    std::size_t out = 0;
    for (std::size_t k = 0; k < codes.size(); ++k) out += codes[k] * strides[k];
    return out;
  }
};

std::size_t cells_together(const Domain& domain, std::span<const Clique> marginals) {
  std::size_t out = 0;
  for (const auto& marginal : marginals) out += domain.cells(marginal);
  return out;
}

}  // namespace

GroupedModel::GroupedModel(Domain domain, Clique key, GroupRows shared, std::vector<Group> groups)
    : domain_(std::move(domain)),
      key_(std::move(key)),
      others_(without(domain_.all(), key_)),
      shared_(std::move(shared)),
      groups_(std::move(groups)) {
  check(!key_.empty() && !others_.empty() && !groups_.empty() && !shared_.bases.empty(),
        "a grouped model has a key, other columns, weights and a group");
  check(shared_.rows.domain() == domain_of_group(domain_, others_),
        "groups have rows of the columns outside the key");
  for (const auto& base : shared_.bases) {
    check(base.size() == shared_.rows.rows(), "each row has a weight in each base");
  }
  std::size_t cells = 0;
  for (const auto& marginal : shared_.marginals) {
    auto& place = place_.emplace_back(shared_.rows.rows(), 0);
    for (const auto id : marginal) {
      const auto size = static_cast<std::uint32_t>(shared_.rows.domain()[id].size);
      shared_.rows.column(id).visit([&](auto codes) {
        for (std::size_t r = 0; r < place.size(); ++r) place[r] = place[r] * size + codes[r];
      });
    }
    for (auto& at : place) at += static_cast<std::uint32_t>(cells);
    cells += shared_.rows.domain().cells(marginal);
  }
  std::ranges::sort(groups_, {}, &Group::key);
  for (std::size_t g = 0; g < groups_.size(); ++g) {
    const Group& group = groups_[g];
    check(group.key.size() == key_.size() && group.rows > 0.0 && std::isfinite(group.rows),
          "a group has a value for each key column, and rows");
    for (std::size_t i = 0; i < key_.size(); ++i) {
      check(group.key[i] < domain_[key_[i]].size, "a group's key is in the domain");
    }
    check(g == 0 || groups_[g - 1].key != group.key, "groups have different keys");
    check(group.base < shared_.bases.size() && group.u.size() == cells,
          "a group has a base and a number for each cell");
    for (std::size_t i = 0; i < group.t.size(); ++i) {
      check(group.t[i].row < shared_.rows.rows() && (i == 0 || group.t[i - 1].row < group.t[i].row),
            "a group tilts different rows");
    }
    total_ += group.rows;
  }
}

std::vector<double> GroupedModel::weights_of(const Group& group) const {
  const auto& base = shared_.bases[group.base];
  const double* u = group.u.data();
  std::vector<double> out(base.size(), 0.0);
  for (const auto& place : place_) {
    for (std::size_t r = 0; r < out.size(); ++r) out[r] += u[place[r]];
  }
  for (const auto& [row, t] : group.t) out[row] += t;
  double most = -HUGE_VAL;  // so that exponents far from 0 do no harm
  for (std::size_t r = 0; r < out.size(); ++r) {
    if (base[r] > 0.0) most = std::max(most, out[r]);
  }
  double sum = 0.0;
  for (std::size_t r = 0; r < out.size(); ++r) {
    out[r] = base[r] > 0.0 ? base[r] * std::exp(out[r] - most) : 0.0;
    sum += out[r];
  }
  for (double& weight : out) weight *= group.rows / sum;
  return out;
}

Factor GroupedModel::project(const Clique& clique) const {
  return std::move(project_all(std::span(&clique, 1)).front());
}

std::vector<Factor> GroupedModel::project_all(std::span<const Clique> cliques) const {
  std::vector<Factor> out;
  std::vector<Layout> layouts;
  std::map<Clique, std::vector<std::size_t>> by_key;  // which have the same key columns
  for (const auto& clique : cliques) {
    by_key[intersect(clique, key_)].push_back(out.size());
    out.push_back({clique, std::vector<double>(domain_.cells(clique), 0.0)});
    layouts.emplace_back(domain_, clique, key_, others_);
  }
  for (const auto& [seen, which] : by_key) {
    std::map<std::vector<Code>, std::vector<const Group*>> pools;
    for (const auto& group : groups_) {
      std::vector<Code> codes;
      for (std::size_t k = 0; k < key_.size(); ++k) {
        if (seen.contains(key_[k])) codes.push_back(group.key[k]);
      }
      pools[codes].push_back(&group);
    }
    std::vector<Clique> inside;
    for (const std::size_t i : which) inside.push_back(layouts[i].others);
    for (const auto& [codes, pool] : pools) {
      auto weights = weights_of(*pool.front());
      for (const Group* group : std::span(pool).subspan(1)) {
        const auto more = weights_of(*group);
        for (std::size_t r = 0; r < weights.size(); ++r) weights[r] += more[r];
      }
      const auto found = count_marginals(shared_.rows, weights, inside);
      for (std::size_t j = 0; j < which.size(); ++j) {
        const Layout& layout = layouts[which[j]];
        double* to = out[which[j]].values.data() + layout.base_of(pool.front()->key);
        for (std::size_t c = 0; c < layout.offset.size(); ++c) {
          to[layout.offset[c]] += found[j].values[c];
        }
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
  std::vector<std::size_t> from(rows);  // of the shared rows
  Table out(domain_, rows);
  std::size_t next = 0;
  for (std::size_t g = 0; g < groups_.size(); ++g) {
    if (counts[g] == 0) continue;
    const auto copies = round_to_total(weights_of(groups_[g]), counts[g], rng);
    for (std::size_t r = 0; r < copies.size(); ++r) {
      for (std::size_t copy = 0; copy < copies[r]; ++copy, ++next) {
        from[place[next]] = r;
        for (std::size_t k = 0; k < key_.size(); ++k) {
          out.column(key_[k]).set(place[next], groups_[g].key[k]);
        }
      }
    }
  }
  const Table drawn = shared_.rows.select(from);
  for (std::size_t c = 0; c < others_.size(); ++c) {
    out.column(others_[c]) = drawn.column(static_cast<AttributeId>(c));
  }
  return out;
}

std::unique_ptr<Model> GroupedModel::given(const Restriction& only) const {
  const auto wanted = only.mask(domain_[only.attribute].size);
  std::vector<Group> groups;
  GroupRows shared = shared_;
  if (key_.contains(only.attribute)) {
    const auto place =
        static_cast<std::size_t>(std::ranges::find(key_, only.attribute) - key_.begin());
    std::ranges::copy_if(groups_, std::back_inserter(groups),
                         [&](const Group& group) { return wanted[group.key[place]]; });
  } else {
    const AttributeId column = within_group(Clique{only.attribute}, others_)[0];
    std::vector<std::size_t> kept;
    for (std::size_t r = 0; r < shared_.rows.rows(); ++r) {
      if (wanted[shared_.rows.column(column)[r]]) kept.push_back(r);
    }
    shared.rows = shared_.rows.select(kept);
    const auto kept_of = [&](const std::vector<RowTilt>& tilts) {
      std::vector<RowTilt> out;
      for (const auto& [row, t] : tilts) {
        const auto at = std::ranges::lower_bound(kept, row);
        if (at == kept.end() || *at != row) continue;
        out.push_back({static_cast<std::uint32_t>(at - kept.begin()), t});
      }
      return out;
    };
    for (std::size_t s = 0; s < shared.bases.size(); ++s) {
      shared.bases[s].clear();
      for (const std::size_t r : kept) shared.bases[s].push_back(shared_.bases[s][r]);
    }
    for (const auto& group : groups_) {
      const auto weights = weights_of(group);
      Group less = group;
      less.t = kept_of(group.t);
      less.rows = 0.0;
      for (const std::size_t r : kept) less.rows += weights[r];
      if (less.rows > 0.0) groups.push_back(std::move(less));
    }
  }
  double sum = 0.0;
  for (const auto& group : groups) sum += group.rows;
  for (auto& group : groups) group.rows *= total_ / sum;
  return std::make_unique<GroupedModel>(domain_, key_, std::move(shared), std::move(groups));
}

bool GroupedModel::write(ModelWriter& out) const {
  out.begin(kKind, total_);
  out.set("key", out.names(key_));
  Document marginals = Document::array();
  for (const auto& marginal : shared_.marginals) {
    std::vector<AttributeId> ids;
    for (const auto id : marginal) ids.push_back(others_[id]);
    marginals.push(out.names(Clique(std::move(ids))));
  }
  out.set("marginals", std::move(marginals));
  Document list = Document::array();
  std::vector<double> exponents;
  std::vector<double> tilted;
  std::vector<double> tilts;
  for (const auto& group : groups_) {
    Document codes = Document::array();
    for (const Code code : group.key) codes.push(static_cast<std::uint64_t>(code));
    list.push(Document::object({{"key", std::move(codes)},
                                {"rows", group.rows},
                                {"base", static_cast<std::uint64_t>(group.base)},
                                {"tilted", static_cast<std::uint64_t>(group.t.size())}}));
    exponents.insert(exponents.end(), group.u.begin(), group.u.end());
    for (const auto& [row, t] : group.t) {
      tilted.push_back(row);
      tilts.push_back(t);
    }
  }
  out.set("groups", std::move(list));
  for (std::size_t i = 0; i < others_.size(); ++i) {
    shared_.rows.column(static_cast<AttributeId>(i)).visit([&](auto codes) {
      out.add("codes", Clique{others_[i]}, codes);
    });
  }
  for (const auto& base : shared_.bases) out.add("weights", others_, std::span(base));
  out.add("exponents", Clique{}, std::span<const double>(exponents));
  out.add("tilted", Clique{}, std::span<const double>(tilted));
  out.add("tilts", Clique{}, std::span<const double>(tilts));
  return true;
}

std::unique_ptr<Model> GroupedModel::read(const ModelReader& in) {
  const Clique key = in.clique(in.header().at("key"));
  const Clique others = without(in.domain().all(), key);
  if (key.empty() || others.empty()) in.fail("has groups without a key, or without other columns");
  const auto& arrays = in.arrays();
  if (arrays.size() < others.size() + 4) in.fail("has rows that miss a column");
  const auto& cell_exponents = arrays[arrays.size() - 3];
  const std::size_t rows = arrays.front().count;
  std::vector<Column> columns;
  for (std::size_t i = 0; i < others.size(); ++i) {
    if (arrays[i].clique != Clique{others[i]} || arrays[i].count != rows || rows == 0) {
      in.fail("has rows that miss a column");
    }
    columns.push_back(in.codes(arrays[i], in.domain()[others[i]].size));
  }
  GroupRows shared{.rows = Table(domain_of_group(in.domain(), others), std::move(columns)),
                   .bases = {},
                   .marginals = {}};
  for (std::size_t i = others.size(); i + 3 < arrays.size(); ++i) {
    shared.bases.push_back(in.weights(arrays[i], rows));
  }
  double cells = 0.0;
  for (const auto& names : in.header().at("marginals").as_array()) {
    const Clique marginal = in.clique(names);
    if (!intersect(marginal, key).empty()) in.fail("has marginals with a key column");
    shared.marginals.push_back(within_group(marginal, others));
    cells += shared.rows.domain().about_cells(shared.marginals.back());
  }
  const auto& list = in.header().at("groups").as_array();
  const double sorted =
      4.0 * static_cast<double>(rows) * static_cast<double>(shared.marginals.size());
  auto different = shared.marginals;
  std::ranges::sort(different);
  if (std::ranges::adjacent_find(different) != different.end()) in.fail("has a marginal twice");
  if (sorted > in.limits().most_bytes ||
      cells * static_cast<double>(list.size()) != static_cast<double>(cell_exponents.count)) {
    in.fail("has marginals that don't fit its groups");
  }
  const std::size_t each = cells_together(shared.rows.domain(), shared.marginals);
  const auto exponents = in.numbers(cell_exponents, "exponents", each * list.size());
  const std::size_t all_tilted = arrays.back().count;
  const auto tilted = in.numbers(arrays[arrays.size() - 2], "tilted", all_tilted);
  const auto tilts = in.numbers(arrays.back(), "tilts", all_tilted);
  for (const auto& numbers : {exponents, tilts}) {
    for (const double u : numbers) {
      if (!(std::abs(u) <= kMostExponent)) in.fail("has exponents that are none");
    }
  }
  std::vector<Group> groups;
  double sum = 0.0;
  std::size_t next_tilted = 0;
  for (const auto& entry : list) {
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
    if (!groups.empty() && !(groups.back().key < group.key)) in.fail("has groups out of order");
    group.base = static_cast<std::uint32_t>(
        entry.at("base").as_integer(0, static_cast<std::int64_t>(shared.bases.size()) - 1));
    const auto first = exponents.begin() + static_cast<std::ptrdiff_t>(groups.size() * each);
    group.u.assign(first, first + static_cast<std::ptrdiff_t>(each));
    const auto some = static_cast<std::size_t>(
        entry.at("tilted").as_integer(0, static_cast<std::int64_t>(all_tilted - next_tilted)));
    for (std::size_t i = 0; i < some; ++i, ++next_tilted) {
      const double row = tilted[next_tilted];
      if (!(row >= 0.0 && row < static_cast<double>(rows)) || row != std::floor(row) ||
          (i > 0 && !(tilted[next_tilted - 1] < row))) {
        in.fail("tilts rows that are none");
      }
      group.t.push_back({static_cast<std::uint32_t>(row), tilts[next_tilted]});
    }
    sum += group.rows;
    groups.push_back(std::move(group));
  }
  if (next_tilted != all_tilted) in.fail("tilts rows that are none");
  if (groups.empty() || !(std::abs(sum - in.total()) <= 1e-6 * in.total())) {
    in.fail("has groups that don't add up");
  }
  return std::make_unique<GroupedModel>(in.domain(), key, std::move(shared), std::move(groups));
}

}  // namespace tandem
