// SPDX-License-Identifier: Apache-2.0
#pragma once
// The header and the arrays of a model file, checked: whatever the bytes claim, nothing is
// allocated for it that is not there.

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "tandem/base/document.h"
#include "tandem/base/parallel.h"
#include "tandem/data/domain.h"
#include "tandem/data/table.h"

namespace tandem {

struct ModelArray {
  std::string what;
  Clique clique;
  std::string type;
  std::size_t count = 0;
  const char* bytes = nullptr;
};

// What reading a model may take.
struct ModelLimits {
  double most_bytes = 0.0;  // in memory
  Threads threads{};        // that the model will use
};

class ModelReader {
 public:
  // UsageError that begins with `name` for bytes that are no model of these columns.
  // REQUIRES: bytes, domain and name outlive the reader.
  ModelReader(std::string_view bytes, const Domain& domain, const std::string& name,
              const ModelLimits& limits);

  const Domain& domain() const { return domain_; }
  const std::string& name() const { return name_; }
  const ModelLimits& limits() const { return limits_; }
  const Document& header() const { return header_; }
  const std::vector<ModelArray>& arrays() const { return arrays_; }
  const std::string& kind() const { return header_.at("kind").as_string(); }
  double total() const;
  Clique clique(const Document& columns) const;

  // The values of an array that has to be one of these doubles.
  std::vector<double> numbers(const ModelArray& array, std::string_view what,
                              std::size_t count) const;
  std::vector<double> weights(const ModelArray& array, std::size_t count) const;
  Column codes(const ModelArray& array, Code size) const;

  [[noreturn]] void fail(std::string_view problem) const;

 private:
  template <class C>
  Column codes_as(const ModelArray& array, Code size) const;
  void check_columns() const;
  void read_arrays(std::string_view bytes);

  const Domain& domain_;
  const std::string& name_;
  ModelLimits limits_;
  Document header_;
  std::vector<ModelArray> arrays_;
};

}  // namespace tandem
