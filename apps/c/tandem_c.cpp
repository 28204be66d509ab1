// SPDX-License-Identifier: Apache-2.0
// The C door: documents to requests, results and errors to documents.

#include "tandem_c.h"

#include <cstdlib>
#include <cstring>
#include <new>
#include <string>
#include <utility>
#include <vector>

#include "tandem/base/document.h"
#include "tandem/base/error.h"
#include "tandem/base/version.h"
#include "tandem/engine/budget.h"
#include "tandem/engine/catalogue.h"
#include "tandem/engine/check.h"
#include "tandem/engine/draft/schema_draft.h"
#include "tandem/engine/evaluation.h"
#include "tandem/engine/refit.h"
#include "tandem/engine/synth.h"

struct tandem_task {
  tandem::Cancel cancel = tandem::Cancel::token();
  tandem_progress progress = nullptr;
  void* user = nullptr;

  void tell(const tandem::Document& event) const {
    if (progress != nullptr && progress(user, event.to_json().c_str()) != 0) cancel.request();
  }
};

namespace tandem {
namespace {

// Members of a request by name; a member that nobody asks for is an error that names it.
class Request {
 public:
  explicit Request(const char* text)
      : document_(Document::parse_json(text == nullptr ? "" : text, "the request")) {}

  void get(std::string_view key, std::string& out) {
    if (const auto* value = find(key)) out = value->as_string();
  }
  void get(std::string_view key, double& out) {
    if (const auto* value = find(key)) out = value->as_number();
  }
  void get(std::string_view key, std::int64_t& out) {
    if (const auto* value = find(key)) out = value->as_integer();
  }
  void get(std::string_view key, bool& out) {
    if (const auto* value = find(key)) out = value->as_bool();
  }
  void get(std::string_view key, std::vector<std::string>& out) {
    const auto* value = find(key);
    if (value == nullptr) return;
    for (const auto& item : value->as_array()) out.push_back(item.as_string());
  }
  void get(FormatSettings& out) {
    for_each_format_setting(
        out, [&](const char* key, std::string& variable, const char*) { get(key, variable); });
  }
  Threads threads(const tandem_task* task) {
    std::int64_t count = 0;
    get("threads", count);
    if (count < 0 || count > 4096) {
      throw UsageError(TANDEM_SETTING("threads") " is out of range; choose 0 (all cores) to 4096.");
    }
    Threads out = count == 0 ? Threads::all() : Threads{.count = static_cast<int>(count)};
    if (task != nullptr) out.cancel = task->cancel;
    return out;
  }
  const Document* find(std::string_view key) {
    asked_.push_back(key);
    return document_.find(key);
  }
  void done() const { document_.allow_only(asked_); }

