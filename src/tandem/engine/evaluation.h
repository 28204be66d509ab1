// SPDX-License-Identifier: Apache-2.0
#pragma once
// `tandem evaluate`: a synthetic table against the real one. INTERNAL: it reads private data and
// prints what it finds, so its output is not for publication.

#include <string>
#include <vector>

#include "tandem/base/document.h"
#include "tandem/base/parallel.h"
#include "tandem/engine/settings.h"
#include "tandem/eval/metrics.h"

namespace tandem {

struct EvaluationRequest {
  std::string real;
  std::string synthetic;
  std::string schema;
  std::string workload = "all-3way";
  FormatSettings text;  // of the real table
  Threads threads;
};

struct EvaluationResult {
  Evaluation evaluation;
  std::vector<std::string> notes;  // sentences: columns that were ignored, and the like
};

EvaluationResult evaluate_files(const EvaluationRequest& request);

Document to_document(const Evaluation& evaluation);  // docs/formats.md, "evaluate"
std::string to_text(const Evaluation& evaluation);

}  // namespace tandem
