// SPDX-License-Identifier: Apache-2.0
#pragma once
// A model as one file: a small JSON header, then little-endian arrays. docs/formats.md describes
// it. The same model gives the same bytes.

#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "tandem/base/parallel.h"
#include "tandem/model/model.h"

namespace tandem {

// Nothing for a kind of model that has no place in the format.
std::optional<std::string> write_model(const Model& model);

// The model in these bytes, of which `domain` says what its columns are. UsageError that begins
// with `name` when they are damaged, of another version, of other columns, or a model of more than
// `most_bytes` in memory. Never allocates much more than that, whatever the bytes claim.
std::unique_ptr<Model> read_model(std::string_view bytes, const Domain& domain,
                                  const std::string& name, double most_bytes, Threads threads = {});

}  // namespace tandem
