// SPDX-License-Identifier: Apache-2.0
#include "tandem/engine/release/release_folder.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <optional>
#include <utility>
#include <vector>

#include "tandem/base/error.h"

namespace tandem {

namespace fs = std::filesystem;

namespace {

[[noreturn]] void fail(const fs::path& path, int error) {
  throw SourceError(fmt::format("{} can't be written ({}).", path.string(), std::strerror(error)));
}

class Descriptor {
 public:
  explicit Descriptor(int opened) : descriptor_(opened) {}
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
  if (out.empty()) throw UsageError(TANDEM_SETTING("out") " is empty; name the release folder.");
  fs::path path(out);
  return path.has_filename() ? path : path.parent_path();
}

fs::path parent_of(const fs::path& path) {
  return path.has_parent_path() ? path.parent_path() : fs::path(".");
}

// Whether something of this name is there, be it a link to nowhere.
bool is_there(const fs::path& path) {
  std::error_code error;
  const auto status = fs::symlink_status(path, error);
  if (status.type() == fs::file_type::not_found) return false;
  if (error) {
    throw SourceError(fmt::format("{} can't be reached ({}).", path.string(), error.message()));
  }
  return true;
}

// The names of what lies in a folder; none for anything else.
std::vector<fs::path> entries_of(const fs::path& folder) {
  std::error_code error;
  std::vector<fs::path> entries;
  for (fs::directory_iterator at(folder, error), end; !error && at != end; at.increment(error)) {
    entries.push_back(at->path());
  }
  return entries;
}

bool is_empty_folder(const fs::path& path) {
  std::error_code error;
  return fs::is_directory(path, error) && fs::is_empty(path, error) && !error;
}

// A place for a run: OUT and the folder beside it where the run is made.
struct Place {
  explicit Place(const std::string& text)
      : out(without_slash(text)),
        partial(out.string() + ".partial"),
        run(partial / ".run"),
        record(run / "run.json"),
        lock(run / "lock"),
        force(run / "force") {}
  fs::path out;
  fs::path partial;
  fs::path run;
  fs::path record;
  fs::path lock;
  fs::path force;  // there when OUT may be replaced
};

bool is_release(const fs::path& out) { return is_there(out / "release.json"); }

bool is_replaceable(const fs::path& out) { return is_release(out) || is_empty_folder(out); }

void check_free(const Place& place, bool force) {
  if (!is_there(place.out)) return;
  if (!is_replaceable(place.out)) {
    throw UsageError(
        fmt::format("{} exists and is no release folder; choose another " TANDEM_SETTING("out") ".",
                    place.out.string()));
  }
  if (!force) {
    throw UsageError(fmt::format("{} exists; choose another " TANDEM_SETTING(
                                     "out") ", or " TANDEM_SETTING("force") " to replace it.",
                                 place.out.string()));
  }
}

// Beside OUT only a run may stand.
void check_partial(const Place& place) {
  if (!is_there(place.partial) || is_there(place.run) || is_empty_folder(place.partial)) return;
  throw UsageError(fmt::format(
      "{} exists and is no interrupted release; choose another " TANDEM_SETTING("out") ".",
      place.partial.string()));
}

// A refit has drawn nothing private: what is left of an interrupted one is not worth keeping.
bool is_refit(const Document& record) { return record.find("refit_of") != nullptr; }

// A run without its record never began, so nothing of it is worth keeping.
void check_interrupted(const Place& place, bool force) {
  if (force || !is_there(place.record) || is_refit(Document::read(place.record.string()))) return;
  throw UsageError(
      fmt::format("{} holds an interrupted release; go on with " TANDEM_SETTING(
                      "resume") ", or discard it with " TANDEM_SETTING("force") " (what it spent "
                                                                                "stays spent).",
                  place.partial.string()));
}

// Nothing when the lock's file was removed between opening and locking it.
std::optional<Descriptor> try_lock(const Place& place) {
  const int opened = ::open(place.lock.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666);
  if (opened < 0 && errno == ENOENT) return std::nullopt;
  if (opened < 0) fail(place.lock, errno);
  Descriptor file(opened);
  if (flock(file.get(), LOCK_EX | LOCK_NB) != 0) {
    throw UsageError(fmt::format("{} is being worked on by another process; wait for it.",
                                 place.partial.string()));
  }
  struct stat held {};
  struct stat named {};
  if (fstat(file.get(), &held) != 0) fail(place.lock, errno);
  if (stat(place.lock.c_str(), &named) != 0 || held.st_ino != named.st_ino ||
      held.st_dev != named.st_dev) {
    return std::nullopt;
  }
  return file;
}

// Removes the folder of a run that has nothing in it but its lock; the caller holds that.
void give_up(const Place& place) {
  std::error_code ignored;  // another run may begin here at once
  fs::remove(place.lock, ignored);
  fs::remove(place.run, ignored);
  fs::remove(place.partial, ignored);
}

// Removes what a run has written, except for its lock; the caller holds that.
void clear(const Place& place) {
  std::error_code error;
  fs::remove(place.record, error);  // first: without it there is no run
  for (const auto& folder : {place.run, place.partial}) {
    for (const auto& entry : entries_of(folder)) {
      if (entry == place.lock || entry == place.run) continue;
      fs::remove_all(entry, error);
      if (error) fail(entry, error.value());
    }
  }
}

}  // namespace

void sync_to_disk(const std::string& path) {
  const Descriptor file(path.empty() ? "." : path, O_RDONLY);
  if (fsync(file.get()) != 0) fail(path, errno);
}

struct ReleaseFolder::Impl {
  Place place;
  Descriptor locked;
  Document record;
};

ReleaseFolder::ReleaseFolder(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
ReleaseFolder::ReleaseFolder(ReleaseFolder&&) noexcept = default;
ReleaseFolder& ReleaseFolder::operator=(ReleaseFolder&&) noexcept = default;
ReleaseFolder::~ReleaseFolder() = default;

bool ReleaseFolder::is_whole(const std::string& out) { return is_release(Place(out).out); }

bool ReleaseFolder::is_interrupted(const std::string& out) { return is_there(Place(out).record); }

Document ReleaseFolder::read_release(const std::string& out) {
  const Place place(out);
  std::error_code ignored;
  fs::remove_all(place.out / ".run", ignored);
  return Document::read((place.out / "release.json").string());
}

ReleaseFolder ReleaseFolder::start(const std::string& out, bool force, const Document& record) {
  const Place place(out);
  std::optional<Descriptor> locked;
  for (int attempt = 0; !locked; ++attempt) {  // again when another run just ended here
    if (attempt == 100) fail(place.partial, EBUSY);
    check_free(place, force);
    check_partial(place);
    std::error_code error;
    fs::create_directories(place.run, error);
    if (error) fail(place.partial, error.value());
    fs::permissions(place.run, fs::perms::owner_all, error);  // it knows the private file
    locked = try_lock(place);
  }
  // Another run may have published while this one was on its way to the lock.
  try {
    check_free(place, force);
  } catch (const UsageError&) {
    if (!is_there(place.record)) give_up(place);
    throw;
  }
  check_interrupted(place, force);
  clear(place);
  if (force) write_durably(place.force, "");
  write_durably(place.record, record.to_json(2) + "\n");
  sync_to_disk(place.partial.string());
  sync_to_disk(parent_of(place.partial).string());
  return ReleaseFolder(std::make_unique<Impl>(Impl{place, *std::move(locked), record}));
}

void ReleaseFolder::require_startable(const std::string& out, bool force) {
  const Place place(out);
  check_free(place, force);
  check_partial(place);
  check_interrupted(place, force);
}

ReleaseFolder ReleaseFolder::resume(const std::string& out) {
  const Place place(out);
  std::optional<Descriptor> locked;
  if (is_there(place.record)) locked = try_lock(place);
  if (!locked || !is_there(place.record)) {
    throw UsageError(fmt::format(
        "{} holds no interrupted release; start one without " TANDEM_SETTING("resume") ".",
        place.partial.string()));
  }
  auto record = Document::read(place.record.string());
  if (is_refit(record)) {
    throw UsageError(fmt::format("{} holds an interrupted refit; call 'tandem refit' once more.",
                                 place.partial.string()));
  }
  return ReleaseFolder(std::make_unique<Impl>(Impl{place, *std::move(locked), std::move(record)}));
}

const Document& ReleaseFolder::record() const { return impl_->record; }

std::string ReleaseFolder::file(std::string_view name) const {
  return (impl_->place.partial / name).string();
}

std::string ReleaseFolder::transcript() const {
  return (impl_->place.run / "transcript.jsonl").string();
}

void ReleaseFolder::write(std::string_view name, std::string_view text) const {
  write_durably(impl_->place.partial / name, text);
}

void ReleaseFolder::discard() {
  clear(impl_->place);
  give_up(impl_->place);
}

void ReleaseFolder::publish() {
  const Place& place = impl_->place;
  sync_to_disk(place.partial.string());
  if (is_there(place.out)) {
    if (!is_there(place.force) || !is_replaceable(place.out)) {
      throw UsageError(fmt::format(
          "{} has appeared since the release began; move it away and use " TANDEM_SETTING(
              "resume") ".",
          place.out.string()));
    }
    // The former release goes into the folder that takes its place, and away with `.run`.
    std::error_code ignored;
    fs::remove_all(place.run / "former", ignored);
    rename_path(place.out, place.run / "former");
  }
  rename_path(place.partial, place.out);
  sync_to_disk(parent_of(place.out).string());
  std::error_code ignored;
  fs::remove_all(place.out / ".run", ignored);
}

}  // namespace tandem
