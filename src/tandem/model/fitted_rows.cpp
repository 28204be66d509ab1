// SPDX-License-Identifier: Apache-2.0
#include "tandem/model/fitted_rows.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <numeric>
#include <span>
#include <vector>

#include "tandem/query/counting.h"

namespace tandem {
namespace {

constexpr std::size_t kCellsTogether = std::size_t{1} << 22;
constexpr std::size_t kMostRows = std::size_t{1} << 20;  // with more, rounding hardly shows
// Visits of cells: more where there are more of them, for to answer them took longer, too.
constexpr std::size_t kVisitsPerCell = 30;
constexpr std::size_t kFewestVisits = 40'000'000;
constexpr std::size_t kMostVisits = 600'000'000;
constexpr std::size_t kAskedFirst = 16;  // one of so many marginals
constexpr std::size_t kTries = std::size_t{1} << 16;
constexpr double kWorthwhile = 1e-4;  // of so many tries that must succeed for as many more

// Counts of the rows less what the model expects, for all marginals of a workload.
class Gaps {
 public:
  Gaps(const Model& model, const Workload& workload, const Table& rows)
      : columns_(rows.domain().size()), codes_(rows.rows() * columns_), of_column_(columns_) {
    for (AttributeId id = 0; id < columns_; ++id) {
      for (std::size_t r = 0; r < rows.rows(); ++r) row(r)[id] = rows.column(id)[r];
    }
    const auto cliques = workload.cliques();
    cells_.reserve(workload.queries());
    for (std::size_t from = 0; from < cliques.size();) {
      std::size_t to = from;
      std::vector<Clique> together;
      for (std::size_t cells = 0; to < cliques.size() && cells < kCellsTogether; ++to) {
        together.push_back(cliques[to].clique);
        cells += rows.domain().cells(together.back());
      }
      const auto counted = count_marginals(rows, together);
      const auto expected = model.project_all(together);
      for (std::size_t i = 0; i < together.size(); ++i) {
        add(counted[i], expected[i], rows.domain(), cliques[from + i].weight);
      }
      from = to;
    }
  }

  std::uint32_t* row(std::size_t r) { return codes_.data() + r * columns_; }
  std::size_t visits() const { return visits_; }  // of cells, so far

  // Row a takes row b's value of the column, if that brings the marginals nearer. Most changes
  // don't, and a few of the marginals say so.
  bool change(std::size_t a, std::size_t b, std::size_t column) {
    const Column& mine = of_column_[column];
    const std::size_t count = mine.marginals.size();
    const std::size_t enough = count / kAskedFirst;
    const std::uint32_t* of_a = row(a);
    const std::int64_t difference = static_cast<std::int64_t>(row(b)[column]) - of_a[column];
    double nearer = 0.0;
    std::size_t at = count > 0 ? (a + b) % count : 0;
    for (std::size_t i = 0; i < count; ++i) {
      if (i == enough && i > 0 && !(nearer > 0.0)) return false;
      const Marginal& m = mine.marginals[at];
      visits_ += 2;
      std::size_t from = m.start;
      for (const Part* part = mine.parts.data() + m.parts; part->stride > 0; ++part) {
        from += std::size_t{of_a[part->id]} * part->stride;
      }
      const Move move{from, from + static_cast<std::size_t>(difference * m.stride)};
      nearer += m.weight * (gain(move.from, -1.0F) + gain(move.to, 1.0F));
      moves_[i] = move;
      if (++at == count) at = 0;
    }
    if (!(nearer > 0.0)) return false;
    for (const auto& move : std::span(moves_).first(count)) {
      cells_[move.from] -= 1.0F;
      cells_[move.to] += 1.0F;
    }
    row(a)[column] = row(b)[column];
    return true;
  }

