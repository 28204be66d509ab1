// SPDX-License-Identifier: Apache-2.0
// Reads any bytes as what a release is made from, goes on from and says of itself: a value or a
// UsageError, never a crash. The first byte says as which: a configuration in JSON or TOML, a step
// of a transcript, the record of an interrupted run, measurements, or a release.json.

#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include "tandem/base/error.h"
#include "tandem/engine/release/measurements.h"
#include "tandem/engine/synth.h"
#include "tandem/privacy/transcript.h"

namespace {

using namespace tandem;

bool keep_none(std::string_view /*setting*/) { return false; }

std::string make_folder() {
  std::string name = access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp";
  name += "/tandem-release-fuzz-XXXXXX";
  if (mkdtemp(name.data()) == nullptr) std::abort();
  std::filesystem::create_directories(name + "/begun.partial/.run");
  std::filesystem::create_directories(name + "/whole");
  return name;
}

void write(const std::string& path, const std::string& text) {
  std::ofstream(path, std::ios::binary | std::ios::trunc) << text;
}

void read_settings(const Document& document) {
  SynthSettings settings;
  apply(document, settings, keep_none);
  const std::string written = to_document(settings).to_json();
  SynthSettings again;
  apply(Document::parse_json(written, "again"), again, keep_none);
  if (to_document(again).to_json() != written) std::abort();
}

void read_step(const std::string& line) {
  const StepRecord record = record_from_line(line, "transcript");
  if (record_from_line(to_line(record), "again") != record) std::abort();
}

void read_figures(const std::string& text) {
  const Domain domain({{"a", 2, {}}, {"b", 3, {}}});
  const auto found = read_measurements(domain, Document::parse_json(text, "measurements.json"));
  const std::string written = measurements_document(domain, found).to_json();
  const auto again = read_measurements(domain, Document::parse_json(written, "again"));
  if (measurements_document(domain, again).to_json() != written) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const std::string folder = make_folder();  // one for the whole process
  if (size == 0) return 0;
  const std::string text(data + 1, data + size);
  try {
    switch (data[0] % 6) {
      case 0:
        read_settings(Document::parse_json(text, "config.json"));
        break;
      case 1:
        read_settings(Document::parse_toml(text, "config.toml"));
        break;
      case 2:
        read_step(text);
        break;
      case 3:
        write(folder + "/begun.partial/.run/run.json", text);
        settings_to_resume(folder + "/begun", {}, keep_none);
        break;
      case 4:
        read_figures(text);
        break;
      default: {
        write(folder + "/whole/release.json", text);
        SynthRun run;
        run.settings.out = folder + "/whole";
        run.resume = true;
        to_text(synthesize(run));
      }
    }
  } catch (const UsageError&) {
  }
  return 0;
}
