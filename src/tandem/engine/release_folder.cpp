// SPDX-License-Identifier: Apache-2.0
#include "tandem/engine/release_folder.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <utility>

#include "tandem/base/error.h"

namespace tandem {

namespace fs = std::filesystem;

namespace {

[[noreturn]] void fail(const fs::path& path, int error) {
  throw SourceError(fmt::format("{} can't be written ({}).", path.string(), std::strerror(error)));
}

class Descriptor {
 public:
  Descriptor(const fs::path& path, int flags)
      : descriptor_(::open(path.c_str(), flags | O_CLOEXEC, 0666)) {
    if (descriptor_ < 0) fail(path, errno);
  }
  ~Descriptor() {
    if (descriptor_ >= 0) ::close(descriptor_);
  }
  Descriptor(Descriptor&& other) noexcept : descriptor_(std::exchange(other.descriptor_, -1)) {}
  Descriptor& operator=(Descriptor&& other) noexcept {
    std::swap(descriptor_, other.descriptor_);
    return *this;
  }
  int get() const { return descriptor_; }

 private:
  int descriptor_;
};

void rename_path(const fs::path& from, const fs::path& to) {
  if (::rename(from.c_str(), to.c_str()) != 0) fail(to, errno);
}

void write_durably(const fs::path& path, std::string_view text) {
  const fs::path temporary = path.string() + ".new";
  {
    const Descriptor file(temporary, O_WRONLY | O_CREAT | O_TRUNC);
    for (std::size_t written = 0; written < text.size();) {
      const ssize_t more = ::write(file.get(), text.data() + written, text.size() - written);
      if (more < 0 && errno == EINTR) continue;
      if (more <= 0) fail(path, errno);
      written += static_cast<std::size_t>(more);
    }
    if (fsync(file.get()) != 0) fail(path, errno);
  }
  rename_path(temporary, path);
  sync_to_disk(path.parent_path().string());
}

fs::path without_slash(const std::string& out) {
  fs::path path(out);
  return path.has_filename() ? path : path.parent_path();
}

fs::path parent_of(const fs::path& path) {
  return path.has_parent_path() ? path.parent_path() : fs::path(".");
}

Descriptor lock(const fs::path& partial) {
  Descriptor file(partial / ".run" / "lock", O_RDWR | O_CREAT);
  if (flock(file.get(), LOCK_EX | LOCK_NB) != 0) {
    throw UsageError(
        fmt::format("{} is being worked on by another process; wait for it.", partial.string()));
  }
  return file;
}

}  // namespace

void sync_to_disk(const std::string& path) {
  const Descriptor file(path.empty() ? "." : path, O_RDONLY);
  if (fsync(file.get()) != 0) fail(path, errno);
}

struct ReleaseFolder::Impl {
  fs::path out;
  fs::path partial;
  Descriptor locked;
  Document record;
};

ReleaseFolder::ReleaseFolder(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
ReleaseFolder::ReleaseFolder(ReleaseFolder&&) noexcept = default;
ReleaseFolder& ReleaseFolder::operator=(ReleaseFolder&&) noexcept = default;
ReleaseFolder::~ReleaseFolder() = default;

bool ReleaseFolder::is_whole(const std::string& out) {
  return fs::exists(without_slash(out) / "release.json");
}

bool ReleaseFolder::is_interrupted(const std::string& out) {
  return fs::exists(without_slash(out).string() + ".partial");
}

ReleaseFolder ReleaseFolder::start(const std::string& out_text, bool force,
                                   const Document& record) {
  const fs::path out = without_slash(out_text);
  const fs::path partial = out.string() + ".partial";
  if (fs::exists(out)) {
    const bool replaceable = fs::is_directory(out) && (is_whole(out_text) || fs::is_empty(out));
    if (!replaceable) {
      throw UsageError(
          fmt::format("{} exists and is no release folder; choose another --out.", out.string()));
    }
    if (!force) {
      throw UsageError(
          fmt::format("{} exists; choose another --out, or --force to replace it.", out.string()));
    }
  }
  std::error_code error;
  if (fs::exists(partial)) {
    if (!force) {
      throw UsageError(
          fmt::format("{} holds an interrupted release; go on with --resume, or discard it with "
                      "--force (what it "
                      "spent stays spent).",
                      partial.string()));
    }
    if (fs::exists(partial / ".run")) lock(partial);  // refuses while another process runs it
    fs::remove_all(partial, error);
    if (error) fail(partial, error.value());
  }
  fs::create_directories(partial / ".run", error);
  if (error) fail(partial, error.value());
  Descriptor locked = lock(partial);
  write_durably(partial / ".run" / "run.json", record.to_json(2) + "\n");
  sync_to_disk(partial.string());
  sync_to_disk(parent_of(partial).string());
  return ReleaseFolder(std::make_unique<Impl>(Impl{out, partial, std::move(locked), record}));
}

ReleaseFolder ReleaseFolder::resume(const std::string& out_text) {
  const fs::path out = without_slash(out_text);
  const fs::path partial = out.string() + ".partial";
  const fs::path record = partial / ".run" / "run.json";
  if (!fs::exists(record)) {
    throw UsageError(fmt::format("{} holds no interrupted release; start one without --resume.",
                                 partial.string()));
  }
  Descriptor locked = lock(partial);
  return ReleaseFolder(std::make_unique<Impl>(
      Impl{out, partial, std::move(locked), Document::read(record.string())}));
}

const Document& ReleaseFolder::record() const { return impl_->record; }

std::string ReleaseFolder::file(std::string_view name) const {
  return (impl_->partial / name).string();
}

std::string ReleaseFolder::transcript() const {
  return (impl_->partial / ".run" / "transcript.jsonl").string();
}

void ReleaseFolder::write(std::string_view name, std::string_view text) const {
  write_durably(impl_->partial / name, text);
}

void ReleaseFolder::discard() {
  std::error_code ignored;
  fs::remove_all(impl_->partial, ignored);
}

void ReleaseFolder::publish() {
  const fs::path& out = impl_->out;
  const fs::path replaced = out.string() + ".replaced";
  std::error_code ignored;
  sync_to_disk(impl_->partial.string());
  if (fs::exists(out)) {  // a former release, which --force gave up
    fs::remove_all(replaced, ignored);
    rename_path(out, replaced);
  }
  rename_path(impl_->partial, out);
  sync_to_disk(parent_of(out).string());
  fs::remove_all(out / ".run", ignored);
  fs::remove_all(replaced, ignored);
}

}  // namespace tandem
