// SPDX-License-Identifier: Apache-2.0
#include "trial.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <exception>
#include <filesystem>
#include <map>
#include <optional>
#include <string_view>

#include "tandem/base/document.h"
#include "tandem/base/error.h"
#include "tandem/base/parallel.h"
#include "tandem/data/schema.h"
#include "tandem/engine/privacy_unit_text.h"
#include "tandem/engine/release/release_folder.h"
#include "tandem/engine/synth.h"
#include "tandem/privacy/ledger.h"
#include "tandem/source/open.h"

namespace tandem::fuzz {

namespace {

namespace fs = std::filesystem;

// Of release.json: what two runs of one seed may differ in.
constexpr std::array<std::string_view, 3> kOfOneRun = {"id", "release_id", "created"};

// Above every epsilon that a problem asks for, so that the ledger never refuses.
constexpr double kLedgerEpsilon = 1e5;

enum class Ended { Well, Refused, Broken };

struct Attempt {
  Ended ended = Ended::Well;
  std::string sentence;
};

// A refusal is an Error for the caller to mend; everything else that is thrown is a fault.
template <class Work>
Attempt attempt(const Work& work) {
  try {
    work();
    return {};
  } catch (const InternalError& error) {
    return {Ended::Broken, fmt::format("InternalError: {}", error.what())};
  } catch (const Error& error) {
    return {Ended::Refused, error.what()};
  } catch (const std::exception& error) {
    return {Ended::Broken, fmt::format("not an Error: {}", error.what())};
  }
}

class Trial {
 public:
  Trial(std::uint64_t seed, std::string folder, FuzzProblem problem)
      : seed_(seed),
        folder_(std::move(folder)),
        settings_(std::move(problem.settings)),
        without_rows_(problem.without_rows) {
    outcome_.mechanism = settings_.mechanism;
  }

  Outcome run() {
    const Attempt plan = attempt([&] { plan_synthesis(run_of("", Threads{1})); });
    broken("the plan", plan);
    const Attempt real = with_ledger();
    outcome_.released = real.ended == Ended::Well;
    if (real.ended == Ended::Refused) outcome_.refusal = short_of(real.sentence);
    if (plan.ended == Ended::Well && real.ended == Ended::Refused && !died_ && !without_rows_) {
      fail("plan accepted, run refused", real.sentence);
    }
    if (plan.ended == Ended::Refused && real.ended == Ended::Well) {
      fail("plan refused, run made", plan.sentence);
    }
    if (!outcome_.released && plan.ended != Ended::Well) return outcome_;
    with_seed();
    return outcome_;
  }

 private:
  void fail(const std::string& what, const std::string& sentence) {
    outcome_.failures.push_back({what, short_of(sentence)});
  }

  void broken(std::string_view run, const Attempt& attempt) {
    if (attempt.ended == Ended::Broken) {
      fail("broken promise", fmt::format("{}: {}", run, attempt.sentence));
    }
  }

  // Without the folder's name, which is another one each time.
  std::string short_of(std::string text) const {
    for (auto at = text.find(folder_ + "/"); at != std::string::npos;
         at = text.find(folder_ + "/")) {
      text.erase(at, folder_.size() + 1);
    }
    return text;
  }

  SynthRun run_of(const std::string& out, Threads threads) const {
    SynthRun run;
    run.settings = settings_;
    if (!out.empty()) run.settings.out = folder_ + "/" + out;
    run.threads = threads;
    return run;
  }

  bool interrupted(const std::string& out) const {
    return fs::exists(folder_ + "/" + out + ".partial");
  }

  // The run that counts: with fresh noise, charged to a ledger.
  Attempt with_ledger() {
    SynthRun run = run_of("release", Threads{1});
    run.settings.ledger = folder_ + "/ledger";
    Ledger::create(run.settings.ledger,
                   {"fuzz", Epsilon(kLedgerEpsilon), Delta(settings_.delta),
                    parse_privacy_unit(settings_.neighbors, settings_.rows_per_person)});
    Attempt real = attempt([&] { synthesize(run); });
    broken("the run with a ledger", real);

    const Ledger ledger = Ledger::open(run.settings.ledger);
    if (const auto verdict = ledger.verify(); !verdict.whole())
      fail("broken ledger", verdict.fault);
    const auto report = ledger.report();
    const bool open = std::ranges::any_of(report.runs, [](const auto& r) { return !r.spent; });
    const bool spent = report.spent.epsilon.value() > 0.0;
    if (real.ended == Ended::Well) {
      if (report.runs.size() != 1 || open) fail("release not settled", "the run with a ledger");
      if (!ReleaseFolder::is_whole(run.settings.out)) fail("release not whole", "release.json");
      check_release("release");
      return real;
    }
    died_ = open || spent;
    if (died_) {
      fail("death", fmt::format("the run with a ledger, {}: {}",
                                open ? "left open" : "settled with a charge", real.sentence));
    } else if (fs::exists(run.settings.out) || interrupted("release")) {
      fail("refused, but left a folder", real.sentence);
    }
    return real;
  }

