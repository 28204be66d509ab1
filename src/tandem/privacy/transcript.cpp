// SPDX-License-Identifier: Apache-2.0
#include "tandem/privacy/transcript.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <utility>

#include "tandem/base/check.h"
#include "tandem/base/digest.h"
#include "tandem/base/document.h"
#include "tandem/base/error.h"
#include "tandem/privacy/ledger.h"

namespace tandem {

namespace {

class MemoryTranscript final : public Transcript {
 public:
  explicit MemoryTranscript(std::vector<StepRecord> recorded) : records_(std::move(recorded)) {}

  std::optional<StepRecord> recall(std::size_t step) override {
    return step < records_.size() ? std::optional(records_[step]) : std::nullopt;
  }

  void commit(std::size_t step, const StepRecord& record) override {
    check(step == records_.size(), "steps are recorded one after the other");
    records_.push_back(record);
  }

 private:
  std::vector<StepRecord> records_;
};

class FileTranscript final : public Transcript {
 public:
  FileTranscript(const std::string& path, std::shared_ptr<Ledger> ledger, std::string run)
      : path_(path), ledger_(std::move(ledger)), run_(std::move(run)) {
    const bool is_new = !std::filesystem::exists(path);
    lines_ = transcript_lines(path);
    std::size_t bytes = 0;
    for (std::size_t i = 0; i < lines_.size(); ++i) {
      records_.push_back(record_from_line(lines_[i], fmt::format("{}, line {}", path, i + 1)));
      bytes += lines_[i].size() + 1;
    }
    file_ = ::open(path.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
    if (file_ < 0 || ftruncate(file_, static_cast<off_t>(bytes)) != 0 ||
        lseek(file_, 0, SEEK_END) < 0) {
      fail();
    }
    if (is_new) sync_folder();  // a file that a power cut takes away would be drawn again
  }
  ~FileTranscript() override {
    if (file_ >= 0) ::close(file_);
  }
  FileTranscript(const FileTranscript&) = delete;
  FileTranscript& operator=(const FileTranscript&) = delete;

  std::optional<StepRecord> recall(std::size_t step) override {
    if (step >= records_.size()) return std::nullopt;
    register_step(step);  // a crash may have come between the file and the ledger
    return records_[step];
  }

  void commit(std::size_t step, const StepRecord& record) override {
    check(step == records_.size(), "steps are recorded one after the other");
    lines_.push_back(to_line(record));
    const std::string line = lines_.back() + '\n';
    for (std::size_t written = 0; written < line.size();) {
      const ssize_t more = ::write(file_, line.data() + written, line.size() - written);
      if (more < 0 && errno == EINTR) continue;
      if (more <= 0) fail();
      written += static_cast<std::size_t>(more);
    }
    if (fsync(file_) != 0) fail();
    register_step(step);
    records_.push_back(record);
  }

 private:
  // Privacy: the ledger admits one digest a step. When another copy of this run got there first,
  // this draw is thrown away unused and unseen.
  void register_step(std::size_t step) {
    if (!ledger_) return;
    try {
      ledger_->record_step(run_, static_cast<std::int64_t>(step), sha256_hex(lines_[step]));
    } catch (const BudgetError&) {
      if (step == records_.size()) erase_last();
      throw;
    }
  }

  void erase_last() {
    std::size_t kept = 0;
    for (std::size_t i = 0; i + 1 < lines_.size(); ++i) kept += lines_[i].size() + 1;
    if (ftruncate(file_, static_cast<off_t>(kept)) != 0) fail();
    lines_.pop_back();
  }

  void sync_folder() const {
    const std::string folder = std::filesystem::path(path_).parent_path().string();
    const int descriptor = ::open(folder.empty() ? "." : folder.c_str(), O_RDONLY | O_CLOEXEC);
    const bool synced = descriptor >= 0 && fsync(descriptor) == 0;
    if (descriptor >= 0) ::close(descriptor);
    if (!synced) fail();
  }

  [[noreturn]] void fail() const {
    throw SourceError(
        fmt::format("{} can't be written ({}); make room and use " TANDEM_SETTING("resume") ".",
                    path_, std::strerror(errno)));
  }

  std::string path_;
  std::shared_ptr<Ledger> ledger_;  // shared with the run that settles it
  std::string run_;
  std::vector<std::string> lines_;
  std::vector<StepRecord> records_;
  int file_ = -1;
};

}  // namespace

std::unique_ptr<Transcript> memory_transcript(std::vector<StepRecord> recorded) {
  return std::make_unique<MemoryTranscript>(std::move(recorded));
}

std::unique_ptr<Transcript> file_transcript(const std::string& path, std::shared_ptr<Ledger> ledger,
                                            const std::string& run) {
  return std::make_unique<FileTranscript>(path, std::move(ledger), run);
}

std::vector<std::string> transcript_lines(const std::string& path) {
  constexpr std::size_t kLargest = std::size_t{1} << 34;
  std::string text = std::filesystem::exists(path) ? read_text_file(path, kLargest) : "";
  text.resize(text.rfind('\n') + 1);  // npos + 1 is 0: a first line cut short
  std::vector<std::string> lines;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = text.find('\n', at);
    lines.push_back(text.substr(at, end - at));
    at = end + 1;
  }
  return lines;
}

std::string to_line(const StepRecord& record) {
  Document results = Document::array();
  for (const auto& values : record.results) {
    Document::Array items(values.begin(), values.end());
    results.push(Document::array(std::move(items)));
  }
  Document out = Document::object({{"request", record.request},
                                   {"cost", record.cost},
                                   {"rho", record.rho},
                                   {"results", std::move(results)}});
  if (!record.stream.empty()) out.set("stream", record.stream);
  return out.to_json();
}

StepRecord record_from_line(const std::string& line, const std::string& where) {
  static constexpr std::array<std::string_view, 5> kKeys = {"request", "cost", "rho", "results",
                                                            "stream"};
  const Document document = Document::parse_json(line, where);
  if (!document.is_object()) document.fail("is not a step of a transcript.");
  document.allow_only(kKeys);
  StepRecord record;
  record.request = document.at("request").as_string();
  record.cost = document.at("cost").as_string();
  record.rho = document.at("rho").as_string();
  if (const auto* stream = document.find("stream")) record.stream = stream->as_string();
  for (const auto& values : document.at("results").as_array()) {
    auto& out = record.results.emplace_back();
    for (const auto& value : values.as_array()) out.push_back(value.as_integer());
  }
  return record;
}

}  // namespace tandem
