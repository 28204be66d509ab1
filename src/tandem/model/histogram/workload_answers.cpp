// SPDX-License-Identifier: Apache-2.0
#include "tandem/model/histogram/workload_answers.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <numeric>
#include <utility>

namespace tandem {

namespace {

constexpr std::size_t kBlock = 2048;  // rows whose codes are gathered together; fits a cache
constexpr std::size_t kWorthThreads = std::size_t{1} << 20;  // additions
constexpr std::size_t kRefresh = 64;                         // times the support
constexpr std::size_t kSlower = 4;  // an addition for one row, against one of a fresh sum
constexpr std::size_t kLanes = 2;   // marginals added to side by side

void extend(const std::uint32_t* prefix, const std::uint32_t* codes, std::uint32_t size,
            std::size_t rows, std::uint32_t* out) {
  for (std::size_t r = 0; r < rows; ++r) out[r] = prefix[r] * size + codes[r];
}

// One marginal of a block of rows: row r adds by[r] to sums[prefix[r] * size + codes[r]].
struct Lane {
  const std::uint32_t* prefix = nullptr;
  const std::uint32_t* codes = nullptr;
  std::uint32_t size = 0;
  double* sums = nullptr;
};

// Several marginals side by side: rows that follow each other often fall into one cell, and an
// addition has to wait for the one before, so the others are done meanwhile.
template <std::size_t kLanes>
void scatter(const std::array<Lane, kLanes>& lanes, const double* by, std::size_t rows) {
  for (std::size_t r = 0; r < rows; ++r) {
    for (const Lane& lane : lanes) lane.sums[lane.prefix[r] * lane.size + lane.codes[r]] += by[r];
  }
}

// Cells of all attributes of a marginal but its last, for a block of rows. What marginals that
// follow each other have in common is computed once.
class PrefixIndex {
 public:
  PrefixIndex(const Domain& domain, const std::vector<std::uint32_t>& codes, std::size_t rows)
      : domain_(domain), codes_(codes), rows_(rows), none_(kBlock, 0) {}

  // Stands until kLanes more were asked for.
  const std::uint32_t* of(const Clique& marginal) {
    const auto prefix = marginal.ids().first(marginal.size() - 1);
    if (prefix.empty()) return none_.data();
    if (std::ranges::equal(prefix, newest_)) return ring_[turn_ % kLanes].data();
    newest_.assign(prefix.begin(), prefix.end());

    const auto lower = prefix.first(prefix.size() - 1);
    const auto common = std::ranges::mismatch(lower, steps_).in1 - lower.begin();
    steps_.resize(static_cast<std::size_t>(common));
    for (const auto id : lower.subspan(steps_.size())) {
      if (levels_.size() == steps_.size()) levels_.emplace_back(kBlock);
      extend_by(id, levels_[steps_.size()]);
      steps_.push_back(id);
    }
    auto& out = ring_[++turn_ % kLanes];
    out.resize(kBlock);
    extend_by(prefix.back(), out);
    return out.data();
  }

 private:
  // From the cells of steps_ to those of one attribute more.
  void extend_by(AttributeId id, std::vector<std::uint32_t>& out) const {
    const auto& before = steps_.empty() ? none_ : levels_[steps_.size() - 1];
    extend(before.data(), codes_.data() + id * kBlock, domain_[id].size, rows_, out.data());
  }

