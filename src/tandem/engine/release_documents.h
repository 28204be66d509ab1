// SPDX-License-Identifier: Apache-2.0
#pragma once
// The documents of a release folder; docs/formats.md describes them.

#include "tandem/base/document.h"
#include "tandem/engine/preparation.h"
#include "tandem/mechanism/release.h"
#include "tandem/privacy/curator.h"

namespace tandem {

inline constexpr int kReleaseFormat = 1;

Document measurements_document(const Domain& domain, const std::vector<Measurement>& measurements);

Document release_document(const SynthSettings& settings, const Prepared& prepared,
                          const Curator& curator, const Release& release, std::size_t rows);

}  // namespace tandem
