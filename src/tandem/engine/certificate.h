// SPDX-License-Identifier: Apache-2.0
#pragma once
// How far the rows of a release are from the private table, measured with noise: valid whatever the
// model believes, for one number moves little when one person's row changes, however many marginals
// it is the mean of.

#include <optional>

#include "tandem/base/rng.h"
#include "tandem/mechanism/release.h"
#include "tandem/privacy/curator.h"
#include "tandem/query/workload.h"

namespace tandem {

// The share of a run's budget that a certificate costs unless a call states another.
inline constexpr double kCertifyShare = 0.03;
// Cells of the marginals that are certified; of a larger workload a part is, drawn evenly.
inline constexpr double kMostCertifiedCells = 0x1p24;

// A guess from the release alone, rather too high: the mean over the workload's marginals of the L1
// distance of shares that the noise of its measurements explains.
double expected_error(const Release& release, const Workload& workload);

// Spends `cost` on the average error of the release's rows. None, and nothing spent, where its
// noise would exceed a fifth of the error that is expected. `rng` chooses marginals of large
// workloads. REQUIRES: the release has rows.
std::optional<CertifiedError> certify(Curator& gate, Cost cost, const Release& release,
                                      const Workload& workload, Rng& rng);

// What a certificate takes beside the release; bytes.
double bytes_to_certify(const Workload& workload);

}  // namespace tandem
