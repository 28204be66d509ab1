// SPDX-License-Identifier: Apache-2.0
#pragma once
// Answers to a workload from a release, free of charge: what its model says, with the intervals
// that its measurements give by themselves.

#include <optional>
#include <span>
#include <vector>

#include "tandem/base/parallel.h"
#include "tandem/mechanism/release.h"
#include "tandem/model/model.h"
#include "tandem/query/measurement.h"
#include "tandem/query/workload.h"

namespace tandem {

// UsageError for a workload without queries that are answered so, or with too many of them.
void require_answerable(const Workload& workload);

// In the workload's order. The estimate is the model's; without a model it is that of the
// measurements, and an answer that they do not tell is a UsageError. stddev and interval are always
// those of the measurements alone, around `measured`, and absent where they do not tell the answer:
// how far off a model is, no measurement says. `public_total` as in MeasuredAnswers; model: or
// null.
std::vector<Answer> answer_workload(const Workload& workload,
                                    std::span<const Measurement> measurements,
                                    std::optional<double> public_total, const Model* model,
                                    const Threads& threads);

}  // namespace tandem
