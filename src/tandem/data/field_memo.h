// SPDX-License-Identifier: Apache-2.0
#pragma once
// Remembers the codes of short texts. Columns repeat few of them, and looking one up here costs
// less than any codec: no branch depends on its length.

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <cstring>
#include <string_view>
#include <vector>

#include "tandem/data/codec.h"
#include "tandem/data/csv_tokenizer.h"

namespace tandem {

inline constexpr std::size_t kLongestInMemo = 15;
static_assert(kLongestInMemo < kCsvPadding);

// What keeps the bytes of a text in the word that starts `from` bytes into it, by its length.
struct MemoMasks : std::array<std::uint64_t, kLongestInMemo + 1> {
  explicit constexpr MemoMasks(std::size_t from) : array() {
    for (std::size_t size = 0; size <= kLongestInMemo; ++size) {
      const std::size_t bytes = size > from ? std::min<std::size_t>(size - from, 8) : 0;
      (*this)[size] = bytes == 8 ? ~0ULL : (1ULL << (8 * bytes)) - 1;
    }
  }
};

class FieldMemo {
 public:
  explicit FieldMemo(const Codec& codec, bool enabled = true) : codec_(&codec) {
    if (!enabled || std::endian::native != std::endian::little) return;
    const auto texts = codec.numeric() ? kMostEntries : std::size_t{codec.size()} * 8;
    const auto size = std::bit_ceil(std::clamp<std::size_t>(texts, 64, kMostEntries));
    entries_.resize(size);
    mask_ = size - 1;
    room_ = size / 2;
  }

  // codec.encode(field), which depends on the field alone. kCsvPadding bytes behind the field may
  // be read.
  Encoded encode(std::string_view field) {
    if (field.size() > kLongestInMemo || entries_.empty()) return codec_->encode(field);
    static constexpr MemoMasks kLowMasks(0);
    static constexpr MemoMasks kHighMasks(8);
    std::uint64_t low = 0;
    std::uint64_t high = 0;
    std::memcpy(&low, field.data(), sizeof low);
    std::memcpy(&high, field.data() + sizeof low, sizeof high);
    low &= kLowMasks[field.size()];
    high = (high & kHighMasks[field.size()]) | std::uint64_t{field.size()} << 56;
    const std::uint64_t product = (low ^ std::rotl(high, 29)) * kMixer;
    const Entry& entry = entries_[(product >> 40) & mask_];
    if (entry.low == low && entry.high == high) [[likely]] {
      return entry.encoded;
    }
    return probe(field, low, high, product >> 40);
  }

 private:
  static constexpr std::size_t kMostEntries = 1024;
  static constexpr std::size_t kMostMisses = 4096;
  static constexpr std::uint64_t kMixer = 0xff51afd7ed558ccdULL;

  struct Entry {
    std::uint64_t low = 0;
    std::uint64_t high = ~0ULL;  // no text: its first byte is a length
    Encoded encoded;
  };

  // Beside the first place. Once half full it takes no more texts, and a column of ever new ones
  // gives it up.
  Encoded probe(std::string_view field, std::uint64_t low, std::uint64_t high, std::uint64_t at);

  const Codec* codec_;
  std::vector<Entry> entries_;
  std::size_t mask_ = 0;
  std::size_t room_ = 0;
  std::size_t misses_ = 0;
};

inline Encoded FieldMemo::probe(std::string_view field, std::uint64_t low, std::uint64_t high,
                                std::uint64_t at) {
  for (;; ++at) {
    Entry& entry = entries_[at & mask_];
    if (entry.low == low && entry.high == high) return entry.encoded;
    if (entry.high != ~0ULL) continue;
    const Encoded encoded = codec_->encode(field);
    if (room_ > 0) {
      --room_;
      entry = {low, high, encoded};
    } else if (++misses_ == kMostMisses) {
      entries_.clear();
    }
    return encoded;
  }
}

}  // namespace tandem
