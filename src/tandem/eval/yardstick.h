// SPDX-License-Identifier: Apache-2.0
#pragma once
// What random samples of a table would score against it: a yardstick for the errors of a synthetic
// table. 'As good as a 23% sample' is told by everybody's own sense of samples.
//
// Samples are drawn without replacement, nested, at a grid of sizes; several draws are averaged.
// Errors fall as the samples grow, in theory with the root of (1 - f) / f for a share f of the rows
// where cells hold many rows: between two sizes of the grid, the logarithms of both are taken as a
// line. The largest samples of a large table are not drawn but found on the last such line.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "tandem/base/parallel.h"
#include "tandem/data/table.h"
#include "tandem/eval/metrics.h"

namespace tandem {

struct YardstickOptions {
  std::uint64_t seed = 1;
  std::size_t draws = 0;                   // 0: as many as are cheap, at most 10
  std::size_t largest_sample = 1'000'000;  // rows
};

// How large a random sample has the same error.
struct EquivalentSample {
  enum class Side { Below, Within, Above };
  Side side = Side::Within;  // below or above all samples of the grid
  double fraction = 0.0;     // of the rows: its share, or the nearest of the grid
};

class Yardstick {
 public:
  using Metric = double Evaluation::*;
  struct Point {
    double fraction = 0.0;
    Evaluation errors;  // means over the draws
  };

  Yardstick() = default;
  Yardstick(std::size_t rows, std::size_t draws, std::size_t largest_sample,
            std::vector<Point> points, std::vector<double> tenth);

  // Nothing for a share of less than one row, or for a table of a single row.
  std::optional<double> error(Metric metric, double fraction) const;
  std::optional<EquivalentSample> equivalent(Metric metric, double error) const;

  std::span<const Point> points() const { return points_; }  // by growing fraction
  std::size_t rows() const { return rows_; }
  std::size_t draws() const { return draws_; }
  std::size_t largest_sample() const { return largest_sample_; }  // rows that were really drawn
  bool extrapolated() const;                                      // beyond the largest sample
  // The L1 distance of each marginal in a sample of a tenth; none of a table with few rows.
  std::span<const double> tenth() const { return tenth_; }

 private:
  std::size_t rows_ = 0;
  std::size_t draws_ = 0;
  std::size_t largest_sample_ = 0;
  std::vector<Point> points_;
  std::vector<double> tenth_;
};

// Costs at most about 2 million rows of counting, beside counting the table once, and 256 MB.
Yardstick yardstick(const Table& table, const Workload& workload, const YardstickOptions& options,
                    const Threads& threads);

}  // namespace tandem
