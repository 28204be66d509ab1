// SPDX-License-Identifier: Apache-2.0
// Reads any bytes as a transcript: records or a UsageError, never a crash. What is read is written
// again the same, and a file that was taken goes on with a new step.

#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <string>

#include "input.h"
#include "tandem/base/error.h"
#include "tandem/privacy/transcript.h"

namespace {

std::string make_path() {
  std::string name = access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp";
  name += "/tandem-transcript-fuzz-XXXXXX";
  const int fd = mkstemp(name.data());
  if (fd < 0) std::abort();
  close(fd);
  return name;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace tandem;
  using fuzz::promise;
  const std::string text(fuzz::as_text(data, size));
  try {
    const StepRecord record = record_from_line(text, "line");
    promise(record_from_line(to_line(record), "line") == record,
            "a record is written as it was read");
  } catch (const UsageError&) {
  }

  static const std::string path = make_path();
  std::ofstream(path, std::ios::binary | std::ios::trunc) << text;
  try {
    std::size_t steps = 0;
    const StepRecord added{"new", {{1, -2}, {}}};
    {
      const auto transcript = file_transcript(path, nullptr, "run");
      while (transcript->recall(steps)) ++steps;
      transcript->commit(steps, added);
    }
    const auto again = file_transcript(path, nullptr, "run");
    promise(again->recall(steps) == added, "a new step is kept");
    promise(!again->recall(steps + 1), "nothing follows the last step");
  } catch (const UsageError&) {
    std::ifstream in(path, std::ios::binary);
    const std::string kept{std::istreambuf_iterator<char>(in), {}};
    promise(kept == text, "a damaged file is left as it was");
  }
  return 0;
}
