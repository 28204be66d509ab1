// SPDX-License-Identifier: Apache-2.0
#pragma once
// `tandem answer --release`: answers to a workload from an existing release. Post-processing: the
// guarantee stays as it is, no private data is read and no ledger is charged.

#include <functional>
#include <string>
#include <vector>

#include "tandem/base/document.h"
#include "tandem/base/parallel.h"
#include "tandem/engine/release/release_text.h"
#include "tandem/mechanism/release.h"

namespace tandem {

struct AnswerReleaseRequest {
  std::string release;                 // the folder
  std::string workload = "all-3way";   // as `answer` takes it
  std::vector<std::string> columns{};  // or, where some are named, their marginal
  std::string out{};                   // a folder to make; for write_answers alone
  std::string memory_limit{};
  bool force = false;  // replace a former release in `out`
  Threads threads{};
  std::function<void(const std::string& doing)> stage{};  // for the person who waits
};

struct ReleaseAnswers {
  std::vector<Answer> answers;
  std::size_t with_intervals = 0;  // those that the release's measurements tell
};

// The estimate is that of the release's model, where it has one; the interval is what its
// measurements say by themselves (mechanism/answers/measured_answers.h). UsageError for a release
// of rows that fulfil a condition, and for queries that nothing in the release answers.
ReleaseAnswers answer_release(const AnswerReleaseRequest& request);

struct AnswersSummary {
  std::string out;
  Document release;  // the content of release.json
};

// The same as a folder: answers.csv with the guarantee, schema and measurements beside it.
AnswersSummary write_answers(const AnswerReleaseRequest& request);
std::string to_text(const AnswersSummary& summary, Notes notes = Notes::Shown);

}  // namespace tandem
