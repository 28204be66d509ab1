// SPDX-License-Identifier: Apache-2.0
#include "tandem/mechanism/groups/group_keys.h"

#include <fmt/core.h>

#include <algorithm>
#include <map>
#include <utility>

#include "tandem/base/check.h"
#include "tandem/base/document.h"
#include "tandem/base/error.h"
#include "tandem/base/text.h"
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

bool are_columns(const Domain& domain, const std::string& text) {
  for (const auto name : split(text, ',')) {
    if (!domain.find(trim(name))) return false;
  }
  return true;
}

struct CoarserLine {
  std::string value;
  std::string coarser;
};

std::vector<CoarserLine> read_coarser(const std::string& path) {
  std::vector<CoarserLine> out;
  std::string text = read_text_file(path);
  std::erase(text, '\r');
  for (const auto raw : split(text, '\n')) {
    const auto line = trim(raw);
    if (line.empty()) continue;
    const auto comma = line.find(',');
    if (comma == std::string_view::npos) {
      throw UsageError(fmt::format(
          "{}: a line has no comma; write a value of a key column and its coarser one.", path));
    }
    out.push_back(
        {std::string(trim(line.substr(0, comma))), std::string(trim(line.substr(comma + 1)))});
  }
  return out;
}

// Without labels, a code is its own.
std::vector<std::string> labels_of(const Attribute& column) {
  std::vector<std::string> out = column.labels;
  for (Code code = 0; column.labels.empty() && code < column.size; ++code) {
    out.push_back(std::to_string(code));
  }
  return out;
}

// The key column whose values the file names: the one that has most of them.
AttributeId column_of(const Domain& domain, const Clique& fine,
                      std::span<const CoarserLine> lines) {
  AttributeId best = fine[0];
  std::size_t most = 0;
  for (const auto id : fine) {
    const auto labels = labels_of(domain[id]);
    const auto known =
        static_cast<std::size_t>(std::ranges::count_if(lines, [&](const CoarserLine& line) {
          return std::ranges::count(labels, line.value) > 0;
        }));
    if (known > most) {
      most = known;
      best = id;
    }
  }
  return best;
}

// Values that the file leaves out are a coarse group of their own.
std::vector<std::size_t> coarse_values(const Attribute& column, const std::string& path,
                                       std::span<const CoarserLine> lines, std::size_t& groups) {
  std::map<std::string, std::size_t, std::less<>> number;
  std::vector<std::size_t> out(column.size, static_cast<std::size_t>(-1));
  const auto labels = labels_of(column);
  for (const auto& [value, coarser] : lines) {
    const auto found = std::ranges::find(labels, value);
    if (found == labels.end()) {
      throw UsageError(
          fmt::format("{}: {} is no value of {}; take it out, or add it to the schema.", path,
                      in_quotes(value), in_quotes(column.name)));
    }
    out[static_cast<std::size_t>(found - labels.begin())] =
        number.try_emplace(coarser, number.size()).first->second;
  }
  groups = number.size();
  const bool some_left_out = std::ranges::any_of(out, [](std::size_t s) { return s + 1 == 0; });
  for (auto& s : out) {
    if (s + 1 == 0) s = groups;
  }
  groups += some_left_out ? 1 : 0;
  return out;
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

GroupKeys group_keys(const Problem& problem, const std::string& fine, const std::string& coarse) {
  if (trim(fine).empty()) {
    throw UsageError("grouped needs " TANDEM_SETTING(
        "param.fine") "; name the columns whose values make the groups, with commas.");
  }
  const Domain& domain = problem.domain;
  GroupKeys out;
  out.domain = domain;
  out.fine = columns_of(domain, fine, "The parameter fine");
  const bool by_columns = !coarse.empty() && are_columns(domain, coarse);
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
  } else if (!coarse.empty()) {
    const auto lines = read_coarser(coarse);
    const AttributeId column = column_of(domain, out.fine, lines);
    const auto place =
        static_cast<std::size_t>(std::ranges::find(out.fine, column) - out.fine.begin());
    out.coarse = Clique{column};
    const auto coarser = coarse_values(domain[column], coarse, lines, out.coarse_groups);
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
