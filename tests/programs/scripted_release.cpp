// SPDX-License-Identifier: Apache-2.0
// `tandem synth` with the scripted mechanism, for tests that kill it: the same engine, folder,
// transcript and ledger, and many steps to be killed between.
//
//   scripted_release SETTINGS.json [--resume] [--force] [--stop-after STEP] [--stop-at-call N]
//
// It kills itself after STEP, or before its N-th call that changes what a crash would leave: a
// file forced to disk, renamed, cut or removed, by tandem or by SQLite. Exit codes and messages
// are those of tandem.

#include <dlfcn.h>
#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <string>

#include "support/scripted_mechanism.h"
#include "tandem/base/error.h"
#include "tandem/engine/synth.h"

namespace {

long calls_left = 0;  // 0: no end is planned

// The library's own function, after the planned end has been looked out for.
template <class Function>
Function* before_calling(const char* name) {
  if (calls_left > 0 && --calls_left == 0) kill(getpid(), SIGKILL);
  return reinterpret_cast<Function*>(dlsym(RTLD_NEXT, name));
}

}  // namespace

extern "C" {
int fsync(int file) { return before_calling<int(int)>("fsync")(file); }
int fdatasync(int file) { return before_calling<int(int)>("fdatasync")(file); }
int rename(const char* from, const char* to) noexcept {
  return before_calling<int(const char*, const char*)>("rename")(from, to);
}
int unlink(const char* path) noexcept { return before_calling<int(const char*)>("unlink")(path); }
int unlinkat(int folder, const char* path, int flags) noexcept {
  return before_calling<int(int, const char*, int)>("unlinkat")(folder, path, flags);
}
int ftruncate(int file, off_t size) noexcept {
  return before_calling<int(int, off_t)>("ftruncate")(file, size);
}
}

namespace {

int run(int argc, char** argv) {
  tandem::SynthRun run;
  run.find = [](const std::string& /*name*/) { return tandem::test::scripted_mechanism(); };
  apply(tandem::Document::read(argv[1]), run.settings, [](std::string_view) { return false; });
  std::size_t stop = 0;
  for (int i = 2; i < argc; ++i) {
    const std::string flag = argv[i];
    if (flag == "--resume") run.resume = true;
    if (flag == "--force") run.force = true;
    if (flag == "--stop-after") stop = std::strtoull(argv[++i], nullptr, 10);
    if (flag == "--stop-at-call") calls_left = std::strtol(argv[++i], nullptr, 10);
  }
  run.progress = [stop](const tandem::RunProgress& progress) {
    const bool measuring = progress.stage == tandem::RunProgress::Stage::Measuring;
    if (measuring && progress.step == stop) kill(getpid(), SIGKILL);
  };
  synthesize(run);
  return 0;
}

int complain(const std::exception& error, int code) {
  std::fprintf(stderr, "tandem: %s\n", error.what());
  return code;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return run(argc, argv);
  } catch (const tandem::UsageError& error) {
    return complain(error, 2);
  } catch (const tandem::BudgetError& error) {
    return complain(error, 3);
  } catch (const std::exception& error) {
    return complain(error, 1);
  }
}
