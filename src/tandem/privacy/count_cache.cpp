// SPDX-License-Identifier: Apache-2.0
#include "tandem/privacy/count_cache.h"

#include <algorithm>
#include <utility>

namespace tandem {
namespace {

// With what the list, the map and the allocator keep for it: about 240 bytes with GCC 12.
std::size_t bytes_of(const Factor& factor) {
  constexpr std::size_t kKept = 240;
  return factor.values.size() * sizeof(double) + kKept;
}

}  // namespace

CountCache::CountCache(std::vector<std::unique_ptr<DataSource>> sources, std::size_t most_bytes)
    : sources_(std::move(sources)), most_bytes_(most_bytes) {}

void CountCache::load(std::span<const Clique> wanted) {
  std::vector<Clique> missing;
  for (const auto& clique : wanted) {
    if (!found_.contains(clique)) missing.push_back(clique);
  }
  std::ranges::sort(missing);
  missing.erase(std::unique(missing.begin(), missing.end()), missing.end());
  if (missing.empty()) return;
  auto counts = sources_.front()->count(missing);
  for (std::size_t s = 1; s < sources_.size(); ++s) {
    const auto more = sources_[s]->count(missing);
    for (std::size_t i = 0; i < counts.size(); ++i) {
      for (std::size_t c = 0; c < counts[i].values.size(); ++c) {
        counts[i].values[c] += more[i].values[c];
      }
    }
  }
  for (auto& factor : counts) {
    bytes_ += bytes_of(factor);
    kept_.push_front(std::move(factor));
    found_[kept_.front().clique] = kept_.begin();
  }
}

const Factor& CountCache::counts(const Clique& clique) {
  load(std::span(&clique, 1));
  const auto at = found_.at(clique);
  kept_.splice(kept_.begin(), kept_, at);
  return *at;
}

std::span<const std::int64_t> CountCache::counts(const ConjunctionSet& conjunctions) {
  if (set_ == conjunctions.digest()) return conjunctions_;
  std::vector<std::int64_t> counts(conjunctions.size(), 0);
  for (const auto& source : sources_) {
    const auto more = source->count(conjunctions);
    for (std::size_t i = 0; i < counts.size(); ++i) counts[i] += more[i];
  }
  conjunctions_ = std::move(counts);
  set_ = conjunctions.digest();
  return conjunctions_;
}

bool CountCache::trim() {
  bool any = false;
  while (bytes_ > most_bytes_ && !kept_.empty()) {
    bytes_ -= bytes_of(kept_.back());
    found_.erase(kept_.back().clique);
    kept_.pop_back();
    any = true;
  }
  return any;
}

}  // namespace tandem