 private:
  Document document_;
  std::vector<std::string_view> asked_;
};

char* copied(const std::string& text) {
  auto* out = static_cast<char*>(std::malloc(text.size() + 1));
  if (out != nullptr) std::memcpy(out, text.c_str(), text.size() + 1);
  return out;
}

int failed(char** answer, const char* kind, const std::string& key, const std::string& message) {
  const auto error = Document::object(
      {{"kind", kind}, {"key", key}, {"message", plain(message)}, {"marked", message}});
  *answer = copied(Document::object({{"error", error}}).to_json());
  return TANDEM_FAILED;
}

// Calls `work`, which gives JSON text; whatever it throws becomes an answer.
template <class Work>
int answered(char** answer, Work&& work) {
  if (answer == nullptr) return TANDEM_FAILED;
  *answer = nullptr;
  try {
    *answer = copied(work());
    return TANDEM_OK;
  } catch (const SchemaError& error) {
    return failed(answer, "schema", error.key(), error.what());
  } catch (const UsageError& error) {
    return failed(answer, "usage", error.key(), error.what());
  } catch (const BudgetError& error) {
    return failed(answer, "budget", error.key(), error.what());
  } catch (const SourceError& error) {
    return failed(answer, "source", error.key(), error.what());
  } catch (const Cancelled& error) {
    return failed(answer, "cancelled", error.key(), error.what());
  } catch (const Error& error) {
    return failed(answer, "internal", error.key(), error.what());
  } catch (const std::bad_alloc&) {
    return failed(answer, "source", "", "The machine has too little memory; choose a smaller run.");
  } catch (const std::exception& error) {
    return failed(answer, "internal", "",
                  std::string("An unexpected failure (") + error.what() + "); please report it.");
  }
}

Note notes_to(const tandem_task* task) {
  if (task == nullptr) return [](const std::string&) {};
  return [task](const std::string& text) { task->tell(Document::object({{"note", plain(text)}})); };
}

std::string stage_name(RunProgress::Stage stage) {
  switch (stage) {
    case RunProgress::Stage::Measuring:
      return "measuring";
    case RunProgress::Stage::MakingRows:
      return "making rows";
    case RunProgress::Stage::Writing:
      return "writing";
  }
  return "";
}

std::string run_synthesis(const char* text, tandem_task* task) {
  Request request(text);
  SynthRun run;
  run.threads = request.threads(task);
  run.note = notes_to(task);
  request.get("force", run.force);
  request.get("resume", run.resume);
  const auto* settings = request.find("settings");
  request.done();
  if (settings != nullptr) {
    apply(*settings, run.settings, [](std::string_view) { return false; });
  }
  if (run.resume) {
    run.settings =
        settings_to_resume(run.settings.out, run.settings, [&](std::string_view setting) {
          return settings != nullptr && settings->find(setting) != nullptr;
        });
  }
  run.progress = [task](const RunProgress& progress) {
    if (task == nullptr) return;
    task->tell(Document::object({{"stage", stage_name(progress.stage)},
                                 {"step", static_cast<std::int64_t>(progress.step)},
                                 {"share", progress.share}}));
  };
  auto summary = synthesize(run);
  auto out = Document::object({{"out", summary.out}, {"budget", summary.budget}});
  out.set("release", std::move(summary.release));
  return out.to_json();
}

std::string run_refit(const char* text, tandem_task* task) {
  Request request(text);
  RefitRequest wanted;
  wanted.threads = request.threads(task);
  wanted.note = notes_to(task);
  wanted.stage = [task](const std::string& doing) {
    if (task != nullptr) task->tell(Document::object({{"stage", doing}}));
  };
  request.get("release", wanted.release);
  request.get("out", wanted.out);
  request.get("where", wanted.where);
  request.get("rows", wanted.rows);
  request.get("max-model-mb", wanted.max_model_mb);
  request.get("seed", wanted.seed);
  request.get("public", wanted.public_sources);
  request.get("memory-limit", wanted.memory_limit);
  request.get("force", wanted.force);
  request.done();
  auto summary = refit(wanted);
  auto out = Document::object({{"out", summary.out}});
  out.set("release", std::move(summary.release));
  return out.to_json();
}

std::string run_evaluation(const char* text, tandem_task* task) {
  Request request(text);
  EvaluationRequest wanted;
  wanted.threads = request.threads(task);
  request.get("real", wanted.real);
  request.get("synthetic", wanted.synthetic);
  request.get("schema", wanted.schema);
  request.get("workload", wanted.workload);
  request.get("group-by", wanted.group_by);
  request.get(wanted.text);
  request.done();
  return to_document(evaluate_files(wanted)).to_json();
}

std::string run_check(const char* text, tandem_task* task) {
  Request request(text);
  CheckRequest wanted;
  wanted.threads = request.threads(task);
  request.get("private", wanted.private_sources);
  request.get("public", wanted.public_sources);
  request.get("schema", wanted.schema);
  request.get("person", wanted.person);
  request.get("rows-per-person", wanted.rows_per_person);
  request.get(wanted.text);
  request.done();
  const auto result = check_files(wanted);
  auto out = Document::object({{"wrong", result.wrong()}, {"text", to_text(result)}});
  out.set("check", to_document(result));
  return out.to_json();
}

std::string run_draft(const char* text, tandem_task* task) {
  Request request(text);
  SchemaRequest wanted;
  wanted.threads = request.threads(task);
  std::int64_t ranges = 16;
  request.get("public", wanted.public_sources);
  request.get("codebook", wanted.codebook);
  request.get("ranges", ranges);
  request.done();
  if (ranges < 1 || ranges > 1000) {
    throw UsageError(TANDEM_SETTING("ranges") " is out of range; choose 1 to 1000.");
  }
  wanted.options.ranges = static_cast<Code>(ranges);
  const auto draft = draft_schema(wanted);
  auto out = Document::object({{"toml", draft.toml}});
  out.set("doubts", Document::array({draft.doubts.begin(), draft.doubts.end()}));
  return out.to_json();
}

std::string run_schema(const char* text) {
  Request request(text);
  std::string path;
  request.get("schema", path);
  request.done();
  auto document = Document::read(path);
  Schema::from_document(document);  // what is wrong with it is said here
  auto out = Document::object({});
  out.set("schema", std::move(document));
  return out.to_json();
}

}  // namespace
}  // namespace tandem

