// SPDX-License-Identifier: Apache-2.0
#include "tandem/query/counting.h"

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <optional>
#include <type_traits>
#include <unordered_map>

#include "tandem/base/check.h"
#include "tandem/base/multiversion.h"

namespace tandem {

namespace {

constexpr std::size_t kBlockRows = 8192;

// ---- What to count, and what to sum from something counted ----

struct Plan {
  std::vector<Clique> counted;      // sorted: neighbours share leading attributes
  std::vector<std::size_t> source;  // for each request, the counted clique it comes from
};

// Calls f with every part of a clique, the empty one and itself included.
template <class F>
void for_each_part(const Clique& clique, F&& f) {
  f(Clique{});
  for (auto& part : subsets(clique)) f(std::move(part));
}

// Several small marginals cost one pass when they are counted as one that holds them all: four
// attributes of eight values hold six pairs in 4,096 cells, which stay in the first-level cache.
// Greedily grows each clique by the attribute that takes in the most others.
void merge_small(const Domain& domain, std::size_t rows, std::vector<Clique>& counted,
                 std::vector<std::size_t>& source) {
  constexpr std::size_t kMostCells = 8192;
  constexpr std::size_t kMostAttributes = 6;
  const std::size_t most_cells = std::min(kMostCells, rows / 8);
  if (rows < 1000 * domain.size()) return;  // looking for merges would cost more than it saves

  std::unordered_map<Clique, std::size_t> open;  // not yet taken in: its position in counted
  for (std::size_t i = 0; i < counted.size(); ++i) open.emplace(counted[i], i);
  std::vector<Clique> merged;
  std::vector<std::size_t> into(counted.size());
  for (std::size_t i = 0; i < counted.size(); ++i) {
    if (!open.contains(counted[i])) continue;
    Clique clique = counted[i];
    while (clique.size() < kMostAttributes) {
      std::optional<AttributeId> best;
      std::size_t most_taken = 0;
      for (AttributeId id = 0; id < domain.size(); ++id) {
        if (clique.contains(id)) continue;
        const auto cells = domain.try_cells(join(clique, {id}));
        if (!cells || *cells > most_cells) continue;
        std::size_t taken = 0;
        for_each_part(clique, [&](const Clique& part) {
          if (open.contains(join(part, {id}))) ++taken;
        });
        if (taken > most_taken) {
          most_taken = taken;
          best = id;
        }
      }
      if (!best) break;
      clique = join(clique, {*best});
    }
    if (clique.size() > kMostAttributes) {
      open.erase(clique);
      into[i] = merged.size();
    } else {
      for_each_part(clique, [&](const Clique& part) {
        const auto found = open.find(part);
        if (found == open.end()) return;
        into[found->second] = merged.size();
        open.erase(found);
      });
    }
    merged.push_back(std::move(clique));
  }
  for (auto& position : source) position = into[position];
  counted = std::move(merged);
}

Plan make_plan(const Domain& domain, std::span<const Clique> requests, std::size_t rows) {
  std::vector<std::size_t> order(requests.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, [&](std::size_t a, std::size_t b) {
    return requests[a].size() != requests[b].size() ? requests[a].size() > requests[b].size()
                                                    : requests[a] < requests[b];
  });

  // Every part of a counted clique may be summed from it: worth it while it has fewer cells than
  // the table has rows. Parts of large cliques aren't listed (2^k of them).
  constexpr std::size_t kLargestListed = 8;
  struct Root {
    std::size_t counted;
    std::size_t cells;
  };
  std::unordered_map<Clique, Root> roots;
  std::vector<Clique> counted;
  std::vector<std::size_t> source(requests.size());
  for (const auto request : order) {
    const Clique& clique = requests[request];
    const std::size_t cells = domain.cells(clique);
    const auto found = roots.find(clique);
    if (found != roots.end() && (found->second.cells == cells || found->second.cells <= rows)) {
      source[request] = found->second.counted;
      continue;
    }
    source[request] = counted.size();
    const Root root{counted.size(), cells};
    counted.push_back(clique);
    if (clique.size() > kLargestListed) {
      roots.insert_or_assign(clique, root);
      continue;
    }
    for_each_part(clique, [&](Clique part) {
      const auto [at, added] = roots.try_emplace(std::move(part), root);
      if (!added && cells < at->second.cells) at->second = root;
    });
  }

  merge_small(domain, rows, counted, source);

  // Sorted, so that neighbours share the index of their leading attributes.
  std::vector<std::size_t> sorted(counted.size());
  std::iota(sorted.begin(), sorted.end(), std::size_t{0});
  std::ranges::sort(sorted, {}, [&](std::size_t i) -> const Clique& { return counted[i]; });
  std::vector<std::size_t> position(counted.size());
  for (std::size_t i = 0; i < sorted.size(); ++i) position[sorted[i]] = i;
  Plan plan;
  for (const auto i : sorted) plan.counted.push_back(std::move(counted[i]));
  for (const auto i : source) plan.source.push_back(position[i]);
  return plan;
}

// ---- The inner loops, over one block of rows ----

template <class Code_>
TANDEM_MULTIVERSION void extend_index(const std::uint32_t* prefix, const Code_* codes,
                                      std::uint32_t size, std::size_t rows, std::uint32_t* index) {
  for (std::size_t r = 0; r < rows; ++r) index[r] = prefix[r] * size + codes[r];
}

// Rows that follow each other often fall into the same cell, and an increment that waits for the
// one before it costs five times an independent one; so small marginals are counted in four copies.
constexpr std::size_t kCopies = 4;
constexpr std::size_t kMostCopiedCells = 2048;

template <class Code_>
void add_counts(const std::uint32_t* prefix, const Code_* codes, std::uint32_t size,
                std::size_t rows, std::uint32_t* counts, std::size_t copy_stride) {
  std::size_t r = 0;
  for (; r + kCopies <= rows; r += kCopies) {
    ++counts[prefix[r] * size + codes[r]];
    ++counts[copy_stride + std::size_t{prefix[r + 1] * size + codes[r + 1]}];
    ++counts[2 * copy_stride + std::size_t{prefix[r + 2] * size + codes[r + 2]}];
    ++counts[3 * copy_stride + std::size_t{prefix[r + 3] * size + codes[r + 3]}];
  }
  for (; r < rows; ++r) ++counts[prefix[r] * size + codes[r]];
}

template <class Code_>
void add_weights(const std::uint32_t* prefix, const Code_* codes, std::uint32_t size,
                 std::size_t rows, const double* weights, double* sums) {
  for (std::size_t r = 0; r < rows; ++r) sums[prefix[r] * size + codes[r]] += weights[r];
}

// ---- Counting a run of cliques over a range of rows ----

// Accumulators of one clique: counts (in copies when small), or sums of weights.
struct Accumulator {
  std::size_t cells = 0;
  std::size_t copy_stride = 0;
  std::vector<std::uint32_t> counts;
  std::vector<double> sums;
};

Accumulator make_accumulator(std::size_t cells, bool weighted) {
  Accumulator out;
  out.cells = cells;
  if (weighted) {
    out.sums.resize(cells);
  } else {
    out.copy_stride = cells <= kMostCopiedCells ? cells : 0;
    out.counts.resize(out.copy_stride > 0 ? kCopies * cells : cells);
  }
  return out;
}

void count_rows(const Table& table, std::span<const double> weights,
                std::span<const Clique> cliques, std::size_t first_row, std::size_t last_row,
                std::span<Accumulator> out) {
  std::size_t deepest = 0;
  for (const auto& clique : cliques) deepest = std::max(deepest, clique.size());
  // index[k]: the cell of the first k attributes of the current clique, for each row of the block.
  std::vector<std::vector<std::uint32_t>> index(std::max<std::size_t>(deepest, 1));
  for (auto& level : index) level.assign(kBlockRows, 0);

  for (std::size_t row = first_row; row < last_row; row += kBlockRows) {
    const std::size_t rows = std::min(kBlockRows, last_row - row);
    std::size_t shared = 0;  // leading attributes of the clique before whose index still stands
    for (std::size_t c = 0; c < cliques.size(); ++c) {
      const Clique& clique = cliques[c];
      if (clique.empty()) {
        if (weights.empty()) {
          out[c].counts[0] += static_cast<std::uint32_t>(rows);
        } else {
          for (std::size_t r = 0; r < rows; ++r) out[c].sums[0] += weights[row + r];
        }
        shared = 0;
        continue;
      }
      const std::size_t last = clique.size() - 1;
      for (std::size_t level = std::min(shared, last); level < last; ++level) {
        const Code size = table.domain()[clique[level]].size;
        table.column(clique[level]).visit([&](auto codes) {
          extend_index(index[level].data(), codes.data() + row, size, rows,
                       index[level + 1].data());
        });
      }
      const Code size = table.domain()[clique[last]].size;
      table.column(clique[last]).visit([&](auto codes) {
        const std::uint32_t* prefix = index[last].data();
        if (weights.empty()) {
          add_counts(prefix, codes.data() + row, size, rows, out[c].counts.data(),
                     out[c].copy_stride);
        } else {
          add_weights(prefix, codes.data() + row, size, rows, weights.data() + row,
                      out[c].sums.data());
        }
      });
      shared = 0;
      if (c + 1 < cliques.size()) {
        const auto& next = cliques[c + 1];
        const std::size_t common = std::min(last, next.empty() ? 0 : next.size() - 1);
        while (shared < common && clique[shared] == next[shared]) ++shared;
      }
    }
  }
}

Factor to_factor(const Clique& clique, const Accumulator& from) {
  Factor out{clique, std::vector<double>(from.cells)};
  if (!from.sums.empty()) {
    out.values = from.sums;
    return out;
  }
  for (std::size_t cell = 0; cell < from.cells; ++cell) {
    std::uint64_t count = from.counts[cell];
    for (std::size_t copy = 1; copy < kCopies && from.copy_stride > 0; ++copy) {
      count += from.counts[copy * from.copy_stride + cell];
    }
    out.values[cell] = static_cast<double>(count);
  }
  return out;
}

std::vector<Factor> count_any(const Table& table, std::span<const double> weights,
                              std::span<const Clique> requests, Threads threads) {
  const std::size_t rows = table.rows();
  check(rows < std::size_t{1} << 32, "a table in memory has fewer than 2^32 rows");
  for (const auto& clique : requests) {
    check(table.domain().cells(clique) < std::size_t{1} << 32,
          "a counted marginal has fewer than 2^32 cells");
  }
  const Plan plan = make_plan(table.domain(), requests, rows);
  const std::size_t cliques = plan.counted.size();
  const auto workers = static_cast<std::size_t>(std::max(1, threads.count));
  std::vector<Factor> counted(cliques);

  if (cliques >= 4 * workers || !weights.empty()) {
    // Enough cliques to share out: each is counted over all rows by one thread.
    const std::size_t runs = std::min(cliques, workers == 1 ? 1 : 8 * workers);
    parallel_for(runs, threads, [&](std::size_t run) {
      const std::size_t begin = cliques * run / runs;
      const std::size_t end = cliques * (run + 1) / runs;
      std::vector<Accumulator> sums;
      for (std::size_t c = begin; c < end; ++c) {
        sums.push_back(make_accumulator(table.domain().cells(plan.counted[c]), !weights.empty()));
      }
      count_rows(table, weights, std::span(plan.counted).subspan(begin, end - begin), 0, rows,
                 sums);
      for (std::size_t c = begin; c < end; ++c) {
        counted[c] = to_factor(plan.counted[c], sums[c - begin]);
        sums[c - begin] = {};
      }
    });
  } else {
    // Few cliques: the rows are shared out instead. Whole counts add up in any order.
    std::vector<std::vector<Accumulator>> parts(workers);
    parallel_for(workers, threads, [&](std::size_t part) {
      for (const auto& clique : plan.counted) {
        parts[part].push_back(make_accumulator(table.domain().cells(clique), false));
      }
      count_rows(table, {}, plan.counted, rows * part / workers, rows * (part + 1) / workers,
                 parts[part]);
    });
    for (std::size_t c = 0; c < cliques; ++c) {
      auto& sum = parts[0][c].counts;
      for (std::size_t part = 1; part < workers; ++part) {
        for (std::size_t i = 0; i < sum.size(); ++i) sum[i] += parts[part][c].counts[i];
      }
      counted[c] = to_factor(plan.counted[c], parts[0][c]);
    }
  }

  std::vector<Factor> out(requests.size());
  parallel_for(requests.size(), threads, [&](std::size_t i) {
    const std::size_t from = plan.source[i];
    if (plan.counted[from] != requests[i]) {
      out[i] = marginalize(counted[from], table.domain(), requests[i]);
    }
  });
  // What was counted for itself moves out last; a clique asked for twice is copied before.
  std::vector<std::size_t> last_use(cliques, 0);
  for (std::size_t i = 0; i < requests.size(); ++i) {
    if (plan.counted[plan.source[i]] == requests[i]) last_use[plan.source[i]] = i;
  }
  for (std::size_t i = 0; i < requests.size(); ++i) {
    Factor& from = counted[plan.source[i]];
    if (plan.counted[plan.source[i]] != requests[i]) continue;
    out[i] = i == last_use[plan.source[i]] ? std::move(from) : from;
  }
  return out;
}

}  // namespace

std::vector<Factor> count_marginals(const Table& table, std::span<const Clique> cliques,
                                    Threads threads) {
  return count_any(table, {}, cliques, threads);
}

std::vector<Factor> count_marginals(const Table& table, std::span<const double> weights,
                                    std::span<const Clique> cliques, Threads threads) {
  check(weights.size() == table.rows(), "each row has one weight");
  return count_any(table, weights, cliques, threads);
}

Factor CountedTable::project(const Clique& clique) const {
  return std::move(project_all(std::span(&clique, 1)).front());
}

}  // namespace tandem
