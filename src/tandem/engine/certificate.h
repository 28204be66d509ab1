// SPDX-License-Identifier: Apache-2.0
#pragma once
// How far the rows of a release are from the private table, measured with noise: valid whatever the
// model believes, for one number moves little when one person's row changes, however many marginals
// it is the mean of.

#include <optional>

#include "tandem/base/document.h"
#include "tandem/base/rng.h"
#include "tandem/mechanism/release.h"
#include "tandem/privacy/curator.h"
#include "tandem/query/workload.h"

namespace tandem {

// The share of a run's budget that a certificate costs unless a call states another.
inline constexpr double kCertifyShare = 0.03;
// Of a larger workload a part is certified, drawn evenly: as many marginals as have so many cells,
// and as take so many looks at a row, but no fewer than 64 for those.
inline constexpr double kMostCertifiedCells = 0x1p24;
inline constexpr double kMostCertifiedLooks = 5e8;  // in the made rows: a fraction of a second

// Shares: of a possible error from 0 to 2. More noise would say little.
inline constexpr double kMostCertifiedNoise = 0.1;

// A certified error; or why there is none, under the keys of facts.not_certified, which
// docs/formats.md lists.
struct Certification {
  std::optional<CertifiedError> error;
  Document left_out = Document::object();
};

// Spends `cost` on the average error of the release's rows. Whether it does follows from what is
// public or was released: it is left out, and nothing spent, where the noise would exceed
// kMostCertifiedNoise, or where nothing released says how many rows there are. `rng` chooses
// marginals of large workloads. REQUIRES: the release has rows, and the workload marginals.
Certification certify(Curator& gate, Cost cost, const Release& release, const Workload& workload,
                      Rng& rng);

// What a certificate takes beside the release; bytes.
double bytes_to_certify(const Workload& workload);

}  // namespace tandem
