// SPDX-License-Identifier: Apache-2.0
#pragma once
// What ide and mre share: rows with a prior, and noisy marginals as shares on these rows.

#include <span>
#include <string>
#include <vector>

#include "tandem/mechanism/plan.h"
#include "tandem/mechanism/problem.h"
#include "tandem/mechanism/release.h"
#include "tandem/mechanism/rounds/chosen_marginals.h"
#include "tandem/model/histogram/partial_workload.h"
#include "tandem/model/histogram/support.h"
#include "tandem/privacy/curator.h"

namespace tandem {

enum class MarginalNoise { Auto, Laplace, Gaussian };

// The kind that the gate will draw; UsageError for Gaussian noise on a pure epsilon.
NoiseKind noise_of(const Curator& curator, MarginalNoise wanted);

// Every row of the domain with its share of the public rows. The caller has checked the size.
Support domain_with_public_shares(const Problem& problem);

// y~ = y / n on the rows of a support, for each marginal that was measured; others are passed over.
std::vector<PartialWorkload> shares_on_rows(const Table& rows, std::span<const Measurement> y,
                                            double n, const Threads& threads);

// A warning where the private table clearly has rows in cells that no row of the support is in. The
// instead: what would hold them.
std::vector<Warning> unseen_warnings(std::span<const PartialWorkload> workloads,
                                     std::span<const Measurement> y, double n,
                                     const std::string& instead);

// "Measures 12 marginals, ..." with the noise of an even share, and remarks.
Plan plan_marginals(const Curator& curator, const Problem& problem, const ChosenMarginals& chosen,
                    double n_from_public);

inline constexpr const char* kAsInPublicRows = "they stay as in the public rows";

}  // namespace tandem
