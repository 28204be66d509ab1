// SPDX-License-Identifier: Apache-2.0
// The C door: documents to requests, results and errors to documents.

#include "tandem_c.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <memory>
#include <new>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tandem/base/document.h"
#include "tandem/base/error.h"
#include "tandem/base/version.h"
#include "tandem/engine/budget.h"
#include "tandem/engine/catalogue.h"
#include "tandem/engine/check.h"
#include "tandem/engine/coded_rows.h"
#include "tandem/engine/draft/schema_draft.h"
#include "tandem/engine/evaluation.h"
#include "tandem/engine/made_rows.h"
#include "tandem/engine/numbers.h"
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

struct tandem_encoder {
  tandem::BlockEncoder encoder;
};

struct tandem_counter {
  tandem::BlockCounter counter;
};

namespace tandem {
namespace {

constexpr std::int64_t kLargestCount = std::int64_t{1} << 53;

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
  void get(std::string_view key, std::vector<std::int64_t>& out) {
    const auto* value = find(key);
    if (value == nullptr) return;
    for (const auto& item : value->as_array()) out.push_back(item.as_integer());
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

// Of a number of rows that may be unknown.
std::int64_t known_rows(const Document& member) {
  const auto* rows = member.find("rows");
  return rows == nullptr || rows->is_null() ? 0 : rows->as_integer(0, kLargestCount);
}

// A row of a batch, or of whoever counts, is a row.
void state_records(SynthSettings& settings) {
  if (settings.text.records.empty()) settings.text.records = "quoted";
  if (settings.text.records == "quoted") return;
  throw UsageError(TANDEM_SETTING(
      "records") " of rows in memory can only be quoted: each is a row, whatever it holds.");
}

// The run of a request's settings, with what is common to planning and making it.
SynthRun run_of(Request& request, tandem_task* task) {
  SynthRun run;
  run.threads = request.threads(task);
  run.note = notes_to(task);
  if (const auto* settings = request.find("settings")) {
    apply(*settings, run.settings, [](std::string_view) { return false; });
  }
  return run;
}

// `door` takes the members of the request that are its own.
std::string run_synthesis(const char* text, tandem_task* task,
                          const std::function<std::optional<Door>(Request&)>& door = {}) {
  Request request(text);
  SynthRun run = run_of(request, task);
  request.get("force", run.force);
  request.get("resume", run.resume);
  const auto* settings = request.find("settings");
  if (door) run.door = door(request);
  request.done();
  if (run.resume) {
    run.settings =
        settings_to_resume(run.settings.out, run.settings, [&](std::string_view setting) {
          return settings != nullptr && settings->find(setting) != nullptr;
        });
  }
  if (run.door) state_records(run.settings);
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

// Rows as text in memory, of which nobody may know how long it is.
std::optional<Door> hidden_text(Request& request) {
  const auto* member = request.find("hidden");
  if (member == nullptr) return std::nullopt;
  member->allow_only(std::vector<std::string_view>{"path", "rows"});
  const auto* rows = member->find("rows");
  const bool known = rows != nullptr && !rows->is_null();
  return Door::hidden_text(
      member->at("path").as_string(),
      known ? std::optional(static_cast<double>(rows->as_integer(0, kLargestCount)))
            : std::nullopt);
}

// What it would do and cost; nothing is spent and no private data is read.
std::string run_plan(const char* text, tandem_task* task) {
  Request request(text);
  const SynthRun run = run_of(request, task);
  request.done();
  const SynthPlan plan = plan_synthesis(run);
  Document out = to_document(plan);
  out.set("text", to_text(plan));
  return out.to_json();
}

std::string run_foresee(const char* text, tandem_task* task) {
  Request request(text);
  SynthRun run = run_of(request, task);
  request.get("force", run.force);
  request.done();
  foresee(run);
  return "{}";
}

std::string run_epsilon_for_error(const char* text, tandem_task* task) {
  Request request(text);
  const SynthRun run = run_of(request, task);
  double target = 0.0;
  request.get("target-error", target);
  request.done();
  return Document::object({{"epsilon", epsilon_for_error(run, target)}}).to_json();
}

NumbersRequest numbers_request(Request& request, tandem_task* task) {
  NumbersRequest wanted;
  wanted.threads = request.threads(task);
  request.get("release", wanted.folder);
  request.get("columns", wanted.columns);
  request.get("workload", wanted.workload);
  request.get("from-model", wanted.from_model);
  request.get("memory-limit", wanted.memory_limit);
  request.done();
  return wanted;
}

std::string run_estimate(const char* text, tandem_task* task) {
  Request request(text);
  EstimateRequest wanted;
  wanted.threads = request.threads(task);
  request.get("schema", wanted.schema);
  request.get("measurements", wanted.measurements);
  request.get("out", wanted.out);
  request.get("total", wanted.total);
  request.get("max-model-mb", wanted.max_model_mb);
  request.get("memory-limit", wanted.memory_limit);
  request.done();
  return estimate(wanted).to_json();
}

std::string run_streamed(const char* text, tandem_task* task, tandem_open_stream open, void* user) {
  return run_synthesis(text, task, [&](Request& request) {
    RowStream stream;
    HowToCount how = HowToCount::ByMemory;
    std::vector<std::string> files;
    if (const auto* member = request.find("stream")) {
      member->allow_only(std::vector<std::string_view>{"rows", "how", "again", "files"});
      if (const auto* named = member->find("files")) {
        for (const auto& file : named->as_array()) files.push_back(file.as_string());
      }
      stream.rows = static_cast<std::size_t>(known_rows(*member));
      const auto* named = member->find("how");
      const std::string word = named == nullptr ? "memory" : named->as_string();
      if (word == "hold") how = HowToCount::Hold;
      if (word == "passes") how = HowToCount::Passes;
      if (word != "memory" && word != "hold" && word != "passes") {
        named->fail("is none of memory, hold and passes; choose one.");
      }
      const auto* again = member->find("again");
      if (again != nullptr && !again->as_bool()) {
        if (how == HowToCount::Passes) named->fail("needs rows that can be read again.");
        how = HowToCount::Once;
      }
    }
    stream.open = [open, user] {
      ArrowArrayStream rows{};
      const bool opened = open != nullptr && open(user, &rows) == 0;
      OwnedStream out(&rows);
      if (!opened) out.reset();
      return out;
    };
    return Door::stream(std::move(stream), how, std::move(files));
  });
}

std::string run_counted(const char* text, tandem_task* task, tandem_count count, void* user) {
  return run_synthesis(text, task, [&](Request& request) {
    std::int64_t rows = 0;
    std::int64_t most_made = 0;
    if (const auto* member = request.find("counted")) {
      member->allow_only(std::vector<std::string_view>{"rows", "most-rows"});
      rows = known_rows(*member);
      const auto* most = member->find("most-rows");
      if (most != nullptr) most_made = most->as_integer(1, kLargestCount);
    }
    const auto ask = [count, user](std::span<const Clique> cliques,
                                   std::span<std::int64_t> counts) {
      Document list = Document::array();
      for (const auto& clique : cliques) {
        Document ids = Document::array();
        for (const auto id : clique) ids.push(static_cast<std::int64_t>(id));
        list.push(std::move(ids));
      }
      auto asked = Document::object({{"cells", static_cast<std::int64_t>(counts.size())}});
      asked.set("cliques", std::move(list));
      return count != nullptr &&
             count(user, asked.to_json().c_str(), counts.data(), counts.size()) == 0;
    };
    return Door::counted(ask, static_cast<double>(rows), most_made);
  });
}

EncoderRequest encoder_request(const char* text) {
  Request request(text);
  EncoderRequest out;
  request.get("schema", out.schema);
  request.get("kind", out.kind);
  request.get("person", out.person);
  request.get("seal", out.seal);
  request.done();
  return out;
}

std::unique_ptr<tandem_counter> counter_of(const char* text) {
  Request request(text);
  std::vector<std::int64_t> sizes;
  std::vector<std::vector<std::int64_t>> cliques;
  request.get("sizes", sizes);
  if (const auto* list = request.find("cliques")) {
    for (const auto& clique : list->as_array()) {
      cliques.emplace_back();
      for (const auto& id : clique.as_array()) cliques.back().push_back(id.as_integer());
    }
  }
  const Threads threads = request.threads(nullptr);
  request.done();
  return std::make_unique<tandem_counter>(tandem_counter{BlockCounter(sizes, cliques, threads)});
}

// Bytes for whoever frees them with tandem_free.
void hand_over(const std::string& bytes, char** block, uint64_t* size) {
  *block = static_cast<char*>(std::malloc(std::max<std::size_t>(bytes.size(), 1)));
  if (*block == nullptr) throw std::bad_alloc();
  std::memcpy(*block, bytes.data(), bytes.size());
  *size = bytes.size();
}

void require_place(const void* place) {
  if (place == nullptr) throw UsageError("The call has no place for what it gives; pass one.");
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
  request.get("tables", wanted.tables);
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
  return answered(answer,
                  [&] { return tandem::run_synthesis(request, task, tandem::hidden_text); });
}

int tandem_plan(const char* request, tandem_task* task, char** answer) {
  return answered(answer, [&] { return tandem::run_plan(request, task); });
}

int tandem_foresee(const char* request, tandem_task* task, char** answer) {
  return answered(answer, [&] { return tandem::run_foresee(request, task); });
}

int tandem_epsilon_for_error(const char* request, tandem_task* task, char** answer) {
  return answered(answer, [&] { return tandem::run_epsilon_for_error(request, task); });
}

int tandem_marginal(const char* request, tandem_task* task, char** answer) {
  return answered(answer, [&] {
    tandem::Request given(request);
    return tandem::marginal_of(tandem::numbers_request(given, task)).to_json();
  });
}

int tandem_answers(const char* request, tandem_task* task, char** answer) {
  return answered(answer, [&] {
    tandem::Request given(request);
    return tandem::answers_of(tandem::numbers_request(given, task)).to_json();
  });
}

int tandem_estimate(const char* request, tandem_task* task, char** answer) {
  return answered(answer, [&] { return tandem::run_estimate(request, task); });
}

int tandem_synthesize_stream(const char* request, tandem_task* task, tandem_open_stream open,
                             void* user, char** answer) {
  return answered(answer, [&] { return tandem::run_streamed(request, task, open, user); });
}

int tandem_synthesize_counted(const char* request, tandem_task* task, tandem_count count,
                              void* user, char** answer) {
  return answered(answer, [&] { return tandem::run_counted(request, task, count, user); });
}

int tandem_encoder_new(const char* request, tandem_encoder** encoder, char** answer) {
  return answered(answer, [&] {
    tandem::require_place(encoder);
    *encoder = nullptr;
    auto made = std::make_unique<tandem_encoder>(
        tandem_encoder{tandem::BlockEncoder(tandem::encoder_request(request))});
    const std::string layout = made->encoder.layout().to_json();
    *encoder = made.release();
    return layout;
  });
}

int tandem_encode(tandem_encoder* encoder, struct ArrowArray* batch, struct ArrowSchema* schema,
                  char** block, uint64_t* bytes, char** answer) {
  const tandem::OwnedArray rows(batch);  // released whatever happens
  const tandem::OwnedSchema types(schema);
  return answered(answer, [&] {
    for (const void* place : {static_cast<const void*>(encoder), static_cast<const void*>(block),
                              static_cast<const void*>(bytes)}) {
      tandem::require_place(place);
    }
    *block = nullptr;
    *bytes = 0;
    if (rows.empty() || types.empty()) {
      throw tandem::UsageError("The batch or its schema was released already; hand over both.");
    }
    tandem::hand_over(encoder->encoder.encode(*rows, *types), block, bytes);
    return std::string("{}");
  });
}

void tandem_encoder_free(tandem_encoder* encoder) { delete encoder; }

int tandem_bound_persons(const char* request, const char* const* blocks, const uint64_t* bytes,
                         uint64_t count, char** block, uint64_t* out_bytes, char** answer) {
  return answered(answer, [&] {
    for (const void* place :
         {static_cast<const void*>(blocks), static_cast<const void*>(bytes),
          static_cast<const void*>(block), static_cast<const void*>(out_bytes)}) {
      tandem::require_place(place);
    }
    *block = nullptr;
    *out_bytes = 0;
    tandem::Request given(request);
    std::int64_t share = 0;
    given.get("rows_per_person", share);
    std::string seal;
    given.get("seal", seal);
    given.done();
    std::vector<std::string_view> parts;
    for (uint64_t i = 0; i < count; ++i) parts.emplace_back(blocks[i], bytes[i]);
    tandem::hand_over(tandem::within_share(parts, share, seal), block, out_bytes);
    return std::string("{}");
  });
}

int tandem_counter_new(const char* request, tandem_counter** counter, char** answer) {
  return answered(answer, [&] {
    tandem::require_place(counter);
    *counter = nullptr;
    auto made = tandem::counter_of(request);
    const auto cells = static_cast<std::int64_t>(made->counter.cells());
    *counter = made.release();
    return tandem::Document::object({{"cells", cells}}).to_json();
  });
}

int tandem_counter_add(tandem_counter* counter, const char* block, uint64_t bytes, char** answer) {
  return answered(answer, [&] {
    tandem::require_place(counter);
    tandem::require_place(block);
    counter->counter.add({block, bytes});
    return std::string("{}");
  });
}

int tandem_counter_read(tandem_counter* counter, int64_t* counts, uint64_t cells, char** answer) {
  return answered(answer, [&] {
    tandem::require_place(counter);
    tandem::require_place(counts);
    const auto found = counter->counter.counts();
    if (found.size() != cells) {
      throw tandem::UsageError("The place for the counts has another size than the counter said.");
    }
    std::copy(found.begin(), found.end(), counts);
    return std::string("{}");
  });
}

void tandem_counter_free(tandem_counter* counter) { delete counter; }

int tandem_make_rows(const char* request, const char* model, uint64_t model_bytes, char** rows,
                     uint64_t* bytes, char** answer) {
  return answered(answer, [&] {
    for (const void* place : {static_cast<const void*>(model), static_cast<const void*>(rows),
                              static_cast<const void*>(bytes)}) {
      tandem::require_place(place);
    }
    *rows = nullptr;
    *bytes = 0;
    tandem::Request given(request);
    tandem::MadeRowsRequest wanted;
    given.get("schema", wanted.schema);
    given.get("kind", wanted.kind);
    given.get("rows", wanted.rows);
    given.get("seed", wanted.seed);
    given.get("memory-limit", wanted.memory_limit);
    wanted.threads = given.threads(nullptr);
    given.done();
    tandem::hand_over(tandem::made_rows(wanted, {model, model_bytes}), rows, bytes);
    return std::string("{}");
  });
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
