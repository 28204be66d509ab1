// SPDX-License-Identifier: Apache-2.0
#pragma once
// Collects the header and the arrays of a model file; docs/formats.md describes it.

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "tandem/base/document.h"
#include "tandem/data/domain.h"

namespace tandem {

class ModelWriter {
 public:
  // REQUIRES: `domain` outlives the writer.
  explicit ModelWriter(const Domain& domain);

  void begin(std::string_view kind, double total);  // first of all
  void set(std::string_view key, Document value);   // a key of the header that this kind has
  Document names(const Clique& clique) const;       // its columns, as the header has them

  // Arrays are read in the order in which they are added.
  void add(std::string_view what, const Clique& clique, std::span<const double> values);
  void add(std::string_view what, const Clique& clique, std::span<const std::uint8_t> values);
  void add(std::string_view what, const Clique& clique, std::span<const std::uint16_t> values);
  void add(std::string_view what, const Clique& clique, std::span<const std::uint32_t> values);

  std::string finish() &&;  // the bytes of the file

 private:
  template <class T>
  void add_as(std::string_view what, const Clique& clique, std::span<const T> values);

  const Domain& domain_;
  Document header_;
  Document arrays_ = Document::array();
  std::string data_;
};

}  // namespace tandem
