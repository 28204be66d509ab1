// SPDX-License-Identifier: Apache-2.0
#include "tandem/engine/release/run_record.h"

#include <fmt/core.h>

#include <algorithm>
#include <utility>

#include "tandem/base/error.h"
#include "tandem/base/text.h"
#include "tandem/base/version.h"

namespace tandem {

namespace {

constexpr int kRunFormat = 3;

}  // namespace

Document to_document(const RunRecord& record) {
  const auto& files = record.inputs.public_files;
  Document named = Document::object();
  for (const auto& file : record.inputs.parameter_files) named.set(file.option, file.digest);
  const auto& own = record.inputs.private_files;
  return Document::object({{"format", kRunFormat},
                           {"tandem", version()},
                           {"build", build()},
                           {"run", record.id},
                           {"rng", fmt::format("{:016x}", record.rng)},
                           {"schema_sha256", record.inputs.schema},
                           {"workload_sha256", record.inputs.workload},
                           {"public_sha256", Document::array({files.begin(), files.end()})},
                           {"parameter_files", std::move(named)},
                           {"private_files", Document::array({own.begin(), own.end()})},
                           {"settings", to_document(record.settings)}});
}

RunRecord read_record(const Document& document, const SynthSettings& settings,
                      const std::function<bool(std::string_view)>& keep) {
  if (document.at("format").as_integer() != kRunFormat) {
    document.at("format").fail("was written by another version; resume it with that one.");
  }
  if (document.at("tandem").as_string() != version()) {
    document.at("tandem").fail("names another version; resume the run with that one.");
  }
  if (document.at("build").as_string() != build()) {
    document.at("build").fail("names another build of this version; resume the run with that one.");
  }
  RunRecord record{.id = document.at("run").as_string(),
                   .rng = 0,
                   .inputs = {.schema = document.at("schema_sha256").as_string(),
                              .workload = document.at("workload_sha256").as_string(),
                              .public_files = {}},
                   .settings = settings};
  for (const auto& digest : document.at("public_sha256").as_array()) {
    record.inputs.public_files.push_back(digest.as_string());
  }
  for (const auto& [option, digest] : document.at("parameter_files").as_object()) {
    record.inputs.parameter_files.push_back({option, {}, digest.as_string()});
  }
  for (const auto& pin : document.at("private_files").as_array()) {
    record.inputs.private_files.push_back(pin.as_string());
  }
  if (record.id.size() != 32 || !is_hex(record.id)) document.at("run").fail("is no id of a run.");
  const std::string& rng = document.at("rng").as_string();
  if (rng.size() != 16 || !is_hex(rng)) document.at("rng").fail("is no 16 hexadecimal digits.");
  record.rng = std::stoull(rng, nullptr, 16);
  apply(document.at("settings"), record.settings, keep);
  return record;
}

void check_same_run(const RunRecord& recorded, const SynthSettings& settings,
                    const PinnedInputs& inputs) {
  const Document before = to_document(recorded.settings);
  const Document now = to_document(settings);
  // What is public is known by its content: the same file under another path is the same.
  const auto pinned = [&](std::string_view name) {
    if (name == "schema")
      return !settings.schema.empty() && recorded.inputs.schema == inputs.schema;
    if (name == "workload") return recorded.inputs.workload == inputs.workload;
    if (name == "public") return recorded.inputs.public_files == inputs.public_files;
    return false;
  };
  for (const auto& [name, value] : now.as_object()) {
    if (name == "out" || name == "memory-limit" || pinned(name)) continue;
    if (before.at(name).to_json() != value.to_json()) {
      throw UsageError(fmt::format(
          "--{} is not what the interrupted release began with; resume it unchanged, or start anew "
          "with " TANDEM_SETTING("force") ".",
          name));
    }
  }
  const auto unchanged = [](bool same, const std::string& what) {
    if (same) return;
    throw UsageError(
        fmt::format("{} has changed since the release began; restore it, or start anew.", what));
  };
  unchanged(recorded.inputs.private_files == inputs.private_files, "The private file");
  unchanged(recorded.inputs.schema == inputs.schema, "The schema");
  unchanged(recorded.inputs.workload == inputs.workload, "The workload");
  for (std::size_t i = 0; i < inputs.public_files.size(); ++i) {
    unchanged(i < recorded.inputs.public_files.size() &&
                  recorded.inputs.public_files[i] == inputs.public_files[i],
              "The public file " + in_quotes(settings.public_sources[i]));
  }
  for (const auto& file : inputs.parameter_files) {
    const auto is_same = [&](const PinnedFile& pinned_then) {
      return pinned_then.option == file.option && pinned_then.digest == file.digest;
    };
    unchanged(std::ranges::any_of(recorded.inputs.parameter_files, is_same),
              "The public file " + in_quotes(file.path));
  }
}

}  // namespace tandem
