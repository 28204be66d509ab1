// SPDX-License-Identifier: Apache-2.0
#include "tandem/model/tables/part_sums.h"

#include <algorithm>
#include <tuple>

namespace tandem {
namespace {

// A table this small is summed anew for each part: planning would take longer.
constexpr std::size_t kSmall = 4096;

using Wanted = std::span<WantedSum>;

// Parts that have a table on their way in common.
struct Step {
  Clique through;
  Wanted parts;
};

// The parts of a table, reordered so that those of a step are neighbours.
std::vector<Step> steps_of(const Domain& domain, const Clique& whole, Wanted parts) {
  std::vector<Step> out;
  while (!parts.empty()) {
    // Leaving out an attribute pays by its codes, for each part that can do without it.
    double best = 0.0;
    AttributeId gone = 0;
    for (const auto id : whole) {
      const auto without_it =
          std::ranges::count_if(parts, [&](const auto& part) { return !part.onto.contains(id); });
      const double gain = static_cast<double>(without_it) * (1.0 - 1.0 / domain[id].size);
      if (gain > best) std::tie(best, gone) = std::pair(gain, id);
    }
    if (best == 0.0) {  // each is the whole
      out.push_back({whole, parts});
      break;
    }
    const auto rest = std::stable_partition(
        parts.begin(), parts.end(), [&](const auto& part) { return !part.onto.contains(gone); });
    const auto taken = static_cast<std::size_t>(rest - parts.begin());
    Step step{{}, parts.first(taken)};
    for (const auto& part : step.parts) step.through = join(step.through, part.onto);
    out.push_back(std::move(step));
    parts = parts.subspan(taken);
  }
  return out;
}

class Summing {
 public:
  Summing(const AxisOrder& order, const UseSum& use) : order_(order), use_(use) {}

  void take(const TableView& from, const Step& step) const {
    if (step.through == from.clique) {
      for (const auto& part : step.parts) use_(part.number, from);
      return;
    }
    const auto plan = order_.plan(from.clique, step.through);
    AlignedTable table{step.through, UnsetCells(plan.small_cells())};
    plan.sum(from.values.data(), table.values.data());
    if (table.values.size() > kSmall) {
      for (const auto& next : steps_of(order_.domain(), table.clique, step.parts)) {
        take(table, next);
      }
      return;
    }
    for (std::size_t i = 0; i < step.parts.size(); ++i) {
      take(table, {step.parts[i].onto, step.parts.subspan(i, 1)});
    }
  }

 private:
  const AxisOrder& order_;
  const UseSum& use_;
};

}  // namespace

void share_sums(const AxisOrder& order, const std::function<TableView(std::size_t)>& table,
                std::vector<WantedSum> wanted, Threads threads, const UseSum& use) {
  std::ranges::stable_sort(wanted, {}, &WantedSum::table);
  struct Task {
    std::size_t table;
    Step step;
  };
  std::vector<Task> tasks;
  for (std::size_t i = 0, end = 0; i < wanted.size(); i = end) {
    while (end < wanted.size() && wanted[end].table == wanted[i].table) ++end;
    const TableView from = table(wanted[i].table);
    const Wanted parts(wanted.data() + i, end - i);
    if (from.values.size() > kSmall) {
      for (auto& step : steps_of(order.domain(), from.clique, parts)) {
        tasks.push_back({wanted[i].table, std::move(step)});
      }
    } else {
      for (std::size_t p = 0; p < parts.size(); ++p) {
        tasks.push_back({wanted[i].table, {parts[p].onto, parts.subspan(p, 1)}});
      }
    }
  }
  // The largest first: none is then begun when the others are nearly done.
  std::ranges::stable_sort(tasks, std::ranges::greater{}, [&](const Task& task) {
    return static_cast<double>(order.domain().cells(task.step.through)) *
           static_cast<double>(task.step.parts.size());
  });
  const Summing summing(order, use);
  parallel_for(tasks.size(), threads,
               [&](std::size_t i) { summing.take(table(tasks[i].table), tasks[i].step); });
}

}  // namespace tandem
