// SPDX-License-Identifier: Apache-2.0
// `tandem synth` with the scripted mechanism, for tests that kill it: the same engine, folder,
// transcript and ledger, and many steps to be killed between.
//
//   scripted_release SETTINGS.json [--resume] [--force] [--stop-after STEP]
//
// It kills itself after STEP. Exit codes and messages are those of tandem.

#include <signal.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <string>

#include "support/scripted_mechanism.h"
#include "tandem/base/error.h"
#include "tandem/engine/synth.h"

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
  }
  run.progress = [stop](std::size_t step, double /*spent*/) {
    if (step == stop) kill(getpid(), SIGKILL);
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
