// SPDX-License-Identifier: Apache-2.0
// The C door: any bytes as a request, and requests that were right before some members were
// changed, with files of all kinds beside them. The first byte chooses the function.
//
// Promised: an answer that is a JSON object, or an error of a known kind in one line that is no
// fault of tandem's own; rows that are handed over are released; whoever stops a task is obeyed.
// Nothing is written outside a folder of this process: a request's texts lose what leads out of it.

#include <fcntl.h>
#include <sys/stat.h>

#include <array>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <filesystem>
#include <fstream>
#include <map>
#include <mutex>
#include <thread>

#include "arrow_input.h"
#include "tandem/base/document.h"
#include "tandem/base/error.h"
#include "tandem_c.h"

namespace {

using namespace tandem;
using fuzz::promise;
namespace fs = std::filesystem;

// ---- A folder with one file of each kind ----

constexpr const char* kSchema =
    "[[column]]\nname = 'a'\nvalues = ['x', 'y', 'z']\n"
    "[[column]]\nname = 'b'\nkind = 'integer'\nmin = 0\nmax = 99\nbins = 5\n"
    "[[column]]\nname = 'c'\nkind = 'boolean'\nvalues = ['no', 'yes']\n";

std::string rows_of(unsigned seed, int rows) {
  std::string out = "a,b,c,who\n";
  for (int i = 0; i < rows; ++i) {
    seed = seed * 1664525 + 1013904223;
    out += std::string(1, "xyz"[(seed >> 20) % 3]) + "," + std::to_string((seed >> 10) % 100) +
           ((seed >> 28) % 2 != 0 ? ",yes" : ",no") + "," + std::to_string((seed >> 16) % 20) +
           "\n";
  }
  return out;
}

// The folder, and what stood in it at first.
class Scratch {
 public:
  Scratch() : home_(open(".", O_RDONLY | O_DIRECTORY | O_CLOEXEC)) {
    std::string name = access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp";
    name += "/tandem-door-fuzz-XXXXXX";
    promise(mkdtemp(name.data()) != nullptr && home_ >= 0, "there is a folder to work in");
    path_ = name;
    enter();
    std::ofstream("private.csv") << rows_of(1, 60);
    std::ofstream("public.csv") << rows_of(2, 80);
    std::ofstream("schema.toml") << kSchema;
    std::ofstream("workload.json") << R"({"queries":[["a","b"],["c"]]})";
    make(tandem_synthesize,
         R"({"settings":{"private":"private.csv","schema":"schema.toml","epsilon":1,"seed":1,)"
         R"("mechanism":"mst","out":"release"},"threads":1})");
    make(tandem_ledger_create, R"({"ledger":"ledger.db","dataset":"people","epsilon":2,)"
                               R"("delta":1e-9,"neighbors":"replace-one","rows-per-person":1})");
    fs::copy_file("release/measurements.json", "measurements.json");
    std::ifstream model("release/model.bin", std::ios::binary);
    model_.assign(std::istreambuf_iterator<char>(model), {});
    for (const auto& entry : fs::recursive_directory_iterator(".")) {
      if (entry.is_regular_file()) files_[entry.path().string()] = content(entry.path());
    }
    states_ = states();
    leave();
  }
  ~Scratch() {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
  }
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;

  void enter() const { promise(chdir(path_.c_str()) == 0, "the folder is there"); }
  void leave() const { promise(fchdir(home_) == 0, "the folder before it is there"); }
  const std::string& model() const { return model_; }

  // As it was at first.
  void restore() {
    const auto now = states();
    if (now == states_) return;
    for (const auto& entry : fs::directory_iterator(".")) {
      const std::string name = entry.path().string();
      const bool known = files_.contains(name) || name == "./release";
      if (!known || name == "./release") fs::remove_all(entry.path());
    }
    fs::create_directory("release");
    for (const auto& [name, bytes] : files_) {
      fs::remove(name);
      std::ofstream(name, std::ios::binary) << bytes;
    }
    states_ = states();
  }

 private:
  using State = std::array<std::int64_t, 3>;

