// SPDX-License-Identifier: Apache-2.0
#include "tandem/model/model_writer.h"

#include <fmt/core.h>

#include <bit>
#include <type_traits>
#include <utility>

#include "tandem/model/model_file.h"

namespace tandem {

static_assert(std::endian::native == std::endian::little, "arrays are written as they lie here");

ModelWriter::ModelWriter(const Domain& domain) : domain_(domain) {}

void ModelWriter::begin(std::string_view kind, double total) {
  Document columns = Document::array();
  for (const auto& attribute : domain_.attributes()) {
    columns.push(
        Document::object({{"name", attribute.name}, {"size", std::int64_t{attribute.size}}}));
  }
  header_ = Document::object({{"format", kModelFormat},
                              {"kind", kind},
                              {"total", total},
                              {"columns", std::move(columns)}});
}

void ModelWriter::set(std::string_view key, Document value) {
  header_.set(std::string(key), std::move(value));
}

Document ModelWriter::names(const Clique& clique) const {
  Document out = Document::array();
  for (const auto id : clique) out.push(domain_[id].name);
  return out;
}

template <class T>
void ModelWriter::add_as(std::string_view what, const Clique& clique, std::span<const T> values) {
  const auto type = fmt::format("{}{}", std::is_floating_point_v<T> ? 'f' : 'u', sizeof(T));
  arrays_.push(Document::object({{"what", what},
                                 {"columns", names(clique)},
                                 {"type", type},
                                 {"count", static_cast<std::uint64_t>(values.size())}}));
  data_.append(reinterpret_cast<const char*>(values.data()), values.size_bytes());
  data_.append(padded(data_.size()) - data_.size(), '\0');
}

void ModelWriter::add(std::string_view what, const Clique& clique, std::span<const double> values) {
  add_as(what, clique, values);
}
void ModelWriter::add(std::string_view what, const Clique& clique,
                      std::span<const std::uint8_t> values) {
  add_as(what, clique, values);
}
void ModelWriter::add(std::string_view what, const Clique& clique,
                      std::span<const std::uint16_t> values) {
  add_as(what, clique, values);
}
void ModelWriter::add(std::string_view what, const Clique& clique,
                      std::span<const std::uint32_t> values) {
  add_as(what, clique, values);
}

std::string ModelWriter::finish() && {
  header_.set("arrays", std::move(arrays_));
  std::string text = header_.to_json();
  text.append(padded(text.size()) - text.size(), ' ');
  const std::uint64_t length = text.size();
  std::string out(kModelMagic);
  out.append(reinterpret_cast<const char*>(&length), sizeof length);
  out.reserve(out.size() + text.size() + data_.size());
  out += text;
  out += data_;
  return out;
}

}  // namespace tandem
