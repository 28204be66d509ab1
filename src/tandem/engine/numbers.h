// SPDX-License-Identifier: Apache-2.0
#pragma once
// Numbers out of what was released, and models of measurements that came from elsewhere.
// Post-processing: no private data is read and no budget is charged.
//
// A number has an error bar where the measurements by themselves tell it
// (mechanism/answers/answer_workload.h). What only a model says has none, for it does not know how
// far off it is.

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "tandem/base/document.h"
#include "tandem/base/parallel.h"
#include "tandem/data/schema.h"
#include "tandem/model/model.h"
#include "tandem/query/measurement.h"

namespace tandem {

// A release folder, or the folder of an estimate, read again.
struct FittedFolder {
  FittedFolder(const std::string& folder, const std::string& memory_limit, Threads threads);

  Schema schema;
  std::unique_ptr<Model> model;           // none of a release of answers alone
  std::vector<Measurement> measurements;  // none where the model is of other rows than these
  std::optional<double> public_total{};   // rows, where their number is public
  double share = 1.0;                     // of the model's total that its rows are
};

struct NumbersRequest {
  std::string folder;
  std::vector<std::string> columns;  // of one marginal; or
  std::string workload;              // all that it asks for
  bool from_model = false;           // all numbers from the model, without error bars
  std::string memory_limit;
  Threads threads;
};

// {"columns": [...], "labels": [[...], ...], "estimate": [...], "stddev": [s or null, ...],
// "margin95": [...]}: the marginal's cells in row-major order, the last column fastest, in the
// schema's order of columns. Labels are texts, or codes where the schema lists no values.
Document marginal_of(const NumbersRequest& request);
// {"query": [...], "estimate": [...], "stddev": [...], "margin95": [...]}.
Document answers_of(const NumbersRequest& request);

// A model of noisy measurements, in the format of measurements.json.
struct EstimateRequest {
  std::string schema;
  std::string measurements;  // a path
  std::string out;           // a folder that does not exist yet
  double total = 0.0;        // 0: from the measurements
  double max_model_mb = 0.0;
  std::string memory_limit;
  Threads threads;
};
// {"total": n, "bytes": of the model, "warnings": [...]}.
Document estimate(const EstimateRequest& request);

}  // namespace tandem
