// SPDX-License-Identifier: Apache-2.0
#pragma once
// Rows that answer a workload more like the model they were made from.
//
// Rows are whole, so their marginals are off from the model's by rounding, most where columns meet
// that no table of the model holds together. A row takes another one's value of one column if that
// brings the workload's marginals nearer to the model's, in L1 and by their weights.
// Post-processing: sees the model and the rows alone.

#include "tandem/base/cancel.h"
#include "tandem/base/rng.h"
#include "tandem/data/table.h"
#include "tandem/model/model.h"
#include "tandem/query/workload.h"

namespace tandem {

// Bytes that fitting so many rows takes; fitted_rows() does without above this many.
inline constexpr double kMostBytesOfFitting = 256e6;
double bytes_of_fitting(const Domain& domain, const Workload& workload, double rows);

// As many rows as asked for, sampled and fitted. A cell that the model gives nothing to gets no row
// by a change. Nothing is changed where that would take 256 MB or a quarter of `memory`, in
// bytes, or where the model's own rows are as near as they can be; work is bounded to some seconds.
Table fitted_rows(const Model& model, const Workload& workload, std::size_t rows, Rng& rng,
                  double memory = 1e9, const Cancel& cancel = {});

}  // namespace tandem
