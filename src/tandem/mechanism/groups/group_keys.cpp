// SPDX-License-Identifier: Apache-2.0
#include "tandem/mechanism/groups/group_keys.h"

#include <fmt/core.h>

#include <algorithm>
#include <filesystem>
#include <system_error>
#include <utility>

#include "tandem/base/check.h"
#include "tandem/base/error.h"
#include "tandem/base/text.h"
#include "tandem/mechanism/groups/coarser_file.h"
#include "tandem/model/histogram/factored_histogram.h"

namespace tandem {
namespace {

constexpr std::size_t kMostGroups = 200'000;
constexpr std::size_t kMostCoarserEntries = 50'000'000;  // of the map from fine to coarse values

Clique columns_of(const Domain& domain, const std::string& text, const char* where) {
  std::vector<AttributeId> ids;
  for (const auto name : split(text, ',')) ids.push_back(domain.at(trim(name), where));
  return Clique(std::move(ids));
}

std::vector<std::string> names_of(const Domain& domain) {
  std::vector<std::string> out;
  for (const auto& attribute : domain.attributes()) out.push_back(attribute.name);
  return out;
}

bool are_columns(const Domain& domain, const std::string& text) {
  for (const auto name : split(text, ',')) {
    if (!domain.find(trim(name))) return false;
  }
  return true;
}

std::vector<Code> codes_in(const Domain& domain, const Clique& key, std::size_t cell) {
  std::vector<Code> out(key.size());
  for (std::size_t i = key.size(); i-- > 0;) {
    const std::size_t size = domain[key[i]].size;
    out[i] = static_cast<Code>(cell % size);
    cell /= size;
  }
  return out;
}

Clique outer(const Clique& marginal, const Clique& others) {
  std::vector<AttributeId> ids;
  for (const auto id : marginal) ids.push_back(others[id]);
  return Clique(std::move(ids));
}

}  // namespace

std::vector<Code> GroupKeys::codes_of(std::size_t group) const {
  return codes_in(domain, fine, group);
}

LinearQuery GroupKeys::with_fine(const Clique& marginal) const {
  return {join(fine, outer(marginal, others))};
}

LinearQuery GroupKeys::with_coarse(const Clique& marginal) const {
  const Clique clique = join(coarse, outer(marginal, others));
  if (!coarser) return {clique};
  std::vector<std::shared_ptr<const AxisMap>> axes;
  for (const auto id : clique) {
    axes.push_back(coarse.contains(id)
                       ? coarser
                       : std::make_shared<const AxisMap>(AxisMap::identity(domain[id].size)));
  }
  return {clique, LinearMap::kronecker(std::move(axes))};
}

bool names_a_file(const Domain& domain, const std::string& coarse) {
  return !coarse.empty() && !are_columns(domain, coarse);
}

GroupKeys group_keys(const Problem& problem, const std::string& fine, const std::string& coarse) {
  if (trim(fine).empty()) {
    throw UsageError("grouped needs " TANDEM_SETTING(
        "param.fine") "; name the columns whose values make the groups, with commas.");
  }
  const Domain& domain = problem.domain;
  GroupKeys out;
  out.domain = domain;
  out.fine = columns_of(domain, fine, "The parameter fine");
  const bool by_file = names_a_file(domain, coarse);
  const bool by_columns = !coarse.empty() && !by_file;
  if (by_columns) {
    out.coarse = columns_of(domain, coarse, "The parameter coarse");
    out.fine = join(out.fine, out.coarse);
  }
  out.others = without(domain.all(), out.fine);
  if (out.others.empty()) {
    throw UsageError(TANDEM_SETTING(
        "param.fine") " names every column; leave at least one for the groups to be described by.");
  }
  out.inner = domain_of_group(domain, out.others);
  const auto groups = domain.try_cells(out.fine);
  if (!groups || *groups > kMostGroups) {
    throw UsageError(fmt::format(TANDEM_SETTING("param.fine") " makes more than {} groups; name "
                                                              "columns with fewer values.",
                                 with_commas(kMostGroups)));
  }
  out.coarse_of.assign(*groups, 0);
  if (by_columns) {
    out.coarse_groups = domain.cells(out.coarse);
    for (std::size_t g = 0; g < *groups; ++g) {
      const auto codes = out.codes_of(g);
      std::size_t s = 0;
      for (std::size_t i = 0; i < out.fine.size(); ++i) {
        if (out.coarse.contains(out.fine[i])) s = s * domain[out.fine[i]].size + codes[i];
      }
      out.coarse_of[g] = s;
    }
  } else if (by_file) {
    if (std::error_code unknown; !std::filesystem::exists(coarse, unknown)) {
      throw UsageError(fmt::format(
          TANDEM_SETTING(
              "param.coarse") " {} is neither a column nor a file; the schema's columns are {}.",
          in_quotes(coarse), list_names(names_of(domain), 12)));
    }
    const auto [column, coarser, count] = read_coarser_values(domain, out.fine, coarse);
    const auto place =
        static_cast<std::size_t>(std::ranges::find(out.fine, column) - out.fine.begin());
    out.coarse = Clique{column};
    out.coarse_groups = count;
    for (std::size_t g = 0; g < *groups; ++g) out.coarse_of[g] = coarser[out.codes_of(g)[place]];
    if (out.coarse_groups * coarser.size() > kMostCoarserEntries) {
      throw UsageError(fmt::format("{} makes {} coarse groups, too many; make fewer.", coarse,
                                   with_commas(out.coarse_groups)));
    }
    std::vector<std::int64_t> entries(out.coarse_groups * coarser.size(), 0);
    for (std::size_t v = 0; v < coarser.size(); ++v) entries[coarser[v] * coarser.size() + v] = 1;
    out.coarser =
        std::make_shared<const AxisMap>(AxisMap::given(std::move(entries), coarser.size()));
  }
  return out;
}

Problem without_keys(const Problem& problem, const GroupKeys& keys) {
  Problem out{.domain = keys.inner, .workload = {}, .public_data = {}};
  std::vector<WeightedClique> cliques;
  for (const auto& [clique, weight] : problem.workload.cliques()) {
    const Clique kept = within_group(without(clique, keys.fine), keys.others);
    if (!kept.empty()) cliques.push_back({kept, weight});
  }
  if (cliques.empty()) {
    for (AttributeId id = 0; id < keys.inner.size(); ++id) cliques.push_back({Clique{id}, 1.0});
  }
  out.workload = Workload(keys.inner, problem.workload.name(), std::move(cliques));
  for (const auto& source : problem.public_data.tables) {
    std::vector<Column> columns;
    for (const auto id : keys.others) columns.push_back(source.table.column(id));
    out.public_data.tables.push_back({source.name, Table(keys.inner, std::move(columns))});
  }
  return out;
}

std::vector<double> by_group(const GroupKeys& keys, const Measurement& y, std::size_t groups) {
  const Clique& clique = y.query.clique;
  // Of each column of the clique, how far a step of it leads in the groups' order.
  std::vector<std::size_t> sizes;
  std::vector<std::size_t> steps(clique.size());
  std::vector<bool> is_key;
  for (std::size_t i = 0; i < clique.size(); ++i) {
    is_key.push_back(keys.fine.contains(clique[i]));
    const bool mapped = is_key.back() && !y.query.map.is_identity();
    sizes.push_back(mapped ? keys.coarse_groups : keys.domain[clique[i]].size);
  }
  std::size_t cells = 1;
  for (std::size_t i = clique.size(); i-- > 0;) {
    if (is_key[i]) continue;
    steps[i] = cells;
    cells *= sizes[i];
  }
  std::size_t across = cells;
  for (std::size_t i = clique.size(); i-- > 0;) {
    if (!is_key[i]) continue;
    steps[i] = across;
    across *= sizes[i];
  }
  check(across == y.values.size() && across == groups * cells, "an answer has all groups");
  std::vector<double> out(y.values.size());
  std::vector<std::size_t> at(clique.size(), 0);
  std::size_t to = 0;
  for (const double value : y.values) {
    out[to] = value;
    for (std::size_t i = clique.size(); i-- > 0;) {
      to += steps[i];
      if (++at[i] < sizes[i]) break;
      to -= steps[i] * sizes[i];
      at[i] = 0;
    }
  }
  return out;
}

}  // namespace tandem
