// SPDX-License-Identifier: Apache-2.0
#pragma once
// A few whole records, a bit for each code of columns with two values: 100 records of 512,000 such
// columns take 6.4 MB.

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <vector>

#include "tandem/data/domain.h"
#include "tandem/data/indicator.h"
#include "tandem/data/table.h"

namespace tandem {

class RecordSet {
 public:
  explicit RecordSet(Domain domain);
  // Bits as bits() gives them, and the codes of every column of other than two values.
  RecordSet(Domain domain, std::size_t size, std::vector<std::uint8_t> bits,
            std::map<AttributeId, Column> coded);

  void add(std::span<const Code> record);  // a code of each attribute

  const Domain& domain() const { return domain_; }
  std::size_t size() const { return size_; }
  std::size_t bytes() const;
  Code code(std::size_t record, AttributeId attribute) const;
  // Appends the columns of two values in which a record has the second, in order.
  void append_ones(std::size_t record, std::vector<AttributeId>& out) const;
  RecordSet select(std::span<const std::size_t> which) const;

  // Blocks of these indicators, a record being a row. REQUIRES: the records outlive them.
  std::unique_ptr<IndicatorBlocks> blocks(std::span<const Indicator> indicators) const;

  // ceil(attributes / 8) bytes a record: attribute i is bit i % 8 of byte i / 8, and zero where it
  // has other than two values.
  std::span<const std::uint8_t> bits() const { return bits_; }
  const std::map<AttributeId, Column>& coded() const { return coded_; }

 private:
  Domain domain_;
  std::size_t stride_;  // bytes of bits a record
  std::size_t size_ = 0;
  std::vector<std::uint8_t> bits_;
  std::map<AttributeId, Column> coded_;  // columns of other than two values
};

}  // namespace tandem