  const Domain& domain_;
  const std::vector<std::uint32_t>& codes_;
  std::size_t rows_;
  std::vector<std::uint32_t> none_;
  std::vector<AttributeId> steps_;                  // attributes whose cells the levels are:
  std::vector<std::vector<std::uint32_t>> levels_;  // of the first, the first two, ...
  std::vector<AttributeId> newest_;
  std::array<std::vector<std::uint32_t>, kLanes> ring_;
  std::size_t turn_ = 0;
};

}  // namespace

WorkloadAnswers::WorkloadAnswers(const SupportHistogram& histogram, std::vector<Clique> marginals,
                                 Threads threads, std::size_t most_kept)
    : marginals_(std::move(marginals)), order_(marginals_.size()), starts_{0}, threads_(threads) {
  std::iota(order_.begin(), order_.end(), std::size_t{0});
  std::ranges::sort(order_, {}, [&](std::size_t m) -> const Clique& { return marginals_[m]; });
  Clique used;
  for (const auto& marginal : marginals_) {
    starts_.push_back(starts_.back() + histogram.domain().cells(marginal));
    used = join(used, marginal);
  }
  used_.assign(used.begin(), used.end());
  tree_ = RowSums::grow(histogram.rows(), marginals_, starts_, most_kept);
  sums_.assign(starts_.back(), 0.0);
  add_up(histogram);
}

Threads WorkloadAnswers::threads_for(std::size_t additions) const {
  return additions < kWorthThreads ? threads_.one() : threads_;
}

void WorkloadAnswers::follow(SupportHistogram& histogram) {
  const auto changes = histogram.take_changes();
  const std::size_t additions = changes.rows.size() * marginals_.size();
  changes_ = changes.all ? 0 : changes_ + changes.rows.size();
  const bool drifted = changes_ > kRefresh * histogram.rows().rows();
  if (drifted) {
    histogram.renormalize();
    histogram.take_changes();
    changes_ = 0;
  }
  const bool anew = changes.all || drifted || (tree_ && kSlower * additions >= tree_->additions());
  if (anew) {
    add_up(histogram);
  } else if (tree_) {
    tree_->add(changes.rows, changes.by, sums_, threads_for(additions));
  } else {
    add(histogram.rows(), changes.rows, changes.by);
  }
}

void WorkloadAnswers::add_up(const SupportHistogram& histogram) {
  if (tree_) {  // cells without a row stay at zero
    tree_->sum_up(histogram.weights(), sums_, threads_for(tree_->additions()));
    return;
  }
  std::ranges::fill(sums_, 0.0);
  std::vector<std::uint32_t> all(histogram.rows().rows());
  std::iota(all.begin(), all.end(), std::uint32_t{0});
  add(histogram.rows(), all, histogram.weights());
}

// One block of rows after the other; within a block the marginals are shared out to threads, each
// of which owns the sums it adds to. So the order of additions does not depend on their number.
void WorkloadAnswers::add(const Table& rows, std::span<const std::uint32_t> which,
                          std::span<const double> by) {
  const Domain& domain = rows.domain();
  std::vector<std::uint32_t> codes(domain.size() * kBlock);
  const Threads threads = threads_for(std::min(which.size(), kBlock) * marginals_.size());
  const std::size_t runs = std::min<std::size_t>(
      marginals_.size(), threads.count <= 1 ? 1 : 8 * static_cast<std::size_t>(threads.count));

  for (std::size_t from = 0; from < which.size(); from += kBlock) {
    const std::size_t count = std::min(kBlock, which.size() - from);
    for (const auto id : used_) {
      rows.column(id).visit([&](auto column) {
        for (std::size_t r = 0; r < count; ++r) codes[id * kBlock + r] = column[which[from + r]];
      });
    }
    parallel_for(runs, threads, [&](std::size_t run) {
      PrefixIndex prefixes(domain, codes, count);
      std::array<Lane, kLanes> lanes;
      std::size_t used = 0;
      const std::size_t end = marginals_.size() * (run + 1) / runs;
      for (std::size_t i = marginals_.size() * run / runs; i < end; ++i) {
        const Clique& marginal = marginals_[order_[i]];
        double* sums = sums_.data() + starts_[order_[i]];
        if (marginal.empty()) {
          for (std::size_t r = 0; r < count; ++r) sums[0] += by[from + r];
          continue;
        }
        const AttributeId last = marginal[marginal.size() - 1];
        lanes[used++] = {prefixes.of(marginal), codes.data() + last * kBlock,
                         static_cast<std::uint32_t>(domain[last].size), sums};
        if (used == kLanes) {
          scatter<kLanes>(lanes, by.data() + from, count);
          used = 0;
        }
      }
      for (std::size_t lane = 0; lane < used; ++lane) {
        scatter<1>({lanes[lane]}, by.data() + from, count);
      }
    });
  }
}

}  // namespace tandem
