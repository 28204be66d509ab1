// SPDX-License-Identifier: Apache-2.0
#include "tandem/engine/comparison.h"

#include <fmt/core.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <set>
#include <unordered_map>
#include <utility>

#include "tandem/base/check.h"
#include "tandem/base/error.h"
#include "tandem/base/text.h"
#include "tandem/engine/comparison_figure.h"
#include "tandem/engine/comparison_grid.h"
#include "tandem/engine/execute.h"
#include "tandem/engine/forked_jobs.h"
#include "tandem/engine/memory.h"
#include "tandem/engine/reliability.h"
#include "tandem/eval/metrics.h"
#include "tandem/model/records_model.h"
#include "tandem/privacy/curator.h"
#include "tandem/privacy/private_data.h"
#include "tandem/query/counting.h"
#include "tandem/source/bit_source.h"
#include "tandem/source/memory_source.h"
#include "tandem/source/open.h"

namespace tandem {

namespace {

constexpr std::string_view kHeader =
    "data,public,mechanism,parameters,epsilon,delta,neighbors,seed,model_avg_error,"
    "model_max_error,model_mean_error,rows_avg_error,rows_max_error,rows_mean_error,seconds,"
    "peak_mb";
constexpr std::int64_t kMostSeeds = 10'000;
constexpr std::size_t kMostCellsKept = std::size_t{1} << 26;  // of true answers, 8 bytes each

// ---- What to run ----

struct Spec {
  std::string mechanism;
  std::vector<std::string> parameters;  // KEY=VALUE
  std::string text() const { return fmt::format("{}", fmt::join(parameters, " ")); }
};

// "mw-pub:rounds=50:output=last", with the parameters of the request that it knows.
Spec parse_spec(const std::string& text, const ComparisonRequest& request) {
  const auto parts = split(text, ':');
  Spec spec{.mechanism = std::string(trim(parts[0])), .parameters = {}};
  if (spec.mechanism == "auto")
    spec.mechanism = automatic_mechanism(!request.public_sources.empty(), request.delta == 0.0);
  const Mechanism mechanism = request.find(spec.mechanism);
  for (std::size_t i = 1; i < parts.size(); ++i) {
    if (parts[i].find('=') == std::string_view::npos && !spec.parameters.empty()) {
      spec.parameters.back() += fmt::format(":{}", parts[i]);  // support=random:5000
    } else {
      spec.parameters.emplace_back(trim(parts[i]));
    }
  }
  const auto own = parse_parameters(spec.parameters);
  for (const auto& [name, value] : parse_parameters(request.parameters)) {
    const bool known = std::ranges::any_of(
        mechanism.options, [&, name = name](const auto& option) { return option.name == name; });
    const bool given =
        std::ranges::any_of(own, [&, name = name](const auto& pair) { return pair.first == name; });
    if (known && !given) spec.parameters.push_back(fmt::format("{}={}", name, value));
  }
  return spec;
}

struct Job {
  std::size_t spec = 0;
  double epsilon = 0.0;
  std::int64_t seed = 0;
};

SynthSettings settings_of(const ComparisonRequest& request, const Spec& spec, double epsilon) {
  SynthSettings s;
  s.private_source = request.private_source;
  s.public_sources = request.public_sources;
  s.schema = request.schema;
  s.text = request.text;
  s.epsilon = epsilon;
  s.delta = request.delta;
  s.neighbors = request.neighbors;
  s.rows_per_person = request.rows_per_person;
  s.mechanism = spec.mechanism;
  s.parameters = spec.parameters;
  s.workload = request.workload;
  // What is public knowledge may serve as public data.
  s.private_as_public = request.private_as_public || request.published;
  s.certify_share = 0.0;  // mechanisms are compared by what their whole budget gives
  return s;
}

// ---- One run ----

// A table with its answers to a workload kept.
class Reference {
 public:
  // REQUIRES: with pairs, a workload of conjunctions.
  Reference(const Table& table, const std::optional<BitTable>& pairs, const Workload& workload,
            Threads threads)
      : table_(table), threads_(threads) {
    if (workload.conjunctions() != nullptr) {
      shares_ = pairs ? reference_shares(workload, *pairs, threads)
                      : reference_shares(workload, table, threads);
      return;
    }
    if (workload.queries() > kMostCellsKept) return;
    std::vector<Clique> cliques;
    for (const auto& [clique, weight] : workload.cliques()) cliques.push_back(clique);
    for (auto& factor : count_marginals(table, cliques, threads)) {
      kept_.emplace(factor.clique, std::move(factor));
    }
  }
  const Domain& domain() const { return table_.domain(); }
  std::span<const double> shares() const { return shares_; }  // of a workload's conjunctions
  Factor project(const Clique& clique) const {
    const auto found = kept_.find(clique);
    if (found != kept_.end()) return found->second;
    return count_marginals(table_, std::span(&clique, 1), threads_).front();
  }

