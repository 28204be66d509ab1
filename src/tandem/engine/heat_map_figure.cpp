// SPDX-License-Identifier: Apache-2.0
#include "tandem/engine/heat_map_figure.h"

#include <fmt/core.h>

#include <algorithm>
#include <charconv>
#include <map>

#include "tandem/base/check.h"
#include "tandem/base/text.h"
#include "tandem/report/heat_map.h"

namespace tandem {

namespace {

constexpr double kWorst = 2.0;
constexpr const char* kStamp = "INTERNAL: computed from the real table; not for publication";

// Numbers by their size, whatever their length; all else by its letters.
struct InOrder {
  bool operator()(const std::string& left, const std::string& right) const {
    double a = 0.0;
    double b = 0.0;
    const auto number = [](const std::string& text, double& value) {
      const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
      return error == std::errc() && end == text.data() + text.size();
    };
    if (number(left, a) && number(right, b) && a != b) return a < b;
    return left < right;
  }
};
using Places = std::map<std::string, std::size_t, InOrder>;

std::size_t fewest_values(const ContestScore& contest) {
  std::size_t best = 0;
  std::size_t fewest = static_cast<std::size_t>(-1);
  for (std::size_t k = 0; k < contest.keys.front().size(); ++k) {
    Places seen;
    for (const auto& key : contest.keys) seen.try_emplace(key[k], 0);
    if (seen.size() <= fewest) {
      fewest = seen.size();
      best = k;
    }
  }
  return best;
}

std::vector<std::string> number_them(Places& places) {
  std::vector<std::string> out;
  for (auto& [name, place] : places) {
    place = out.size();
    out.push_back(name);
  }
  return out;
}

}  // namespace

std::string heat_map_csv(const EvaluationResult& result) {
  check(result.contest.has_value(), "a heat map is of the contest's score");
  std::string out = fmt::format("# {}\n", kStamp);
  for (const auto& name : result.group_by) out += csv_field(name) + ",";
  out += "real_rows,synthetic_rows,l1,error\n";
  for (std::size_t i = 0; i < result.contest->keys.size(); ++i) {
    for (const auto& value : result.contest->keys[i]) out += csv_field(value) + ",";
    const ScoredGroup& group = result.contest->score.groups[i];
    out += fmt::format("{},{},{:.6g},{:.6g}\n", group.reference_rows, group.estimate_rows, group.l1,
                       group.error);
  }
  return out;
}

std::string heat_map_figure(const EvaluationResult& result, report::Look look) {
  check(result.contest.has_value(), "a heat map is of the contest's score");
  const ContestScore& contest = *result.contest;
  if (contest.keys.empty()) return {};
  // One key column has no second to go down.
  const bool across_alone = contest.keys.front().size() == 1;
  const std::size_t down = fewest_values(contest);
  const auto names_of = [&](const std::vector<std::string>& key) {
    std::string row;
    std::string column;
    for (std::size_t k = 0; k < key.size(); ++k) {
      std::string& name = k == down && !across_alone ? row : column;
      name += (name.empty() ? "" : " ") + key[k];
    }
    return std::pair(row, column);
  };
  Places rows;
  Places columns;
  for (const auto& key : contest.keys) {
    const auto [row, column] = names_of(key);
    rows.try_emplace(row, 0);
    columns.try_emplace(column, 0);
  }
  report::HeatMap map;
  map.rows = number_them(rows);
  map.columns = number_them(columns);
  map.cells.resize(map.rows.size() * map.columns.size());
  for (std::size_t i = 0; i < contest.keys.size(); ++i) {
    const auto [row, column] = names_of(contest.keys[i]);
    const ScoredGroup& group = contest.score.groups[i];
    map.cells[rows[row] * map.columns.size() + columns[column]] = {.value = group.error,
                                                                   .alarm = group.error >= kWorst};
  }
  std::string by;
  for (const auto& name : result.group_by) by += (by.empty() ? "" : " and ") + name;
  map.stamp = kStamp;
  map.title = "Error of each group of rows, by " + by;
  map.notes = {fmt::format(
      "{} groups, {:.3f} on average. L1 distance of shares, over {} pairs of "
      "the other columns.",
      with_commas(contest.keys.size()), contest.score.error, with_commas(contest.pairs))};
  map.value_name = "0: none, 2: nothing in common";
  map.alarm_name =
      fmt::format("2: in one table only, or off by more than {:g} rows", contest.count_penalty);
  return report::draw(map, look);
}

}  // namespace tandem
