// SPDX-License-Identifier: Apache-2.0
#pragma once
// A model as one file: a small JSON header, then little-endian arrays. docs/formats.md describes
// it. The same model gives the same bytes.

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "tandem/model/model.h"
#include "tandem/model/model_reader.h"

namespace tandem {

inline constexpr int kModelFormat = 1;
inline constexpr std::string_view kModelMagic = "TDMMODEL";
inline constexpr std::size_t kModelAlignment = 8;  // of arrays in the file, in bytes

constexpr std::size_t padded(std::size_t bytes) {
  return (bytes + kModelAlignment - 1) / kModelAlignment * kModelAlignment;
}

// Nothing for a kind of model that has no place in the format.
std::optional<std::string> write_model(const Model& model);

// The model in these bytes, of which `domain` says what its columns are. UsageError that begins
// with `name` when they are damaged, of another version, of other columns, or a model of more bytes
// in memory than the limit. Never allocates much more than that, whatever the bytes claim.
std::unique_ptr<Model> read_model(std::string_view bytes, const Domain& domain,
                                  const std::string& name, const ModelLimits& limits);

}  // namespace tandem
