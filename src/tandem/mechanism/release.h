// SPDX-License-Identifier: Apache-2.0
#pragma once
// What a mechanism gives back: free to keep, refit and publish.

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "tandem/base/document.h"
#include "tandem/data/table.h"
#include "tandem/model/model.h"
#include "tandem/query/measurement.h"

namespace tandem {

// With probability `confidence` the model's counts on this clique are, in sum over cells, within
// `l1` of the truth. Each bound stands alone: several together hold less surely.
struct ErrorBound {
  Clique clique;
  double l1 = 0.0;
  double confidence = 0.0;
  bool supported = false;  // a marginal that contains it was measured
};

// What a reader of the release should beware of.
struct Warning {
  std::string key;  // which it is, such as "public.contradicts"; docs/formats.md lists them
  std::string text;
};

// An answer to one query, in rows.
struct Answer {
  std::string query;
  double estimate = 0.0;
  std::optional<double> stddev{};    // nothing where the measurements do not tell the answer
  std::optional<double> margin95{};  // half of a 95% interval; nothing: that of a normal
  // The unbiased estimate that stddev and interval are of, where `estimate` is another: a model's,
  // or one that was made consistent.
  std::optional<double> measured{};
};

// How far the rows are from the private table, as the mean over marginals of the L1 distance of
// shares (0 to 2): measured once with noise, and a bound that holds with this confidence.
struct CertifiedError {
  double average_error = 0.0;
  double stddev = 0.0;  // of the noise
  double at_most = 0.0;
  double confidence = 0.0;
  std::size_t marginals = 0;     // that were looked at
  std::size_t of_marginals = 0;  // in the workload
};

// A model, answers, or both.
struct Release {
  std::unique_ptr<Model> model;  // none when only answers are released
  std::vector<Answer> answers{};
  std::vector<Measurement> measurements;  // another model can be fitted to them, free of charge
  double total = 0.0;                     // rows of the private table: exact if public, else noisy
  std::vector<ErrorBound> error_bounds;   // of the workload's marginals, as far as there are any
  Document facts = Document::object();    // what it is made of; docs/formats.md lists the keys
  std::vector<Warning> warnings;
  std::optional<Table> rows{};  // drawn from the model, once the mechanism is done
  // Of a list of pairs, in their place: for each row the record of the model that it repeats.
  std::vector<std::uint32_t> repeats{};
  std::optional<CertifiedError> certified_error{};  // of these rows
};

}  // namespace tandem
