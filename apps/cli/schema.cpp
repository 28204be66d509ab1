// SPDX-License-Identifier: Apache-2.0
// tandem schema: draft a schema from public data, or hold public data against one.

#include <fmt/core.h>

#include <filesystem>
#include <fstream>

#include "commands.h"
#include "progress.h"
#include "tandem/base/error.h"
#include "tandem/base/text.h"
#include "tandem/engine/draft/schema_draft.h"

namespace tandem::cli {

namespace {

class SchemaCommand final : public Command {
 public:
  std::string name() const override { return "schema"; }
  std::string summary() const override {
    return "make or check a schema, from a codebook and PUBLIC data";
  }

  void declare(Args& args) override {
    args.option("--public", request_.public_sources, "public data; may be given more than once");
    args.option("--codebook", request_.codebook,
                "what the columns mean: value lists with labels, bounds (JSON or TOML)");
    args.option("--out", out_, "write the draft here; without it, it is printed");
    args.option("--schema", schema_, "check the public data against this schema instead");
    args.option("--ranges", ranges_, "ranges to cut a number with many values into (default 16)");
    args.flag("--force", force_, "replace the file at --out");
    args.option("--private", private_, "refused: a schema is never made from private data");
    common_.declare(args);
  }

  int run() override {
    if (!private_.empty() && !schema_.empty()) {
      throw UsageError(
          "'tandem check' holds a private file against a schema, with --private and --schema; its "
          "output is INTERNAL.");
    }
    if (!private_.empty()) {
      throw UsageError(
          "A schema is never made from private data: which values occur there is private; give a "
          "codebook and public data of the same kind.");
    }
    if (request_.public_sources.empty()) {
      throw UsageError("--public is missing; name public data of the same kind.");
    }
    if (!schema_.empty() && (!out_.empty() || !request_.codebook.empty())) {
      throw UsageError("--schema checks public data; leave out --out and --codebook.");
    }
    if (schema_.empty() && common_.json) {
      throw UsageError("--json goes with --schema; a draft is written as TOML.");
    }
    request_.threads = common_.thread_count();
    request_.reading = reading_bars(!common_.quiet);
    return schema_.empty() ? draft() : check();
  }

 private:
  int check() {
    for (const auto& source : request_.public_sources) {
      const auto result = check_schema(schema_, source, request_.threads, request_.reading);
      fmt::print("{}", common_.json ? to_document(result).to_json() + "\n"
                                    : source + ": " + to_text(result));
    }
    return 0;
  }

  int draft() {
    if (ranges_ < 1 || ranges_ > 1000) {
      throw UsageError(fmt::format("--ranges is {}; choose 1 to 1000.", ranges_));
    }
    request_.options.ranges = static_cast<Code>(ranges_);
    if (!out_.empty() && !force_ && std::filesystem::exists(out_)) {
      throw UsageError(fmt::format("{} exists; choose another --out, or --force.", out_));
    }
    const auto draft = draft_schema(request_);
    if (out_.empty()) {
      fmt::print("{}", draft.toml);
    } else {
      write(draft.toml);
      common_.note(fmt::format(
          "{}: {} column{}{}{}.", out_, draft.columns, draft.columns == 1 ? "" : "s",
          draft.relations > 0 ? fmt::format(", relations proposed: {}", draft.relations) : "",
          draft.rules > 0 ? fmt::format(", {} rules proposed", draft.rules) : ""));
    }
    for (const auto& doubt : draft.doubts) common_.note("Unclear: " + doubt);
    return 0;
  }

  // Beside it first, then into place: a draft is whole or absent.
  void write(const std::string& toml) const {
    const std::string beside = out_ + ".part";
    std::ofstream file(beside, std::ios::binary);
    file << toml;
    file.close();
    std::error_code failed;
    if (file) std::filesystem::rename(beside, out_, failed);
    if (!file || failed) {
      std::filesystem::remove(beside, failed);
      throw SourceError(fmt::format("{} can't be written; check the folder and the disk.", out_));
    }
  }

  SchemaRequest request_;
  std::string out_;
  std::string schema_;
  std::string private_;
  std::int64_t ranges_ = 16;
  bool force_ = false;
  CommonFlags common_;
};

}  // namespace

std::unique_ptr<Command> schema_command() { return std::make_unique<SchemaCommand>(); }

}  // namespace tandem::cli
