// SPDX-License-Identifier: Apache-2.0
#pragma once
// A release folder as it is read again: everything in it is free to use.

#include <memory>
#include <string>
#include <vector>

#include "tandem/base/document.h"
#include "tandem/base/parallel.h"
#include "tandem/data/schema.h"
#include "tandem/model/model.h"
#include "tandem/query/measurement.h"

namespace tandem {

class StoredRelease {
 public:
  // Reads release.json and the schema. UsageError when it is no release folder, of another version,
  // or a file is not the one that release.json speaks of.
  explicit StoredRelease(std::string folder);

  const Document& document() const { return document_; }  // release.json
  const std::string& digest() const { return digest_; }   // SHA-256 of it
  const Schema& schema() const { return schema_; }        // with the format of the rows
  const std::string& schema_file() const { return schema_file_; }
  const std::string& schema_text() const { return schema_text_; }

  std::string measurements_text() const;
  std::vector<Measurement> measurements() const;

  // Whether it came with its model: not when an earlier version made it.
  bool has_model() const { return document_.find("model_sha256") != nullptr; }
  std::unique_ptr<Model> model(double most_bytes, Threads threads) const;

 private:
  // A file of the folder; UsageError when its digest is not the one under `key`.
  std::string read(const std::string& file, const char* key) const;
  std::string path(const std::string& file) const;

  std::string folder_;
  Document document_;
  std::string digest_;
  std::string schema_file_;
  std::string schema_text_;
  Schema schema_;
};

}  // namespace tandem