 private:
  const Table& table_;
  Threads threads_;
  std::unordered_map<Clique, Factor> kept_;
  std::vector<double> shares_;
};

struct Bench {
  Table table;  // without rows where the source is a list of pairs
  std::optional<BitTable> pairs;
  PublicData public_data;
  Schema schema;
  Workload workload;

  std::size_t rows() const { return pairs ? pairs->rows() : table.rows(); }
};

// The share of rows that fulfil each conjunction, by a model or by answers alone, and by rows.
// Where there are no rows, the answers stand for them.
struct Shares {
  std::vector<double> model;
  std::vector<double> rows;
};
// Rows that repeat records equally often, but some once more: those are counted by themselves.
std::vector<double> shares_of_repeats(const ConjunctionSet& conjunctions,
                                      const RecordsModel& records,
                                      std::span<const std::uint32_t> repeats,
                                      std::span<const double> of_model) {
  std::vector<std::size_t> times(records.records().size(), 0);
  for (const auto record : repeats) ++times[record];
  const std::size_t least = std::ranges::min(times);
  std::vector<std::size_t> extra;
  for (std::size_t record = 0; record < times.size(); ++record) {
    extra.insert(extra.end(), times[record] - least, record);
  }
  const auto rows = static_cast<double>(repeats.size());
  const double even = static_cast<double>(least * times.size()) / rows;
  std::vector<double> out(of_model.begin(), of_model.end());
  for (double& share : out) share *= even;
  if (extra.empty()) return out;
  const RecordsModel more(records.records().select(extra), static_cast<double>(extra.size()));
  const auto counts = more.answers(conjunctions);
  for (std::size_t q = 0; q < out.size(); ++q) out[q] += counts[q] / rows;
  return out;
}

Shares shares_of(const ConjunctionSet& conjunctions, Release release) {
  Shares out;
  if (release.model == nullptr) {
    check(release.answers.size() == conjunctions.size(), "each conjunction has an answer");
    for (const auto& answer : release.answers) out.model.push_back(answer.estimate / release.total);
    out.rows = out.model;
    return out;
  }
  const auto* records = release.model->as_records();
  if (records != nullptr) {
    out.model = records->answers(conjunctions);
    for (double& share : out.model) share /= records->total();
  }
  if (release.rows) {
    out.rows = conjunction_shares(conjunctions, *release.rows);
  } else {
    out.rows = shares_of_repeats(conjunctions, *records, release.repeats, out.model);
  }
  if (records == nullptr) out.model = out.rows;
  return out;
}

// Answers to a workload of marginals, as something that has marginals.
class AnsweredMarginals {
 public:
  AnsweredMarginals(const Workload& workload, const Release& release)
      : workload_(workload), answers_(release.answers) {
    std::size_t at = 0;
    for (const auto& [group, product] : workload.products()) {
      for (const auto& factor : product.factors) {
        if (factor.kind != ColumnQueries::Kind::Identity) {
          throw UsageError(
              "it releases answers to ranges and sums, and errors are compared on marginals; "
              "choose a workload of marginals");
        }
      }
      first_.emplace(product.clique, at);
      at += static_cast<std::size_t>(product.queries(workload.domain()));
    }
    check(at == answers_.size(), "each query has an answer");
  }
  const Domain& domain() const { return workload_.domain(); }
  Factor project(const Clique& clique) const {
    Factor out{clique, std::vector<double>(domain().cells(clique))};
    const std::size_t first = first_.at(clique);
    for (std::size_t i = 0; i < out.values.size(); ++i) {
      out.values[i] = answers_[first + i].estimate;
    }
    return out;
  }

