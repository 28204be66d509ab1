// SPDX-License-Identifier: Apache-2.0
#include "tandem/engine/release/stored_release.h"

#include <fmt/core.h>

#include <filesystem>
#include <utility>

#include "tandem/base/digest.h"
#include "tandem/base/error.h"
#include "tandem/engine/release/measurements.h"
#include "tandem/engine/release/release_documents.h"
#include "tandem/engine/settings.h"
#include "tandem/model/model_file.h"

namespace tandem {

namespace {

constexpr std::size_t kLargestFile = std::size_t{1} << 40;  // of what tandem wrote itself

// The flags that stated a format when the release was made.
FormatSettings read_text(const Document& text) {
  FormatSettings out;
  std::vector<std::string_view> keys;
  for_each_format_setting(out, [&](std::string_view name, std::string& value, std::string_view) {
    keys.push_back(name);
    if (const auto* stated = text.find(name)) value = stated->as_string();
  });
  text.allow_only(keys);
  return out;
}

}  // namespace

StoredRelease::StoredRelease(std::string folder) : folder_(std::move(folder)) {
  std::error_code ignored;
  if (!std::filesystem::exists(path("release.json"), ignored)) {
    throw UsageError(
        fmt::format("{} is no release folder: it has no release.json; name one that 'tandem synth' "
                    "has made.",
                    folder_));
  }
  const std::string text = read_text_file(path("release.json"));
  document_ = Document::parse_json(text, path("release.json"));
  digest_ = sha256_hex(text);
  const auto format = document_.at("format").as_integer();
  if (format < kOldestReleaseFormat || format > kReleaseFormat) {
    document_.at("format").fail("was written by another version; read it with that one.");
  }
  schema_file_ =
      std::filesystem::exists(path("schema.toml"), ignored) ? "schema.toml" : "schema.json";
  schema_text_ = read(schema_file_, "schema_sha256");
  schema_ = Schema::read(path(schema_file_));
  if (const auto* stated = document_.find("text")) {
    schema_ = schema_.with_format(stated_format(read_text(*stated), schema_.format()));
  }
}

std::string StoredRelease::path(const std::string& file) const {
  return (std::filesystem::path(folder_) / file).string();
}

std::string StoredRelease::read(const std::string& file, const char* key) const {
  std::string text = read_text_file(path(file), kLargestFile);
  const auto* stated = document_.find(key);
  if (stated != nullptr && stated->as_string() != sha256_hex(text)) {
    throw UsageError(
        fmt::format("{} is not the file that release.json speaks of: it was changed or cut short; "
                    "take the whole release from where it was made.",
                    path(file)));
  }
  return text;
}

std::string StoredRelease::measurements_text() const {
  return read(kMeasurementsFile, "measurements_sha256");
}

std::vector<Measurement> StoredRelease::measurements() const {
  return read_measurements(schema_.domain(),
                           Document::parse_json(measurements_text(), path(kMeasurementsFile)));
}

std::unique_ptr<Model> StoredRelease::model(double most_bytes, Threads threads) const {
  if (!has_model()) {
    throw UsageError(
        fmt::format("{} holds no model: an earlier version made it, or its mechanism keeps none; "
                    "fit one to its measurements with " TANDEM_SETTING("max-model-mb") ".",
                    folder_));
  }
  return read_model(read(kModelFile, "model_sha256"), schema_.domain(), path(kModelFile),
                    {most_bytes, threads});
}

}  // namespace tandem
