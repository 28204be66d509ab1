// SPDX-License-Identifier: Apache-2.0
#include "tandem/model/pgm/tree_sampling.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <numeric>
#include <span>
#include <vector>

#include "tandem/base/check.h"

namespace tandem {
namespace {

// Calls give(code, how many) so that `rows` rows are shared out by the weights; `u` in [0, 1) says
// how to round. The same rule as round_to_total.
template <class F>
void share_out(std::span<const double> weights, std::size_t rows, double u, F&& give) {
  const double sum = std::accumulate(weights.begin(), weights.end(), 0.0);
  if (!(sum > 1e-290)) {  // probabilities too small to be told from zero: any code is as good
    give(static_cast<std::size_t>(u * static_cast<double>(weights.size())), rows);
    return;
  }
  const double scale = static_cast<double>(rows) / sum;
  double end = 0.0;
  std::size_t given = 0;
  std::size_t last = 0;
  for (std::size_t code = 0; code < weights.size() && given < rows; ++code) {
    if (!(weights[code] > 0.0)) continue;
    last = code;
    end += weights[code] * scale;
    const double reach = std::min(std::ceil(end - u), static_cast<double>(rows));
    if (reach <= static_cast<double>(given)) continue;
    const auto upto = static_cast<std::size_t>(reach);
    give(code, upto - given);
    given = upto;
  }
  if (given < rows) give(last, rows - given);  // what rounding of the sum left over
}

class Sampler {
 public:
  Sampler(const GraphicalModel& model, std::size_t rows, Rng& rng)
      : model_(model),
        rng_(rng),
        table_(model.domain(), rows),
        cell_(rows),
        shuffled_(rows),
        grouped_(rows) {
    check(rows <= std::numeric_limits<std::uint32_t>::max(), "a sample has fewer than 2^32 rows");
    std::iota(shuffled_.begin(), shuffled_.end(), std::uint32_t{0});
  }

  Table run() && {
    for (std::size_t c = 0; c < model_.tree().cliques.size(); ++c) {
      model_.threads().check();
      fill_clique(c);
    }
    return std::move(table_);
  }

 private:
  // The columns of a clique that its parent didn't have, each given those before it.
  void fill_clique(std::size_t c) {
    const Domain& domain = model_.domain();
    const Clique& clique = model_.tree().cliques[c];
    const Clique& known = model_.tree().separators[c];
    const auto fresh = model_.order().axes(without(clique, known));

    // The clique's table with the known attributes outermost, then the new ones in turn: what a
    // column depends on is then a prefix of the cell.
    auto axes = model_.order().axes(known);
    axes.insert(axes.end(), fresh.begin(), fresh.end());
    std::vector<std::vector<double>> prefixes(fresh.size());
    prefixes.back().resize(domain.cells(clique));
    transpose(domain, model_.order().axes(clique), axes, model_.belief(c).data(),
              prefixes.back().data());
    for (std::size_t i = fresh.size() - 1; i-- > 0;) {
      const std::size_t size = domain[fresh[i + 1]].size;
      prefixes[i].resize(prefixes[i + 1].size() / size);
      for (std::size_t cell = 0; cell < prefixes[i].size(); ++cell) {
        const auto from = prefixes[i + 1].begin() + static_cast<std::ptrdiff_t>(cell * size);
        prefixes[i][cell] = std::accumulate(from, from + static_cast<std::ptrdiff_t>(size), 0.0);
      }
    }

    std::ranges::fill(cell_, 0);
    for (std::size_t k = 0; k < known.size(); ++k) extend_cells(axes[k]);
    for (std::size_t i = 0; i < fresh.size(); ++i) {
      fill_column(fresh[i], prefixes[i]);
      extend_cells(fresh[i]);
    }
  }

  void extend_cells(AttributeId id) {
    const std::size_t size = model_.domain()[id].size;
    table_.column(id).visit([&](auto codes) {
      for (std::size_t r = 0; r < codes.size(); ++r) cell_[r] = cell_[r] * size + codes[r];
    });
  }

  void fill_column(AttributeId id, std::span<const double> table) {
    const std::size_t size = model_.domain()[id].size;
    rng_.shuffle(std::span(shuffled_));
    // Rows by group, in random order within each.
    starts_.assign(table.size() / size + 1, 0);
    for (const auto row : shuffled_) ++starts_[cell_[row] + 1];
    std::partial_sum(starts_.begin(), starts_.end(), starts_.begin());
    for (const auto row : shuffled_) grouped_[starts_[cell_[row]]++] = row;
    // Now starts_[g] is where group g ends.
    table_.column(id).visit([&](auto codes) {
      using C = typename decltype(codes)::value_type;
      std::size_t at = 0;
      while (at < grouped_.size()) {
        const std::size_t group = cell_[grouped_[at]];
        share_out(table.subspan(group * size, size), starts_[group] - at, rng_.uniform(),
                  [&](std::size_t code, std::size_t count) {
                    for (; count > 0; --count) codes[grouped_[at++]] = static_cast<C>(code);
                  });
      }
    });
  }

  const GraphicalModel& model_;
  Rng& rng_;
  Table table_;
  std::vector<std::size_t> cell_;  // of each row, among what the next column depends on
  std::vector<std::uint32_t> shuffled_;
  std::vector<std::uint32_t> grouped_;
  std::vector<std::size_t> starts_;
};

}  // namespace

Table sample_tree(const GraphicalModel& model, std::size_t rows, Rng& rng) {
  return Sampler(model, rows, rng).run();
}

}  // namespace tandem
