// SPDX-License-Identifier: Apache-2.0
#include "tandem/engine/answer_release.h"

#include <fmt/core.h>

#include <array>
#include <memory>
#include <optional>
#include <string_view>
#include <utility>

#include "tandem/base/digest.h"
#include "tandem/base/error.h"
#include "tandem/base/text.h"
#include "tandem/base/version.h"
#include "tandem/engine/input_files.h"
#include "tandem/engine/memory.h"
#include "tandem/engine/privacy_unit_text.h"
#include "tandem/engine/release/release_documents.h"
#include "tandem/engine/release/release_folder.h"
#include "tandem/engine/release/release_text.h"
#include "tandem/engine/release/stored_release.h"
#include "tandem/mechanism/answers/answer_workload.h"

namespace tandem {

namespace {

void say(const AnswerReleaseRequest& r, const std::string& doing) {
  if (r.stage) r.stage(doing);
}

Workload workload_of(const AnswerReleaseRequest& r, const Domain& domain) {
  if (r.columns.empty()) return Workload::parse(domain, r.workload);
  std::vector<AttributeId> ids;
  for (const auto& name : r.columns) ids.push_back(domain.at(name, TANDEM_SETTING("columns")));
  return {domain, "columns", std::vector<WeightedClique>{{Clique(std::move(ids)), 1.0}}};
}

StoredRelease stored(const AnswerReleaseRequest& r) {
  if (r.release.empty()) throw UsageError("No release is named; give the folder of one.");
  StoredRelease from(r.release);
  const auto* refit = from.document().find("refit");
  const auto* where = refit != nullptr ? refit->find("where") : nullptr;
  if (where != nullptr) {
    throw UsageError(
        fmt::format("{} holds only rows with {}, and its measurements are of all; answer from the "
                    "release that it was made of.",
                    r.release, where->as_string()));
  }
  return from;
}

ReleaseAnswers answered(const AnswerReleaseRequest& r, const StoredRelease& from,
                        const Workload& workload) {
  require_answerable(workload);
  std::unique_ptr<Model> model;
  if (from.has_model()) {
    say(r, "reading the model");
    model = from.model(memory_limit(r.memory_limit), r.threads);
  }
  say(r, "answering");
  std::optional<double> rows;
  if (unit_in(from.document().at("guarantee")).keeps_rows()) {
    rows = from.document().at("total").as_number();
  }
  ReleaseAnswers out;
  out.answers = answer_workload(workload, from.measurements(), rows, model.get(), r.threads);
  for (const auto& answer : out.answers) out.with_intervals += answer.stddev ? 1 : 0;
  return out;
}

// What the new release.json takes over, and what it says of its own.
Document document_of(const StoredRelease& from, const Workload& workload,
                     const ReleaseAnswers& answers) {
  constexpr std::array<std::string_view, 5> kOfRows = {"rows", "certified_error", "error_bounds",
                                                       "model_sha256", "facts"};
  Document out = Document::object();
  for (const auto& [key, value] : from.document().as_object()) {
    bool keep = true;
    for (const auto of_rows : kOfRows) keep = keep && key != of_rows;
    if (keep) out.set(key, value);
  }
  out.set("format", kReleaseFormat);
  out.set("tandem", version());
  out.set("workload", display_workload(workload.name()));
  out.set("answers", static_cast<std::uint64_t>(answers.answers.size()));
  out.set("facts", Document::object({{"answers_with_intervals",
                                      static_cast<std::uint64_t>(answers.with_intervals)}}));
  std::vector<Warning> warnings = warnings_in(from.document());
  std::erase_if(warnings, [](const Warning& w) { return w.key == "answers.mostly_noise"; });
  out.set("warnings", warnings_document(warnings));
  out.set("refit_of", from.digest());
  out.set("refit", Document::object());
  return out;
}

}  // namespace

ReleaseAnswers answer_release(const AnswerReleaseRequest& r) {
  const StoredRelease from = stored(r);
  return answered(r, from, workload_of(r, from.schema().domain()));
}

AnswersSummary write_answers(const AnswerReleaseRequest& r) {
  if (r.out.empty()) {
    throw UsageError(TANDEM_SETTING("out") " is missing; name the folder of the answers.");
  }
  const StoredRelease from = stored(r);
  const Workload workload = workload_of(r, from.schema().domain());
  auto folder = ReleaseFolder::start(
      r.out, r.force,
      Document::object({{"format", 1}, {"tandem", version()}, {"refit_of", from.digest()}}));
  try {
    const ReleaseAnswers answers = answered(r, from, workload);
    folder.write(kAnswersFile, answers_text(answers.answers));
    folder.write(from.schema_file(), from.schema_text());
    folder.write(kMeasurementsFile, from.measurements_text());
    AnswersSummary summary{r.out, document_of(from, workload, answers)};
    folder.write("release.json", summary.release.to_json(2) + "\n");
    folder.publish();
    return summary;
  } catch (const Error&) {
    folder.discard();  // it costs nothing to do it again
    throw;
  }
}

std::string to_text(const AnswersSummary& summary, Notes notes) {
  const Document& r = summary.release;
  const Document& guarantee = r.at("guarantee");
  std::string out;
  out += stamp_line(r);
  out += fmt::format("{}\n", summary.out);
  const auto line = [&](std::string_view name, const std::string& text) {
    out += summary_line(name, text);
  };
  line("answers", answers_in_words(r));
  line("guarantee",
       fmt::format("unchanged: epsilon {:g}, delta {:g}, {}", guarantee.at("epsilon").as_number(),
                   guarantee.at("delta").as_number(), guarantee.at("neighbors").as_string()));
  line("spent", "nothing more");
  line("files",
       fmt::format("{}, {}, release.json and the schema", kAnswersFile, kMeasurementsFile));
  return out + closing_lines(r, notes);
}

}  // namespace tandem
