// SPDX-License-Identifier: Apache-2.0
#include "tandem/model/record_set.h"

#include <bit>
#include <utility>
#include <variant>

#include "tandem/base/check.h"

namespace tandem {

namespace {

Column with_one_more(const Column& column, Code size, Code code) {
  Column out(size, column.rows() + 1);
  for (std::size_t i = 0; i < column.rows(); ++i) out.set(i, column[i]);
  out.set(column.rows(), code);
  return out;
}

class RecordBlocks final : public IndicatorBlocks {
 public:
  RecordBlocks(const RecordSet& records, std::span<const Indicator> indicators)
      : records_(records), indicators_(indicators.begin(), indicators.end()) {}

  std::size_t rows() const override { return records_.size(); }
  void fill(std::size_t first_word, std::size_t words, std::uint64_t* out) const override {
    const std::size_t first = first_word * kWordBits;
    const std::size_t end = std::min(records_.size(), first + words * kWordBits);
    for (std::size_t i = 0; i < indicators_.size(); ++i) {
      const auto& [attribute, code] = indicators_[i];
      for (std::size_t r = first; r < end; ++r) {
        if (records_.code(r, attribute) != code) continue;
        out[i * words + (r - first) / kWordBits] |= std::uint64_t{1} << r % kWordBits;
      }
    }
  }

 private:
  const RecordSet& records_;
  std::vector<Indicator> indicators_;
};

}  // namespace

RecordSet::RecordSet(Domain domain) : RecordSet(std::move(domain), 0, {}, {}) {}

RecordSet::RecordSet(Domain domain, std::size_t size, std::vector<std::uint8_t> bits,
                     std::map<AttributeId, Column> coded)
    : domain_(std::move(domain)),
      stride_((domain_.size() + 7) / 8),
      size_(size),
      bits_(std::move(bits)),
      coded_(std::move(coded)) {
  check(bits_.size() == size_ * stride_, "records have a bit for each column");
  for (AttributeId id = 0; id < domain_.size(); ++id) {
    if (domain_[id].size == 2) continue;
    const auto [at, added] = coded_.try_emplace(id, domain_[id].size, size_);
    check(at->second.rows() == size_ && (!added || size_ == 0), "records have all columns");
  }
}

void RecordSet::add(std::span<const Code> record) {
  check(record.size() == domain_.size(), "a record has a code for each column");
  bits_.resize(bits_.size() + stride_, 0);
  std::uint8_t* bits = bits_.data() + size_ * stride_;
  for (AttributeId id = 0; id < domain_.size(); ++id) {
    check(record[id] < domain_[id].size, "a code lies outside its attribute");
    if (domain_[id].size == 2 && record[id] == 1) {
      bits[id / 8] = static_cast<std::uint8_t>(bits[id / 8] | 1U << id % 8);
    }
  }
  for (auto& [id, column] : coded_) column = with_one_more(column, domain_[id].size, record[id]);
  ++size_;
}

std::size_t RecordSet::bytes() const {
  std::size_t bytes = bits_.size();
  for (const auto& [id, column] : coded_) bytes += column.bytes();
  return bytes;
}

Code RecordSet::code(std::size_t record, AttributeId attribute) const {
  if (domain_[attribute].size == 2) {
    return bits_[record * stride_ + attribute / 8] >> attribute % 8 & 1U;
  }
  return coded_.at(attribute)[record];
}

void RecordSet::append_ones(std::size_t record, std::vector<AttributeId>& out) const {
  for (std::size_t byte = 0; byte < stride_; ++byte) {
    for (unsigned left = bits_[record * stride_ + byte]; left != 0; left &= left - 1) {
      out.push_back(static_cast<AttributeId>(8 * byte) +
                    static_cast<AttributeId>(std::countr_zero(left)));
    }
  }
}

RecordSet RecordSet::select(std::span<const std::size_t> which) const {
  std::vector<std::uint8_t> bits;
  bits.reserve(which.size() * stride_);
  for (const auto record : which) {
    const auto from = std::span(bits_).subspan(record * stride_, stride_);
    bits.insert(bits.end(), from.begin(), from.end());
  }
  std::map<AttributeId, Column> coded;
  for (const auto& [id, column] : coded_) {
    Column kept(domain_[id].size, which.size());
    for (std::size_t i = 0; i < which.size(); ++i) kept.set(i, column[which[i]]);
    coded.emplace(id, std::move(kept));
  }
  return {domain_, which.size(), std::move(bits), std::move(coded)};
}

std::unique_ptr<IndicatorBlocks> RecordSet::blocks(std::span<const Indicator> indicators) const {
  return std::make_unique<RecordBlocks>(*this, indicators);
}

}  // namespace tandem
