// SPDX-License-Identifier: Apache-2.0
#include "tandem/model/workload_answers.h"

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <utility>

namespace tandem {

namespace {

constexpr std::size_t kBlock = 2048;  // rows whose codes are gathered together; fits a cache
constexpr std::size_t kWorthThreads = std::size_t{1} << 20;  // additions
constexpr std::size_t kRefresh = 64;                         // times the support

void extend(const std::uint32_t* prefix, const std::uint32_t* codes, std::uint32_t size,
            std::size_t rows, std::uint32_t* out) {
  for (std::size_t r = 0; r < rows; ++r) out[r] = prefix[r] * size + codes[r];
}

void scatter(const std::uint32_t* prefix, const std::uint32_t* codes, std::uint32_t size,
             const double* by, std::size_t rows, double* sums) {
  for (std::size_t r = 0; r < rows; ++r) sums[prefix[r] * size + codes[r]] += by[r];
}

}  // namespace

WorkloadAnswers::WorkloadAnswers(const SupportHistogram& histogram, std::vector<Clique> marginals,
                                 Threads threads)
    : marginals_(std::move(marginals)), order_(marginals_.size()), starts_{0}, threads_(threads) {
  std::iota(order_.begin(), order_.end(), std::size_t{0});
  std::ranges::sort(order_, {}, [&](std::size_t m) -> const Clique& { return marginals_[m]; });
  Clique used;
  for (const auto& marginal : marginals_) {
    starts_.push_back(starts_.back() + histogram.domain().cells(marginal));
    used = join(used, marginal);
  }
  used_.assign(used.begin(), used.end());
  add_up(histogram);
}

void WorkloadAnswers::follow(SupportHistogram& histogram) {
  const auto changes = histogram.take_changes();
  changes_ += changes.rows.size();
  if (changes.all) {
    add_up(histogram);
  } else if (changes_ > kRefresh * histogram.rows().rows()) {
    histogram.renormalize();
    histogram.take_changes();
    add_up(histogram);
  } else {
    add(histogram.rows(), changes.rows, changes.by);
  }
}

void WorkloadAnswers::add_up(const SupportHistogram& histogram) {
  sums_.assign(starts_.back(), 0.0);
  std::vector<std::uint32_t> all(histogram.rows().rows());
  std::iota(all.begin(), all.end(), std::uint32_t{0});
  add(histogram.rows(), all, histogram.weights());
  changes_ = 0;
}

// One block of rows after the other; within a block the marginals are shared out to threads, each
// of which owns the sums it adds to. So the order of additions does not depend on their number.
void WorkloadAnswers::add(const Table& rows, std::span<const std::uint32_t> which,
                          std::span<const double> by) {
  const Domain& domain = rows.domain();
  std::vector<std::uint32_t> codes(domain.size() * kBlock);
  const std::size_t work = std::min(which.size(), kBlock) * marginals_.size();
  const Threads threads = work < kWorthThreads ? Threads{1} : threads_;
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
      // index[k]: the cell of the first k attributes of the marginal at hand.
      std::vector<std::vector<std::uint32_t>> index(1, std::vector<std::uint32_t>(kBlock, 0));
      const Clique* before = nullptr;
      for (std::size_t i = marginals_.size() * run / runs; i < marginals_.size() * (run + 1) / runs;
           ++i) {
        const Clique& marginal = marginals_[order_[i]];
        double* sums = sums_.data() + starts_[order_[i]];
        if (marginal.empty()) {
          for (std::size_t r = 0; r < count; ++r) sums[0] += by[from + r];
          continue;
        }
        const std::size_t last = marginal.size() - 1;
        while (index.size() <= last) index.emplace_back(kBlock);
        std::size_t level = 0;  // up to which the prefix is the one before's
        while (before != nullptr && level < last && level + 1 < before->size() &&
               (*before)[level] == marginal[level]) {
          ++level;
        }
        for (; level < last; ++level) {
          extend(index[level].data(), codes.data() + marginal[level] * kBlock,
                 domain[marginal[level]].size, count, index[level + 1].data());
        }
        scatter(index[last].data(), codes.data() + marginal[last] * kBlock,
                domain[marginal[last]].size, by.data() + from, count, sums);
        before = &marginal;
      }
    });
  }
}

}  // namespace tandem
