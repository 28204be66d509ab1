// SPDX-License-Identifier: Apache-2.0
#pragma once
// Remembers the codes of short texts. Columns repeat few of them, and looking one up here costs
// less than any codec: no branch depends on its length.

#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstring>
#include <string_view>
#include <vector>

#include "tandem/data/codec.h"
#include "tandem/data/csv_tokenizer.h"

namespace tandem {

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
    if (field.size() > kLongest || entries_.empty()) return codec_->encode(field);
    std::uint64_t low = 0;
    std::uint64_t high = 0;
    std::memcpy(&low, field.data(), sizeof low);
    if (field.size() <= CsvTokenizer::kShort) return encode_short(field, low);
    std::memcpy(&high, field.data() + sizeof low, sizeof high);
    return find(field, low, first_bytes(high, field.size() - sizeof low) | length(field.size()));
  }

  // The same of at most CsvTokenizer::kShort bytes, with the word that starts with them.
  Encoded encode_short(std::string_view field, std::uint64_t word) {
    if (entries_.empty()) return codec_->encode(field);
    return find(field, first_bytes(word, field.size()), length(field.size()));
  }

 private:
  static constexpr std::size_t kMostEntries = 1024;
  static constexpr std::size_t kMostMisses = 4096;
  static constexpr std::size_t kLongest = 15;
  static_assert(kLongest < kCsvPadding);

  static std::uint64_t first_bytes(std::uint64_t word, std::size_t bytes) {  // below 8
    return word & ((std::uint64_t{1} << (8 * bytes)) - 1);
  }
  static std::uint64_t length(std::size_t bytes) { return std::uint64_t{bytes} << 56; }

  struct Entry {
    std::uint64_t low = 0;
    std::uint64_t high = ~0ULL;  // no text: its first byte is a length
    Encoded encoded;
  };

  Encoded find(std::string_view field, std::uint64_t low, std::uint64_t high) {
    const std::uint64_t at = ((low ^ std::rotl(high, 29)) * 0xff51afd7ed558ccdULL) >> 40;
    const Entry& entry = entries_[at & mask_];
    if (entry.low == low && entry.high == high) [[likely]] {
      return entry.encoded;
    }
    return probe(field, low, high, at);
  }

  // Beside the first place. Once half full it takes no more texts, and a column of ever new ones
  // gives it up.
  Encoded probe(std::string_view field, std::uint64_t low, std::uint64_t high, std::uint64_t at) {
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

  const Codec* codec_;
  std::vector<Entry> entries_;
  std::size_t mask_ = 0;
  std::size_t room_ = 0;
  std::size_t misses_ = 0;
};

}  // namespace tandem