 private:
  const Workload& workload_;
  std::span<const Answer> answers_;
  std::unordered_map<Clique, std::size_t> first_;
};

// What a job sends back: seven numbers.
std::string run_job(const Prepared& p, const Bench& bench, const Reference& reference,
                    std::int64_t seed) {
  const Problem problem = problem_of(p, bench.public_data);
  const auto started = std::chrono::steady_clock::now();
  std::chrono::duration<double> seconds{0.0};  // without making rows
  const Task task{.parts = p,
                  .problem = problem,
                  .rules = bench.schema.row_rules(),
                  .rows = static_cast<std::int64_t>(std::max<std::size_t>(bench.rows(), 1)),
                  .memory = 1e9,
                  .pairs = bench.pairs.has_value()};
  Means means{.entropy = entropy_of(seed),
              .transcript = memory_transcript(),
              .rng = static_cast<std::uint64_t>(seed),
              .threads = {},
              .progress = [&](const RunProgress& progress) {
                if (progress.stage == RunProgress::Stage::MakingRows) {
                  seconds = std::chrono::steady_clock::now() - started;
                }
              }};
  Release release = execute(
      PrivateData(bench.pairs ? bit_source(*bench.pairs) : memory_source(bench.table), p.unit),
      task, std::move(means));
  if (release.model == nullptr) seconds = std::chrono::steady_clock::now() - started;
  Evaluation model;
  Evaluation sampled;
  if (const auto* conjunctions = bench.workload.conjunctions()) {
    const auto shares = shares_of(*conjunctions, std::move(release));
    model = evaluate_conjunctions(*conjunctions, reference.shares(), shares.model);
    sampled = evaluate_conjunctions(*conjunctions, reference.shares(), shares.rows);
  } else if (release.model == nullptr) {
    if (p.mechanism.conjunctions) {
      throw UsageError(
          "it releases answers and no model; compare it on a workload of conjunctions");
    }
    model =
        evaluate_workload(bench.workload, reference, AnsweredMarginals(bench.workload, release));
    sampled = model;  // where there are no rows, the answers stand for them
  } else {
    model = evaluate_workload(bench.workload, reference, *release.model);
    sampled = evaluate_workload(bench.workload, reference, CountedTable(*std::move(release.rows)));
  }
  return fmt::format("{:.6g},{:.6g},{:.6g},{:.6g},{:.6g},{:.6g},{:.3f}", model.avg_workload_error,
                     model.max_error, model.mean_error, sampled.avg_workload_error,
                     sampled.max_error, sampled.mean_error, seconds.count());
}

// ---- The file of results ----

// What tells a run apart, as the first fields of its line.
std::string key_of(const ComparisonRequest& request, const Spec& spec, const Job& job) {
  return fmt::format("{},{},{},{},{:g},{:g},{},{}", csv_field(request.private_source),
                     csv_field(fmt::format("{}", fmt::join(request.public_sources, " "))),
                     csv_field(spec.mechanism), csv_field(spec.text()), job.epsilon, request.delta,
                     request.neighbors, job.seed);
}

bool parse_numbers(std::string_view text, ComparisonResult& out) {
  const auto fields = split(text, ',');
  const std::array<double*, 8> places = {&out.model.avg, &out.model.max, &out.model.mean,
                                         &out.rows.avg,  &out.rows.max,  &out.rows.mean,
                                         &out.seconds,   &out.peak_mb};
  if (fields.size() != places.size()) return false;
  for (std::size_t i = 0; i < places.size(); ++i) {
    const auto number = parse_number(fields[i]);
    if (!number) return false;
    *places[i] = *number;
  }
  return true;
}

// results.csv: a line as soon as a run ends. A line cut off by a crash is dropped.
class ResultsFile {
 public:
  ResultsFile(std::string path, bool resume) : path_(std::move(path)) {
    std::ifstream old(path_, std::ios::binary);
    std::string line;
    if (resume && std::getline(old, line) && line != kHeader) {
      throw UsageError(fmt::format(
          "{} is no file of results; choose another " TANDEM_SETTING("out") ".", path_));
    }
    while (resume && std::getline(old, line) && !old.eof()) lines_.push_back(line);
    old.close();
    write_all();
  }

  // The numbers of the line that begins with `key`.
  std::optional<ComparisonResult> find(const std::string& key) const {
    for (const auto& line : lines_) {
      ComparisonResult out;
      if (line.starts_with(key + ",") &&
          parse_numbers(std::string_view(line).substr(key.size() + 1), out)) {
        return out;
      }
    }
    return {};
  }

  void add(const std::string& line) {
    lines_.push_back(line);
    std::ofstream file(path_, std::ios::binary | std::ios::app);
    file << line << '\n';
    require(file);
  }

 private:
  void write_all() const {
    std::ofstream file(path_, std::ios::binary | std::ios::trunc);
    file << kHeader << '\n';
    for (const auto& line : lines_) file << line << '\n';
    require(file);
  }
  void require(std::ofstream& file) const {
    file.flush();
    if (!file) throw SourceError(fmt::format("{} can't be written; check the disk.", path_));
  }