  // Twice with one seed: the second time with two threads.
  void with_seed() {
    std::array<Attempt, 2> attempts;
    const std::array<std::string, 2> outs = {"seeded-1", "seeded-2"};
    for (int i = 0; i < 2; ++i) {
      SynthRun run = run_of(outs[i], Threads{i + 1});
      run.settings.seed = static_cast<std::int64_t>(seed_);
      attempts[i] = attempt([&] { synthesize(run); });
      const auto name = fmt::format("the seeded run with {} thread{}", i + 1, i == 0 ? "" : "s");
      broken(name, attempts[i]);
      // Without a ledger, what is left for --resume tells that something had been drawn.
      if (attempts[i].ended != Ended::Well && interrupted(outs[i])) {
        fail("death", fmt::format("{}: {}", name, attempts[i].sentence));
      }
    }
    if (attempts[0].ended != attempts[1].ended || attempts[0].sentence != attempts[1].sentence) {
      fail("threads differ", fmt::format("with one: '{}', with two: '{}'", attempts[0].sentence,
                                         attempts[1].sentence));
      return;
    }
    if (attempts[0].ended != Ended::Well) return;
    const auto files = files_of(outs[0]);
    const auto others = files_of(outs[1]);
    for (const auto& [name, text] : files) {
      const auto other = others.find(name);
      if (other == others.end() || other->second != text) fail("threads differ", name);
    }
    if (files.size() != others.size()) fail("threads differ", "another number of files");
    check_release(outs[0]);
  }

  std::map<std::string, std::string> files_of(const std::string& out) const {
    std::map<std::string, std::string> files;
    for (const auto& entry : fs::directory_iterator(folder_ + "/" + out)) {
      const std::string name = entry.path().filename();
      auto text = read_text_file(entry.path().string());
      if (name == "release.json") {
        Document kept = Document::object();
        const Document whole = Document::parse_json(text, name);
        for (const auto& [key, value] : whole.as_object()) {
          if (std::ranges::find(kOfOneRun, key) == kOfOneRun.end()) kept.set(key, value);
        }
        text = kept.to_json();
      }
      files.emplace(name, std::move(text));
    }
    return files;
  }

  // Words such as nan stand for a number that is none, wherever they are alone.
  static std::optional<std::string> odd_number(std::string_view text) {
    std::string word;
    for (std::size_t i = 0; i <= text.size(); ++i) {
      const char letter = i < text.size() ? text[i] : ' ';
      const auto byte = static_cast<unsigned char>(letter);
      if (std::isalnum(byte) != 0 || letter == '_') {
        if (word.size() < 16) word += static_cast<char>(std::tolower(byte));
        continue;
      }
      if (word == "nan" || word == "inf" || word == "infinity") return word;
      word.clear();
    }
    return std::nullopt;
  }

  void check_release(const std::string& out) {
    const std::string path = folder_ + "/" + out + "/";
    for (const auto& entry : fs::directory_iterator(path)) {
      const std::string name = entry.path().filename();
      if (name.ends_with(".bin")) continue;
      if (const auto word = odd_number(read_text_file(entry.path().string()))) {
        fail("odd number", fmt::format("'{}' in {}/{}", *word, out, name));
      }
    }
    if (fs::exists(path + "answers.csv")) return;  // in the place of rows
    // A release's rows are public: they must fit the schema as they stand.
    const Attempt read = attempt([&] {
      const auto rows = load_table(path + "synthetic.csv", Schema::read(settings_.schema), {});
      const Document release = Document::read(path + "release.json");
      const auto stated = static_cast<std::size_t>(release.at("rows").as_integer());
      if (rows.table.rows() != stated) {
        throw UsageError(
            fmt::format("it has {} rows and release.json says {}", rows.table.rows(), stated));
      }
    });
    if (read.ended != Ended::Well) fail("rows do not read back", out + ": " + read.sentence);
  }

  std::uint64_t seed_;
  std::string folder_;
  SynthSettings settings_;
  bool without_rows_;
  Outcome outcome_;
  bool died_ = false;
};

}  // namespace

Outcome try_problem(Kind kind, std::uint64_t seed, const std::string& folder,
                    const std::function<void(const std::string& mechanism)>& begun) {
  auto problem = make_problem(kind, seed, folder);
  begun(problem.settings.mechanism);
  return Trial(seed, folder, std::move(problem)).run();
}

}  // namespace tandem::fuzz