  static std::string content(const fs::path& path) {
    std::ifstream in(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
  }
  static std::map<std::string, State> states() {
    std::map<std::string, State> out;
    for (const auto& entry : fs::recursive_directory_iterator(".")) {
      struct stat status {};
      if (lstat(entry.path().c_str(), &status) != 0) continue;
      out[entry.path().string()] = {static_cast<std::int64_t>(status.st_size),
                                    static_cast<std::int64_t>(status.st_mtim.tv_sec),
                                    static_cast<std::int64_t>(status.st_mtim.tv_nsec)};
    }
    return out;
  }
  static void make(int (*call)(const char*, tandem_task*, char**), const char* request) {
    char* answer = nullptr;
    const int code = call(request, nullptr, &answer);
    promise(code == TANDEM_OK, "what the targets need can be made", answer);
    tandem_free(answer);
  }

  int home_;
  std::string path_;
  std::string model_;
  std::map<std::string, std::string> files_;
  std::map<std::string, State> states_;
};

// ---- Requests ----

struct Call {
  int (*call)(const char*, tandem_task*, char**);
  const char* request;  // a right one
};

constexpr const char* kSettings =
    R"({"settings":{"private":"private.csv","public":["public.csv"],"schema":"schema.toml",)"
    R"("epsilon":1,"delta":1e-6,"neighbors":"add-remove","mechanism":"independent","rows":20,)"
    R"("workload":"all-2way","out":"new","memory-limit":"300MB"},"threads":1,"force":true})";
const std::array<Call, 17> kCalls = {{
    {tandem_synthesize, kSettings},
    {tandem_plan, R"({"settings":{"private":"p.csv","public":["public.csv"],"epsilon":1,)"
                  R"("rows":1000,"mechanism":"aim","param":{"rounds":5}},"threads":1})"},
    {tandem_foresee, kSettings},
    {tandem_epsilon_for_error, R"({"settings":{"schema":"schema.toml","private":"p","rows":500,)"
                               R"("mechanism":"independent","workload":"all-1way"},)"
                               R"("target-error":0.1,"threads":1})"},
    {tandem_marginal, R"({"release":"release","columns":["a","c"],"from-model":false,)"
                      R"("memory-limit":"300MB","threads":1})"},
    {tandem_answers, R"({"release":"release","workload":"all-2way","from-model":true,)"
                     R"("threads":1})"},
    {tandem_estimate, R"({"schema":"schema.toml","measurements":"measurements.json","out":"new",)"
                      R"("total":60,"max-model-mb":10,"memory-limit":"300MB","threads":1})"},
    {tandem_refit, R"({"release":"release","out":"new","where":"a = x","rows":30,"seed":7,)"
                   R"("max-model-mb":10,"memory-limit":"300MB","force":true,"threads":1})"},
    {tandem_evaluate, R"({"real":"private.csv","synthetic":"public.csv","schema":"schema.toml",)"
                      R"("workload":"all-2way","group-by":["a"],"threads":1})"},
    {tandem_check, R"({"private":["private.csv"],"public":["public.csv"],"schema":"schema.toml",)"
                   R"("person":"who","rows-per-person":2,"threads":1})"},
    {tandem_draft_schema, R"({"public":["public.csv"],"codebook":"","ranges":8,"threads":1})"},
    {tandem_schema, R"({"schema":"schema.toml"})"},
    {tandem_mechanisms, "{}"},
    {tandem_ledger_create, R"({"ledger":"new.db","dataset":"d","epsilon":1,"delta":1e-9,)"
                           R"("neighbors":"add-remove","rows-per-person":3})"},
    {tandem_ledger_show, R"({"ledger":"ledger.db"})"},
    {tandem_ledger_verify, R"({"ledger":"ledger.db","anchors":["00"]})"},
    {tandem_synthesize,
     R"({"settings":{"private":"private.csv","schema":"schema.toml","epsilon":1,)"
     R"("ledger":"ledger.db","mechanism":"mst","person":"who","out":"new"},"threads":1})"},
}};

// Without what leads out of the folder.
std::string tamed(std::string text) {
  for (char& c : text) {
    if (c == '/') c = '_';
  }
  for (std::size_t at; (at = text.find("..")) != std::string::npos;) text[at] = '_';
  return text;
}

// A value that may stand where another stood.
Document odd_value(fuzz::Bytes& from) {
  static constexpr std::array kTexts = {"",
                                        "private.csv",
                                        "public.csv",
                                        "schema.toml",
                                        "release",
                                        "ledger.db",
                                        "new",
                                        "a",
                                        "b",
                                        "who",
                                        "all-3way",
                                        "all-1way",
                                        "a,b;c",
                                        "workload.json",
                                        "measurements.json",
                                        "mst",
                                        "mw-pub",
                                        "independent",
                                        "dual-query",
                                        "hdmm",
                                        "tandem",
                                        "private-pgm",
                                        "aim",
                                        "gem",
                                        "mwem",
                                        "grouped",
                                        "replace-one",
                                        "add-remove",
                                        "quoted",
                                        "lines",
                                        "latin-1",
                                        "utf-16le",
                                        "tab",
                                        ",",
                                        "1e9999",
                                        "300MB",
                                        "1KB",
                                        "pairs:private.csv",
                                        "*.csv",
                                        "a = x and b < 10",
                                        "not",
                                        "model.bin",
                                        "csv"};
  static constexpr std::array kNumbers = {
      0.0,    1.0,   -1.0,   0.5,    2.0,  3.0, 7.0,  1e-9,    1e-6,         1e6,
      1000.0, 1e308, 1e-320, 4096.0, 1e18, 1e9, 0.99, 65536.0, 2147483648.0, 9007199254740993.0};
  switch (from.below(8)) {
    case 0:
    case 1:
    case 2:
      return kTexts[from.byte() % kTexts.size()];
    case 3:
    case 4: {
      const double number = kNumbers[from.byte() % kNumbers.size()];
      if (std::abs(number) < 1e18 && number == std::trunc(number)) {
        return static_cast<std::int64_t>(number);
      }
      return number;
    }
    case 5:
      return from.one_in(2);
    case 6: {
      auto list = Document::array();
      for (int left = from.below(4); left > 0; --left) list.push(odd_value(from));
      return list;
    }
    default: {
      if (from.one_in(2)) return from.text(30);
      auto object = Document::object({});
      for (int left = from.below(3); left > 0; --left) {
        object.set(tamed(from.text(8)), odd_value(from));
      }
      return object;
    }
  }
}

// The same with some members changed, left out or added.
Document edited(const Document& from, fuzz::Bytes& bytes) {
  static constexpr std::array kKeys = {
      "private",         "public",       "schema",    "epsilon",  "delta",        "neighbors",
      "rows-per-person", "person",       "mechanism", "workload", "param",        "rows",
      "format",          "out",          "ledger",    "seed",     "memory-limit", "encoding",
      "delimiter",       "decimal",      "records",   "resume",   "force",        "threads",
      "where",           "max-model-mb", "total",     "columns",  "group-by",     "codebook",
      "anchors",         "stream",       "counted"};
  Document out = Document::object({});
  for (const auto& [key, value] : from.as_object()) {
    switch (bytes.below(12)) {
      case 10:
        out.set(key, odd_value(bytes));
        break;
      case 11:
        break;
      default:
        out.set(key, value.is_object() ? edited(value, bytes) : value);
    }
  }
  for (int more = bytes.one_in(3) ? 1 + bytes.below(2) : 0; more > 0; --more) {
    out.set(kKeys[bytes.byte() % kKeys.size()], odd_value(bytes));
  }
  return out;
}

// The same with texts that stay in the folder, one thread, and little memory and few rows.
Document tamed(const Document& from) {
  if (from.is_string()) return tamed(from.as_string());
  if (from.is_array()) {
    auto out = Document::array();
    for (const auto& item : from.as_array()) out.push(tamed(item));
    return out;
  }
  if (!from.is_object()) return from;
  auto out = Document::object({});
  for (const auto& [key, value] : from.as_object()) {
    if (key == "threads" && value.is_integer() && value.as_integer() % 4096 == 0) {
      out.set(key, 1);
    } else if (key == "memory-limit" && value.is_string()) {
      out.set(key, value.as_string().size() > 5 ? "300MB" : value);
    } else if (key == "rows" && value.is_integer() && value.as_integer() < (1 << 30)) {
      out.set(key, value.as_integer() % 10'000);
    } else {
      out.set(key, tamed(value));
    }
  }
  return out;
}

// ---- Calls that are watched ----

// Stops a task when it has taken long, as people do.
class Patience {
 public:
  explicit Patience(tandem_task* task)
      : watcher_([this, task] {
          std::unique_lock lock(mutex_);
          if (!done_.wait_for(lock, std::chrono::milliseconds(250), [&] { return over_; })) {
            tandem_task_cancel(task);
          }
        }) {}
  ~Patience() {
    {
      const std::lock_guard lock(mutex_);
      over_ = true;
    }
    done_.notify_one();
    watcher_.join();
  }
  Patience(const Patience&) = delete;
  Patience& operator=(const Patience&) = delete;

 private:
  std::mutex mutex_;
  std::condition_variable done_;
  bool over_ = false;
  std::thread watcher_;
};

void check_answer(int code, char* answer) {
  promise(answer != nullptr, "there is an answer");
  const std::string text = answer;
  tandem_free(answer);
  Document document;
  try {
    document = Document::parse_json(text, "answer");
  } catch (const UsageError& error) {
    promise(false, "an answer is JSON", error.what() + (": " + text));
  }
  promise(document.is_object(), "an answer is an object", text);
  if (code == TANDEM_OK) return;
  promise(code == TANDEM_FAILED, "a call goes well or fails");
  const auto& error = document.at("error");
  const std::string& kind = error.at("kind").as_string();
  promise(kind == "usage" || kind == "schema" || kind == "budget" || kind == "source" ||
              kind == "cancelled",
          "an error is not tandem's own", text);
  const std::string& message = error.at("message").as_string();
  promise(message.find('\n') == std::string::npos && message.size() < 1500, "a message is one line",
          text);
}

// Counts that are someone else's: any numbers, of the right number.
int count(void* user, const char* request, std::int64_t* counts, std::uint64_t cells) {
  auto& from = *static_cast<fuzz::Bytes*>(user);
  promise(Document::parse_json(request, "asked").is_object(), "what is asked is an object");
  if (from.one_in(8)) return 1;
  for (std::uint64_t i = 0; i < cells; ++i) counts[i] = from.one_in(16) ? from.byte() - 20 : 2;
  return 0;
}

struct Rows {
  fuzz::ArrowTable* table;
  int left;
};

int open_rows(void* user, ArrowArrayStream* stream) {
  auto& rows = *static_cast<Rows*>(user);
  rows.left = 3;
  stream->private_data = user;
  stream->get_schema = [](ArrowArrayStream* self, ArrowSchema* to) {
    *to = static_cast<Rows*>(self->private_data)->table->schema();
    return 0;
  };
  stream->get_next = [](ArrowArrayStream* self, ArrowArray* to) {
    auto& now = *static_cast<Rows*>(self->private_data);
    *to = ArrowArray{};
    if (now.left-- > 0) *to = now.table->batch();
    return 0;
  };
  stream->get_last_error = [](ArrowArrayStream*) { return "a cell, word for word"; };
  stream->release = [](ArrowArrayStream* self) { self->release = nullptr; };
  return 0;
}

// ---- Blocks: batches to codes, codes to counts, models to rows ----

void try_blocks(fuzz::Bytes& from, const std::string& model) {
  char* answer = nullptr;
  auto request = Document::object({{"schema", kSchema}, {"kind", "toml"}, {"person", "who"}});
  if (from.one_in(4)) request = tamed(edited(request, from));
  tandem_encoder* encoder = nullptr;
  check_answer(tandem_encoder_new(request.to_json().c_str(), &encoder, &answer), answer);
  std::string block;
  if (encoder != nullptr) {
    const auto table = fuzz::arrow_table(from, {"a", "b", "c", "who"}, from.one_in(2));
    ArrowArray batch = table->batch();
    ArrowSchema schema = table->schema();
    char* made = nullptr;
    std::uint64_t bytes = 0;
    const int code = tandem_encode(encoder, &batch, &schema, &made, &bytes, &answer);
    check_answer(code, answer);
    promise(table->held == 0, "a batch and its schema are released");
    if (code == TANDEM_OK) block.assign(made, bytes);
    tandem_free(made);
    tandem_encoder_free(encoder);
  }
  for (int edits = from.one_in(2) ? from.below(6) : 0; edits > 0 && !block.empty(); --edits) {
    const std::size_t at = from.one_in(2) ? from.byte() : from.byte() * 256U + from.byte();
    block[at % block.size()] = static_cast<char>(from.byte());
  }
  if (from.one_in(8)) block.resize(block.size() * from.byte() / 256);
  if (from.one_in(8)) block += from.text(40);

  const char* blocks[] = {block.data(), block.data()};
  const std::uint64_t sizes[] = {block.size(), block.size()};
  char* bound = nullptr;
  std::uint64_t bytes = 0;
  const auto share = Document::object({{"rows_per_person", from.below(5) - 1}});
  check_answer(tandem_bound_persons(share.to_json().c_str(), blocks, sizes, 1 + from.below(2),
                                    &bound, &bytes, &answer),
               answer);
  if (bound != nullptr) block.assign(bound, bytes);
  tandem_free(bound);

  auto asked =
      Document::parse_json(R"({"sizes":[3,5,2],"cliques":[[0],[0,1,2],[]],"threads":1})", "");
  if (from.one_in(3)) asked = tamed(edited(asked, from));
  tandem_counter* counter = nullptr;
  const int code = tandem_counter_new(asked.to_json().c_str(), &counter, &answer);
  std::uint64_t cells = 0;
  if (code == TANDEM_OK) {
    cells = static_cast<std::uint64_t>(Document::parse_json(answer, "").at("cells").as_integer());
  }
  check_answer(code, answer);
  if (counter != nullptr) {
    check_answer(tandem_counter_add(counter, block.data(), block.size(), &answer), answer);
    std::vector<std::int64_t> counts(std::min<std::uint64_t>(cells, 1 << 20));
    check_answer(tandem_counter_read(counter, counts.data(), counts.size(), &answer), answer);
    tandem_counter_free(counter);
  }

  std::string changed = model;
  for (int edits = from.below(4); edits > 0; --edits) {
    changed[(from.byte() * 256U + from.byte()) % changed.size()] = static_cast<char>(from.byte());
  }
  auto wanted = Document::object({{"schema", kSchema},
                                  {"kind", "toml"},
                                  {"rows", from.below(50)},
                                  {"seed", 1},
                                  {"memory-limit", "300MB"},
                                  {"threads", 1}});
  if (from.one_in(4)) wanted = tamed(edited(wanted, from));
  char* rows = nullptr;
  check_answer(tandem_make_rows(wanted.to_json().c_str(), changed.data(), changed.size(), &rows,
                                &bytes, &answer),
               answer);
  tandem_free(rows);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static Scratch scratch;
  fuzz::Bytes from(data, size);
  const std::size_t which = from.byte() % (kCalls.size() + 4);
  scratch.enter();
  if (which == kCalls.size()) {
    try_blocks(from, scratch.model());
  } else {
    std::string request;
    const auto& right = kCalls[which < kCalls.size() ? which : 0].request;
    if (from.one_in(8)) {
      while (from.any()) request += static_cast<char>(from.byte());
      try {
        request = tamed(Document::parse_json(request, "")).to_json();
      } catch (const UsageError&) {  // then nobody finds a path in it
      }
    } else {
      request = tamed(edited(Document::parse_json(right, ""), from)).to_json();
    }
    char* answer = nullptr;
    tandem_task* task = tandem_task_new(nullptr, nullptr);
    int code = 0;
    {
      const Patience patience(task);
      if (which < kCalls.size()) {
        code = kCalls[which].call(request.c_str(), task, &answer);
      } else if (which == kCalls.size() + 1) {
        code = tandem_synthesize_counted(request.c_str(), task, count, &from, &answer);
      } else {
        const auto table = fuzz::arrow_table(from, {"a", "b", "c", "who"}, which % 2 == 0);
        Rows rows{table.get(), 0};
        code = tandem_synthesize_stream(request.c_str(), task, open_rows, &rows, &answer);
        promise(table->held == 0, "batches and schemas are released");
      }
    }
    tandem_task_free(task);
    check_answer(code, answer);
  }
  scratch.restore();
  scratch.leave();
  return 0;
}
