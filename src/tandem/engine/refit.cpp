// SPDX-License-Identifier: Apache-2.0
#include "tandem/engine/refit.h"

#include <fmt/core.h>

#include <algorithm>
#include <memory>
#include <span>
#include <utility>

#include "tandem/base/digest.h"
#include "tandem/base/error.h"
#include "tandem/base/text.h"
#include "tandem/base/version.h"
#include "tandem/data/csv.h"
#include "tandem/engine/input_files.h"
#include "tandem/engine/memory.h"
#include "tandem/engine/release/pair_rows.h"
#include "tandem/engine/release/release_documents.h"
#include "tandem/engine/release/release_folder.h"
#include "tandem/engine/release/release_text.h"
#include "tandem/engine/release/stored_release.h"
#include "tandem/engine/row_condition.h"
#include "tandem/mechanism/rounds/fit_measurements.h"
#include "tandem/model/fitted_rows.h"
#include "tandem/model/model_file.h"
#include "tandem/model/records_model.h"
#include "tandem/model/restricted.h"
#include "tandem/privacy/entropy.h"
#include "tandem/query/workload.h"

namespace tandem {

namespace {

// A graphical model while it is fitted, in sizes of the model itself: its beliefs before and after,
// messages, potentials and the search's history.
constexpr double kModelCopies = 8.0;

// Bytes that a refit may take.
double room_of(const RefitRequest& r) { return memory_limit(r.memory_limit); }

// What a refit did, for release.json.
struct Outcome {
  std::unique_ptr<Model> model;
  std::string where;  // with the condition of the release it started from
  double share = 1.0;
  std::vector<Warning> warnings;
};

void check_request(const RefitRequest& r) {
  if (r.release.empty()) throw UsageError("No release is named; give the folder of one.");
  if (r.out.empty())
    throw UsageError(TANDEM_SETTING("out") " is missing; name the folder of the new release.");
  if (r.rows < 0 || r.rows > kMostRows) {
    throw UsageError(fmt::format(TANDEM_SETTING("rows") " is {}; choose 0 to {}.", r.rows,
                                 with_commas(kMostRows)));
  }
  if (r.seed < -1) {
    throw UsageError(
        fmt::format(TANDEM_SETTING("seed") " is {}; choose a whole number from 0.", r.seed));
  }
  if (!(r.max_model_mb >= 0.0) || r.max_model_mb > 1e6) {
    throw UsageError(fmt::format(
        TANDEM_SETTING("max-model-mb") " is {:g}; choose a number of megabytes up to 1,000,000.",
        r.max_model_mb));
  }
}

void say(const RefitRequest& r, const std::string& doing) {
  if (r.stage) r.stage(doing);
}

// A list of pairs, whose rows repeat records of its model.
bool is_of_pairs(const StoredRelease& from) { return from.document().find("pairs") != nullptr; }

// The rows as codes, or of pairs as numbers of records, while they are sampled and written; the
// model is weighed where it is read.
void check_room(const RefitRequest& r, const StoredRelease& from, std::size_t rows) {
  double row = 16.0;
  if (!is_of_pairs(from)) {
    for (const auto& attribute : from.schema().domain().attributes()) {
      row += 2.0 * static_cast<double>(code_width(attribute.size));
    }
  }
  const double need = row * static_cast<double>(rows) + r.max_model_mb * 1e6 * kModelCopies;
  if (need <= room_of(r)) return;
  throw UsageError(fmt::format("The refit may need {} and the limit is {}; raise " TANDEM_SETTING(
                                   "memory-limit") ", or ask for fewer rows or a "
                                                   "smaller model.",
                               human_bytes(need), human_bytes(room_of(r))));
}

// The condition that the release itself was made with, or none.
std::string condition_of(const StoredRelease& from) {
  const auto* before = from.document().find("refit");
  const auto* where = before != nullptr ? before->find("where") : nullptr;
  return where != nullptr ? where->as_string() : "";
}

// With it, the one that is asked for now.
std::string joined_condition(const RefitRequest& r, const StoredRelease& from) {
  const std::string before = condition_of(from);
  if (before.empty() || r.where.empty()) return before + r.where;
  return before + " and " + r.where;
}

// UsageError when columns would be left to chance: a release that measured single counts has the
// rest of what it knows from public data or from where it started.
void require_measured_columns(const RefitRequest& r, const Domain& domain,
                              std::span<const Measurement> measurements) {
  std::vector<std::string> lacking;
  for (AttributeId id = 0; id < domain.size(); ++id) {
    const bool measured = std::ranges::any_of(measurements, [&](const Measurement& m) {
      return m.query.map.is_identity() && m.query.clique.contains(id);
    });
    if (!measured) lacking.push_back(domain[id].name);
  }
  if (lacking.empty()) return;
  throw UsageError(
      fmt::format("{} has measured no marginal with {}, so a new model would know nothing of {}; "
                  "leave out " TANDEM_SETTING("max-model-mb") ".",
                  r.release, list_names(lacking, 3), lacking.size() == 1 ? "it" : "them"));
}

// The model of the release's measurements, and what its reader should know of it.
Outcome fit_anew(const RefitRequest& r, const StoredRelease& from) {
  say(r, "fitting a model to the measurements");
  auto measurements = from.measurements();
  require_measured_columns(r, from.schema().domain(), measurements);
  const bool public_inside = std::ranges::any_of(
      measurements, [](const Measurement& m) { return m.origin == Origin::Public; });
  // Where the search starts. The measurements are of all rows, so a model of some is no start.
  std::unique_ptr<Model> former;
  if (from.has_model() && condition_of(from).empty()) {
    former = from.model(room_of(r), r.threads);
  }
  std::span<const Factor> start;
  if (former) start = former->potentials();
  const double total = std::max(1.0, from.document().at("total").as_number());
  auto fit =
      fit_measurements(from.schema().domain(), std::move(measurements), total, r.max_model_mb,
                       impossible_boxes(from.schema().row_rules()), start, r.threads);

  Outcome out;
  out.warnings = std::move(fit.warnings);
  if (!from.document().at("public").as_array().empty() && !public_inside) {
    out.warnings.push_back({"refit.without_public",
                            "The model was fitted to the measurements alone: what the mechanism "
                            "took from public data, "
                            "if anything, is no longer in it."});
  }
  if (fit.cut > 0) {
    out.warnings.push_back(
        {"refit.too_small",
         fmt::format("Of {} measured marginals, {} had no room in a model of {:g} MB; it knows "
                     "smaller ones of their columns.",
                     with_commas(fit.measured), with_commas(fit.cut), r.max_model_mb)});
  }
  if (!fit.converged) {
    out.warnings.push_back(
        {"model.unfinished",
         fmt::format("The model was still improving after {} propagations.",
                     with_commas(static_cast<std::uint64_t>(fit.propagations)))});
  }
  out.model = std::make_unique<GraphicalModel>(std::move(fit.model));
  return out;
}

Outcome keep_model(const RefitRequest& r, const StoredRelease& from) {
  say(r, "reading the model");
  Outcome out;
  out.model = from.model(room_of(r), r.threads);
  out.warnings = warnings_in(from.document());
  if (const auto* before = from.document().find("refit")) {
    if (const auto* share = before->find("share")) out.share = share->as_number();
  }
  return out;
}

void restrict_to(const RowCondition& condition, double total, Outcome& out) {
  if (condition.empty()) return;
  // The share is of the rows asked for. What rules add is another matter: a model that knows no
  // rules has fewer such rows than there are.
  auto [model, share] = restricted(*out.model, condition.stated());
  if (model) model = restricted(*model, condition.restrictions()).model;
  if (!model) {
    throw UsageError(fmt::format(
        TANDEM_SETTING("where") ": the model gives rows with {} no probability; ask for others.",
        out.where));
  }
  out.model = std::move(model);
  out.share *= share;
  if (out.share * total < 1.0) {
    out.warnings.push_back(
        {"refit.hardly_any_rows", fmt::format("The model expects less than one such row in the "
                                              "private table ({:.2g}): what these rows "
                                              "look like is mostly its guess.",
                                              out.share * total)});
  }
}

// What public data a release names is what its reader may check: single values of another file,
// which may be private, would stand in rows that say nothing of it.
void require_public_of_release(const RefitRequest& r, const StoredRelease& from) {
  std::vector<std::string> named;
  for (const auto& source : from.document().at("public").as_array()) {
    named.push_back(source.at("sha256").as_string());
  }
  const auto digests = file_digests(r.public_sources);
  for (std::size_t i = 0; i < digests.size(); ++i) {
    if (std::ranges::find(named, digests[i]) != named.end()) continue;
    throw UsageError(fmt::format(
        TANDEM_SETTING(
            "public") " {} is not public data that the release names; give the file that "
                      "it was made with, as it was then.",
        in_quotes(r.public_sources[i])));
  }
}

// Columns whose values inside a range follow the public data, which the release does not hold.
void note_even_ranges(const RefitRequest& r, const Schema& schema) {
  std::vector<std::string> names;
  for (const auto& column : schema.columns()) {
    if (column.inside_as_public) names.push_back(column.name);
  }
  if (names.empty() || !r.public_sources.empty() || !r.note) return;
  r.note(
      fmt::format("Note: values of {} are drawn evenly inside their ranges; give " TANDEM_SETTING(
                      "public") " to draw them as "
                                "public data lies there.",
                  list_names(names, 8)));
}

// What the release was made for, if its name says it: a file of queries may be gone.
Workload workload_of(const StoredRelease& from) {
  const std::string name = from.document().at("workload").as_string();
  const bool named = name.starts_with("all-") || name.starts_with("random-");
  return named ? Workload::parse(from.schema().domain(), name) : Workload();
}

Document refit_document(const RefitRequest& r, const StoredRelease& from, const Outcome& outcome,
                        std::size_t rows, const FileDigests& files) {
  Document out = Document::object();
  const bool same_model = outcome.where.empty() && r.max_model_mb == 0.0;
  for (const auto& [key, value] : from.document().as_object()) {
    if (key == "error_bounds" && !same_model) continue;  // they are of that very model
    if (key == "certified_error") continue;              // it is of those very rows
    // The new one is made of measurements.
    if ((key == "notes" || key == "facts") && r.max_model_mb != 0.0) continue;
    out.set(key, value);
  }
  out.set("format", kReleaseFormat);
  out.set("tandem", version());
  out.set("rows", static_cast<std::uint64_t>(rows));
  out.set("warnings", warnings_document(outcome.warnings));
  out.set("measurements_sha256", files.measurements);
  out.set("model_sha256", files.model);
  Document refit = Document::object();
  if (!outcome.where.empty()) {
    refit.set("where", outcome.where);
    refit.set("share", outcome.share);
  }
  if (r.max_model_mb > 0.0) refit.set("max_model_mb", r.max_model_mb);
  out.set("refit_of", from.digest());
  out.set("refit", std::move(refit));
  return out;
}

}  // namespace

RefitSummary refit(const RefitRequest& r) {
  check_request(r);
  const StoredRelease from(r.release);
  if (from.document().find("rows") == nullptr) {
    throw UsageError(fmt::format(
        "{} is a release of answers and holds no model, so no rows can be made from it; refit a "
        "release with rows.",
        r.release));
  }
  const auto rows = static_cast<std::size_t>(
      r.rows > 0 ? r.rows : from.document().at("rows").as_integer(0, kMostRows));
  check_room(r, from, rows);
  const std::string where = joined_condition(r, from);
  const RowCondition condition(where, from.schema());

  Outcome outcome = r.max_model_mb > 0.0 ? fit_anew(r, from) : keep_model(r, from);
  outcome.where = where;
  restrict_to(condition, from.document().at("total").as_number(), outcome);
  note_even_ranges(r, from.schema());
  require_public_of_release(r, from);
  const Schema writing = learn_inside(from.schema(), r.public_sources, condition);

  auto folder = ReleaseFolder::start(
      r.out, r.force,
      Document::object({{"format", 1}, {"tandem", version()}, {"refit_of", from.digest()}}));
  try {
    say(r, "making the rows");
    Rng rng(r.seed >= 0 ? static_cast<std::uint64_t>(r.seed) : SystemEntropy().word());
    const std::string path = folder.file(kRowsFile);
    if (is_of_pairs(from)) {
      const auto* records = outcome.model->as_records();
      if (records == nullptr) throw InternalError("A release of pairs has a model of records.");
      write_pair_rows(path, from.schema(), *records, records->sample_records(rows, rng));
    } else {
      Table sampled = fitted_rows(*outcome.model, workload_of(from), rows, rng, room_of(r));
      condition.settle(from.schema(), sampled, rng);
      write_csv(path, follow_rows(writing, sampled), sampled, rng);
      sync_to_disk(path);
    }
    folder.write(from.schema_file(), from.schema_text());
    const std::string measurements = from.measurements_text();
    const auto model = write_model(*outcome.model);
    if (!model) throw InternalError("A model that was read can't be written.");
    folder.write(kMeasurementsFile, measurements);
    folder.write(kModelFile, *model);
    RefitSummary summary{r.out, refit_document(r, from, outcome, rows,
                                               {.measurements = sha256_hex(measurements),
                                                .model = sha256_hex(*model)})};
    folder.write("release.json", summary.release.to_json(2) + "\n");
    folder.publish();
    return summary;
  } catch (const Error&) {
    folder.discard();  // it costs nothing to do it again
    throw;
  }
}

std::string to_text(const RefitSummary& summary, Notes notes) {
  const Document& r = summary.release;
  const Document& guarantee = r.at("guarantee");
  const Document& refit = r.at("refit");
  std::string out;
  out += stamp_line(r);
  out += fmt::format("{}\n", summary.out);
  const auto line = [&](std::string_view name, const std::string& text) {
    out += summary_line(name, text);
  };
  line("rows", with_commas(static_cast<std::uint64_t>(r.at("rows").as_integer())));
  if (const auto* where = refit.find("where")) {
    line("where", where->as_string());
    line("share", fmt::format("{:.4g} of the model's rows, about {:.4g} of the private table",
                              refit.at("share").as_number(),
                              refit.at("share").as_number() * r.at("total").as_number()));
  }
  if (const auto* size = refit.find("max_model_mb")) {
    line("model", fmt::format("fitted to the measurements, at most {:g} MB", size->as_number()));
  }
  line("guarantee",
       fmt::format("unchanged: epsilon {:g}, delta {:g}, {}", guarantee.at("epsilon").as_number(),
                   guarantee.at("delta").as_number(), guarantee.at("neighbors").as_string()));
  line("spent", "nothing more");
  return out + closing_lines(r, notes);
}

}  // namespace tandem