 private:
  struct Part {
    AttributeId id = 0;
    std::uint32_t stride = 0;  // 0 after the last part of a marginal
  };
  struct Marginal {
    std::size_t start = 0;  // of its cells
    double weight = 0.0;
    std::int64_t stride = 0;  // of the column
    std::size_t parts = 0;    // where these begin
  };
  // All marginals with one column, one after the other: they are asked in turn.
  struct Column {
    std::vector<Marginal> marginals;
    std::vector<Part> parts;
  };
  struct Move {
    std::size_t from, to;
  };

  void add(const Factor& counted, const Factor& expected, const Domain& domain, double weight) {
    std::vector<Part> parts;
    std::uint32_t stride = 1;
    for (std::size_t i = expected.clique.size(); i-- > 0;) {
      parts.push_back({expected.clique[i], stride});
      stride *= domain[expected.clique[i]].size;
    }
    parts.emplace_back();
    for (const auto& [id, stride_of_id] : std::span(parts).first(expected.clique.size())) {
      Column& mine = of_column_[id];
      mine.marginals.push_back({cells_.size(), weight, stride_of_id, mine.parts.size()});
      mine.parts.insert(mine.parts.end(), parts.begin(), parts.end());
      moves_.resize(std::max(moves_.size(), mine.marginals.size()));
    }
    const auto sum = [](std::span<const double> values) {
      return std::accumulate(values.begin(), values.end(), 0.0);
    };
    const double scale = sum(counted.values) / sum(expected.values);
    for (std::size_t c = 0; c < expected.values.size(); ++c) {
      // Infinity where nothing may be: no sum with it is a gain.
      cells_.push_back(expected.values[c] > 0.0
                           ? static_cast<float>(counted.values[c] - expected.values[c] * scale)
                           : std::numeric_limits<float>::infinity());
    }
  }

  double gain(std::size_t cell, float by) const {
    return std::abs(cells_[cell]) - std::abs(cells_[cell] + by);
  }

  std::size_t columns_;
  std::vector<std::uint32_t> codes_;  // row after row
  std::vector<float> cells_;          // of all marginals
  std::vector<Column> of_column_;
  std::vector<Move> moves_;
  std::size_t visits_ = 0;
};

bool worth_fitting(const Model& model, const Workload& workload, std::size_t rows, double memory) {
  if (model.rows_are_exact() || workload.size() == 0 || rows < 2 || rows > kMostRows) return false;
  return bytes_of_fitting(model.domain(), workload, static_cast<double>(rows)) <
         std::min(kMostBytesOfFitting, 0.25 * memory);
}

}  // namespace

double bytes_of_fitting(const Domain& domain, const Workload& workload, double rows) {
  const auto queries = static_cast<double>(workload.queries());
  return 4.0 * queries + 16.0 * std::min<double>(queries, 2 * kCellsTogether) +
         4.0 * rows * static_cast<double>(domain.size());
}

Table fitted_rows(const Model& model, const Workload& workload, std::size_t rows, Rng& rng,
                  double memory, const Cancel& cancel) {
  Table out = model.sample(rows, rng);
  if (!worth_fitting(model, workload, rows, memory)) return out;
  Gaps gaps(model, workload, out);
  const std::size_t columns = out.domain().size();
  const std::size_t visits =
      std::clamp(kVisitsPerCell * workload.queries(), kFewestVisits, kMostVisits);
  std::size_t tried = 0;
  std::size_t taken = 0;
  for (std::size_t a = 0; gaps.visits() < visits; a = a + 1 < rows ? a + 1 : 0) {
    const auto b = static_cast<std::size_t>(rng.below(rows));
    const auto column = static_cast<std::size_t>(rng.below(columns));
    if (gaps.row(a)[column] != gaps.row(b)[column] && gaps.change(a, b, column)) ++taken;
    if (++tried < kTries) continue;
    cancel.check();
    if (static_cast<double>(taken) < kWorthwhile * static_cast<double>(tried)) break;
    tried = taken = 0;
  }
  for (AttributeId id = 0; id < columns; ++id) {
    for (std::size_t r = 0; r < rows; ++r) out.column(id).set(r, gaps.row(r)[id]);
  }
  return out;
}

}  // namespace tandem
