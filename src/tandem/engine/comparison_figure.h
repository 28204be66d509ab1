// SPDX-License-Identifier: Apache-2.0
#pragma once
// The figure of a comparison: error of the made rows against epsilon, a line for each mechanism.

#include <string>

#include "tandem/engine/comparison.h"
#include "tandem/report/svg.h"

namespace tandem {

// As SVG. Lines are means over the seeds, bands reach from the smallest to the largest; public rows
// as they are lie across, and the right axis tells which sample of the real rows is as good.
std::string figure_of(const ComparisonRequest& request, const ComparisonOutcome& comparison,
                      report::Look look);

// The same yardsticks as a table: kind,name,share,rows,avg_error,max_error,mean_error.
std::string yardsticks_csv(const ComparisonYardsticks& yardsticks);

}  // namespace tandem