  std::string path_;
  std::vector<std::string> lines_;
};

void write_file(const std::string& path, const std::string& text) {
  std::ofstream file(path, std::ios::binary | std::ios::trunc);
  file << text;
  file.close();
  if (!file) throw SourceError(fmt::format("{} can't be written; check the disk.", path));
}

// What all runs of a folder share, beside what results.csv says of each.
Document common_of(const ComparisonRequest& request, const std::string& schema_digest) {
  return Document::object(
      {{"format", 1},
       {"internal", !request.published},
       {"note", request.published ? "Seeded runs on a table that is public knowledge."
                                  : "Seeded runs judged against the private table: not for "
                                    "publication."},
       {"workload", request.workload},
       {"rows_per_person", request.rows_per_person},
       {"schema_sha256", schema_digest}});
}

void open_folder(const ComparisonRequest& request, const Document& common) {
  namespace fs = std::filesystem;
  const fs::path folder = request.out;
  const fs::path about = folder / "comparison.json";
  const bool exists = fs::exists(folder / "results.csv");
  if (exists && !request.resume && !request.force) {
    throw UsageError(fmt::format(
        "{} holds a comparison; go on with it by " TANDEM_SETTING(
            "resume") ", replace it by " TANDEM_SETTING("force") ", or choose "
                                                                 "another " TANDEM_SETTING(
                                                                     "out") ".",
        request.out));
  }
  if (exists && request.resume && read_text_file(about.string()) != common.to_json(2) + "\n") {
    throw UsageError(
        fmt::format("{} compares something else (another schema, workload, rows a person or "
                    "stamp); choose another " TANDEM_SETTING("out") ".",
                    request.out));
  }
  std::error_code failed;
  fs::create_directories(folder, failed);
  write_file(about.string(), common.to_json(2) + "\n");
  // A table of numbers can't say it without breaking who reads it.
  const std::string warning = (folder / "INTERNAL.txt").string();
  if (request.published) {
    fs::remove(warning, failed);
  } else {
    write_file(warning,
               "INTERNAL: everything in this folder was computed from the exact private table.\n");
  }
}

void check_request(const ComparisonRequest& request) {
  if (request.private_source.empty())
    throw UsageError(TANDEM_SETTING("private") " is missing; name the table.");
  if (request.mechanisms.empty()) {
    throw UsageError(
        TANDEM_SETTING("mechanisms") " is missing; name some, such as independent,aim.");
  }
  if (request.epsilons.empty())
    throw UsageError(TANDEM_SETTING("epsilons") " is missing; give some, such as 0.1,1.");
  metric_called(request.metric);
  if (request.seeds < 1 || request.seeds > kMostSeeds) {
    throw UsageError(fmt::format(TANDEM_SETTING("seeds") " is {}; choose 1 to {}.", request.seeds,
                                 with_commas(static_cast<std::uint64_t>(kMostSeeds))));
  }
}

}  // namespace

ComparisonOutcome compare(const ComparisonRequest& request) {
  check_request(request);
  std::vector<Spec> specs;
  for (const auto& text : request.mechanisms) {
    specs.push_back(parse_spec(text, request));
    const auto same = [&](const Spec& spec) {
      return spec.mechanism == specs.back().mechanism && spec.text() == specs.back().text();
    };
    if (std::count_if(specs.begin(), specs.end(), same) > 1) {
      throw UsageError(
          fmt::format(TANDEM_SETTING("mechanisms") " names {} twice; keep one.", in_quotes(text)));
    }
  }
  for (const auto& [name, value] : parse_parameters(request.parameters)) {
    const bool used = std::ranges::any_of(specs, [&, name = name](const Spec& spec) {
      const auto given = parse_parameters(spec.parameters);
      return std::ranges::any_of(given, [&](const auto& pair) { return pair.first == name; });
    });
    if (!used) {
      throw UsageError(fmt::format(
          TANDEM_SETTING(
              "param") " {} is unknown to every mechanism here; see 'tandem mechanisms'.",
          in_quotes(name)));
    }
  }

  // Everything that can be wrong is found before the first run.
  std::vector<std::vector<Prepared>> prepared(specs.size());
  for (std::size_t m = 0; m < specs.size(); ++m) {
    for (const double epsilon : request.epsilons) {
      const bool first = m == 0 && prepared[0].empty();
      prepared[m].push_back(prepare(settings_of(request, specs[m], epsilon), request.find,
                                    request.threads, first ? request.note : Note{}));
    }
  }
  const Prepared& any = prepared[0][0];
  const SynthSettings first = settings_of(request, specs[0], request.epsilons[0]);
  check_memory(known_table(Door::file(request.private_source), first, any.unit), first, any.schema);
  CsvOptions reading;
  reading.policy = RowPolicy::Repair;
  reading.threads = request.threads;
  const bool pairs = is_pairs(request.private_source);
  const Bench bench{pairs ? Table(any.schema.domain(), 0)
                          : load_table(request.private_source, any.schema, reading).table,
                    pairs ? std::optional(load_pairs(
                                request.private_source, any.schema,
                                {.policy = RowPolicy::Repair, .cancel = request.threads.cancel}))
                          : std::nullopt,
                    load_public(settings_of(request, specs[0], request.epsilons[0]), any.schema,
                                request.threads, request.note),
                    any.schema, any.workload};
  if (request.note) {
    const double largest = *std::ranges::max_element(request.epsilons);
    for (const auto& warning :
         promise_warnings(largest, request.delta, static_cast<double>(bench.rows()))) {
      request.note("Warning: " + warning.text);
    }
  }
  if (bench.rows() == 0) {
    throw UsageError(fmt::format("{} has no rows to compare with.", request.private_source));
  }
  open_folder(request, common_of(request, any.schema_digest));
  ResultsFile file(request.out + "/results.csv", request.resume);
  const Reference reference(bench.table, bench.pairs, bench.workload, request.threads);

  std::vector<Job> jobs;
  std::vector<const Prepared*> parts;
  std::vector<std::optional<ComparisonResult>> results;
  for (std::size_t m = 0; m < specs.size(); ++m) {
    for (std::size_t e = 0; e < request.epsilons.size(); ++e) {
      for (std::int64_t seed = 1; seed <= request.seeds; ++seed) {
        jobs.push_back({m, request.epsilons[e], seed});
        parts.push_back(&prepared[m][e]);
        results.push_back(file.find(key_of(request, specs[m], jobs.back())));
      }
    }
  }
  std::vector<std::size_t> missing;
  for (std::size_t i = 0; i < jobs.size(); ++i) {
    if (!results[i]) missing.push_back(i);
  }

  ComparisonOutcome out;
  std::size_t ended = jobs.size() - missing.size();
  run_forked(
      missing.size(), request.threads.count,
      [&](std::size_t i) {
        return run_job(*parts[missing[i]], bench, reference, jobs[missing[i]].seed);
      },
      [&](std::size_t i, const JobOutcome& outcome) {
        const Job& job = jobs[missing[i]];
        const Spec& spec = specs[job.spec];
        if (outcome.done) {
          const std::string numbers = fmt::format("{},{:.1f}", outcome.text, outcome.peak_mb);
          ComparisonResult result;
          parse_numbers(numbers, result);
          results[missing[i]] = result;
          file.add(key_of(request, spec, job) + "," + numbers);
        } else {
          out.failures.push_back(fmt::format("{} {} at epsilon {:g}, seed {}: {}", spec.mechanism,
                                             spec.text(), job.epsilon, job.seed, outcome.text));
        }
        if (request.progress) request.progress(++ended, jobs.size());
      });
  for (std::size_t i = 0; i < jobs.size(); ++i) {
    if (!results[i]) continue;
    ComparisonResult& result = *results[i];
    result.mechanism = specs[jobs[i].spec].mechanism;
    result.parameters = specs[jobs[i].spec].text();
    result.epsilon = jobs[i].epsilon;
    result.seed = jobs[i].seed;
    out.results.push_back(std::move(result));
  }
  out.rows = bench.rows();
  out.columns = bench.table.domain().size();
  // Of pairs no part is drawn to compare with.
  if (!pairs)
    out.yardsticks = measure_yardsticks(bench.table, bench.public_data, [&](Table rows) {
      const auto* conjunctions = bench.workload.conjunctions();
      const auto errors =
          conjunctions != nullptr
              ? evaluate_conjunctions(*conjunctions, reference.shares(),
                                      conjunction_shares(*conjunctions, rows, request.threads))
              : evaluate_workload(bench.workload, reference,
                                  CountedTable(std::move(rows), request.threads));
      return WorkloadErrors{errors.avg_workload_error, errors.max_error, errors.mean_error};
    });
  write_file(request.out + "/yardsticks.csv", yardsticks_csv(out.yardsticks));
  write_file(request.out + "/figure.svg", figure_of(request, out, report::Look::Either));
  write_file(request.out + "/figure-dark.svg", figure_of(request, out, report::Look::Dark));
  return out;
}

}  // namespace tandem