using tandem::answered;

int tandem_c_version(void) { return TANDEM_C_VERSION; }

const char* tandem_version(void) {
  static const std::string text(tandem::version());
  return text.c_str();
}

void tandem_free(char* answer) { std::free(answer); }

tandem_task* tandem_task_new(tandem_progress progress, void* user) {
  auto* task = new (std::nothrow) tandem_task;
  if (task != nullptr) {
    task->progress = progress;
    task->user = user;
  }
  return task;
}

void tandem_task_cancel(tandem_task* task) {
  if (task != nullptr) task->cancel.request();
}

void tandem_task_free(tandem_task* task) { delete task; }

int tandem_synthesize(const char* request, tandem_task* task, char** answer) {
  return answered(answer, [&] { return tandem::run_synthesis(request, task); });
}

int tandem_refit(const char* request, tandem_task* task, char** answer) {
  return answered(answer, [&] { return tandem::run_refit(request, task); });
}

int tandem_evaluate(const char* request, tandem_task* task, char** answer) {
  return answered(answer, [&] { return tandem::run_evaluation(request, task); });
}

int tandem_check(const char* request, tandem_task* task, char** answer) {
  return answered(answer, [&] { return tandem::run_check(request, task); });
}

int tandem_draft_schema(const char* request, tandem_task* task, char** answer) {
  return answered(answer, [&] { return tandem::run_draft(request, task); });
}

int tandem_schema(const char* request, tandem_task* /*task*/, char** answer) {
  return answered(answer, [&] { return tandem::run_schema(request); });
}

int tandem_mechanisms(const char* request, tandem_task* /*task*/, char** answer) {
  return answered(answer, [&] {
    tandem::Request(request).done();
    return tandem::catalogue_document().to_json();
  });
}

int tandem_ledger_create(const char* request, tandem_task* /*task*/, char** answer) {
  return answered(answer, [&] {
    tandem::Request given(request);
    tandem::BudgetRequest wanted;
    given.get("ledger", wanted.ledger);
    given.get("dataset", wanted.dataset);
    given.get("epsilon", wanted.epsilon);
    given.get("delta", wanted.delta);
    given.get("neighbors", wanted.neighbors);
    given.get("rows-per-person", wanted.rows_per_person);
    given.done();
    return tandem::show_budget(tandem::create_budget(wanted), true);
  });
}

int tandem_ledger_show(const char* request, tandem_task* /*task*/, char** answer) {
  return answered(answer, [&] {
    tandem::Request given(request);
    std::string ledger;
    given.get("ledger", ledger);
    given.done();
    return tandem::show_budget(tandem::Ledger::open(ledger), true);
  });
}

int tandem_ledger_verify(const char* request, tandem_task* /*task*/, char** answer) {
  return answered(answer, [&] {
    tandem::Request given(request);
    std::string ledger;
    std::vector<std::string> anchors;
    given.get("ledger", ledger);
    given.get("anchors", anchors);
    given.done();
    return tandem::verify_budget(tandem::Ledger::open(ledger), anchors, true).text;
  });
}
