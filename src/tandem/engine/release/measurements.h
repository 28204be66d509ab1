// SPDX-License-Identifier: Apache-2.0
#pragma once
// measurements.json: what was measured, to keep and to refit; docs/formats.md describes it.

#include <string_view>
#include <vector>

#include "tandem/base/document.h"
#include "tandem/data/domain.h"
#include "tandem/query/measurement.h"

namespace tandem {

Document measurements_document(const Domain& domain, const std::vector<Measurement>& measurements);

// UsageError that says where and what, when the document is damaged, of another version, or of
// other columns.
std::vector<Measurement> read_measurements(const Domain& domain, const Document& document);

std::string_view name_of(NoiseKind noise);  // "gaussian"

}  // namespace tandem
