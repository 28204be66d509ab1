// SPDX-License-Identifier: Apache-2.0
#pragma once
// A release while it is made: OUT.partial beside OUT, renamed to OUT when it is whole.
//
// Inside, the folder `.run` holds what an interrupted run needs to go on: its settings, the
// transcript of what the gate gave out, and a lock that one process holds. It is removed last.
// Only folders that tandem made are ever emptied or replaced.

#include <memory>
#include <string>
#include <string_view>

#include "tandem/base/document.h"

namespace tandem {

class ReleaseFolder {
 public:
  // A new one. UsageError when OUT exists (unless `force`, which replaces a former release and
  // nothing else) or when an interrupted run stands there (unless `force`, which discards it; an
  // interrupted refit, whose record has `refit_of`, is discarded anyway).
  // `record` is written down, on disk, before this returns.
  static ReleaseFolder start(const std::string& out, bool force, const Document& record);

  // What start() would refuse by what stands there; nothing is touched.
  static void require_startable(const std::string& out, bool force);

  // An interrupted one. UsageError when there is none, it is a refit, or another process works on
  // it.
  static ReleaseFolder resume(const std::string& out);

  // Whether OUT is a whole release, and whether a run was begun beside it and not finished.
  static bool is_whole(const std::string& out);
  static bool is_interrupted(const std::string& out);
  // The release.json of a whole release. Tidies up after a run that was killed at its very end.
  static Document read_release(const std::string& out);

  ReleaseFolder(ReleaseFolder&&) noexcept;
  ReleaseFolder& operator=(ReleaseFolder&&) noexcept;
  ~ReleaseFolder();  // gives up the lock; the folder stays for --resume

  const Document& record() const;
  std::string file(std::string_view name) const;  // a path in the folder
  std::string transcript() const;

  void write(std::string_view name, std::string_view text) const;  // on disk when it returns
  // OUT is now whole, and only now. UsageError when something stands there that start() was not
  // told to replace; the run can still be resumed.
  void publish();
  void discard();  // for a run that ends before anything is drawn

 private:
  struct Impl;
  explicit ReleaseFolder(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

// Forces a file or folder to disk. SourceError when that fails.
void sync_to_disk(const std::string& path);

}  // namespace tandem
