// SPDX-License-Identifier: Apache-2.0
#include "tandem/model/records_model.h"

#include <cstring>
#include <limits>
#include <numeric>
#include <utility>

#include "tandem/base/check.h"
#include "tandem/data/bit_table.h"
#include "tandem/model/model_reader.h"
#include "tandem/model/model_writer.h"
#include "tandem/query/conjunction_counting.h"

namespace tandem {

RecordsModel::RecordsModel(RecordSet records, double total)
    : records_(std::move(records)), total_(total) {
  check(records_.size() > 0, "a model of records has at least one");
}

namespace {

constexpr const char* kFreeBits = "free_bits";

// Of each record, the first value of each column whose bit holds, or the first of all.
RecordSet first_values(const Domain& domain, const RecordSet& bits) {
  RecordSet out(domain);
  const auto indicators = all_indicators(domain);
  std::vector<Code> record;
  for (std::size_t r = 0; r < bits.size(); ++r) {
    record.assign(domain.size(), 0);
    for (std::size_t i = indicators.size(); i-- > 0;) {
      if (bits.code(r, static_cast<AttributeId>(i)) == 0) continue;
      record[indicators[i].attribute] = indicators[i].code;
    }
    out.add(record);
  }
  return out;
}

}  // namespace

RecordsModel RecordsModel::of_bits(const Domain& domain, RecordSet bits, double total) {
  RecordsModel out(first_values(domain, bits), total);
  out.bits_ = std::move(bits);
  return out;
}

Factor RecordsModel::project(const Clique& clique) const {
  Factor out{clique, std::vector<double>(domain().cells(clique), 0.0)};
  std::vector<std::size_t> counts(out.values.size(), 0);
  for (std::size_t r = 0; r < records_.size(); ++r) {
    std::size_t cell = 0;
    for (const auto id : clique) cell = cell * domain()[id].size + records_.code(r, id);
    ++counts[cell];
  }
  const auto all = static_cast<double>(records_.size());
  for (std::size_t i = 0; i < counts.size(); ++i) {
    out.values[i] = static_cast<double>(counts[i]) / all * total_;
  }
  return out;
}

std::vector<double> RecordsModel::answers(const ConjunctionSet& conjunctions,
                                          const Threads& threads) const {
  check(conjunctions.domain() == domain(), "conjunctions are answered over their own columns");
  const ConjunctionSet asked = bits_ ? over_indicators(conjunctions) : conjunctions;
  const RecordSet& records = bits_ ? *bits_ : records_;
  const auto counts = count_conjunctions(asked, *records.blocks(asked.indicators()), threads);
  std::vector<double> out;
  out.reserve(counts.size());
  const auto all = static_cast<double>(records_.size());
  for (const auto count : counts) out.push_back(static_cast<double>(count) / all * total_);
  return out;
}

std::vector<std::uint32_t> RecordsModel::sample_records(std::size_t rows, Rng& rng) const {
  // Which records come once more, where they don't divide the rows, is chance.
  std::vector<std::uint32_t> order(records_.size());
  std::iota(order.begin(), order.end(), 0U);
  rng.shuffle(std::span(order));
  std::vector<std::uint32_t> out(rows);
  for (std::size_t i = 0; i < rows; ++i) out[i] = order[i % order.size()];
  rng.shuffle(std::span(out));
  return out;
}

Table RecordsModel::sample(std::size_t rows, Rng& rng) const {
  const auto which = sample_records(rows, rng);
  Table out(domain(), rows);
  for (AttributeId id = 0; id < domain().size(); ++id) {
    out.column(id).visit([&](auto codes) {
      using C = typename decltype(codes)::value_type;
      for (std::size_t i = 0; i < rows; ++i) codes[i] = static_cast<C>(records_.code(which[i], id));
    });
  }
  return out;
}

std::unique_ptr<Model> RecordsModel::given(const Restriction& only) const {
  const auto wanted = only.mask(domain()[only.attribute].size);
  std::vector<std::size_t> kept;
  for (std::size_t r = 0; r < records_.size(); ++r) {
    if (wanted[records_.code(r, only.attribute)]) kept.push_back(r);
  }
  if (bits_) {
    return std::make_unique<RecordsModel>(of_bits(domain(), bits_->select(kept), total_));
  }
  return std::make_unique<RecordsModel>(records_.select(kept), total_);
}

bool RecordsModel::write(ModelWriter& out) const {
  out.begin("records", total_);
  out.set("records", static_cast<std::uint64_t>(records_.size()));
  if (bits_) {
    out.add(kFreeBits, Clique{}, bits_->bits());
    return true;
  }
  out.add("bits", Clique{}, records_.bits());
  for (const auto& coded : records_.coded()) {
    coded.second.visit([&](auto codes) { out.add("codes", Clique{coded.first}, codes); });
  }
  return true;
}

namespace {

// The bits of records of a domain, in the first array, which has this name.
std::vector<std::uint8_t> read_bits(const ModelReader& in, const std::string& name,
                                    const Domain& domain, std::size_t size) {
  const std::size_t stride = (domain.size() + 7) / 8;
  if (in.arrays().empty() || in.arrays()[0].what != name || in.arrays()[0].type != "u1" ||
      in.arrays()[0].count != size * stride) {
    in.fail("has no bits for each record");
  }
  std::vector<std::uint8_t> bits(size * stride);
  std::memcpy(bits.data(), in.arrays()[0].bytes, bits.size());
  for (std::size_t r = 0; r < size; ++r) {
    for (std::size_t bit = 0; bit < 8 * stride; ++bit) {
      const bool may_be = bit < domain.size() && domain[static_cast<AttributeId>(bit)].size == 2;
      if (!may_be && (bits[r * stride + bit / 8] >> bit % 8 & 1U) != 0) {
        in.fail("has a bit where no column of two values is");
      }
    }
  }
  return bits;
}

}  // namespace

std::unique_ptr<Model> RecordsModel::read(const ModelReader& in) {
  const Domain& domain = in.domain();
  const auto size = static_cast<std::size_t>(
      in.header().at("records").as_integer(1, std::numeric_limits<std::uint32_t>::max()));
  if (!in.arrays().empty() && in.arrays()[0].what == kFreeBits) {
    if (in.arrays().size() > 1) in.fail("has more than the bits of its records");
    const Domain columns = indicator_domain(domain);
    RecordSet bits(columns, size, read_bits(in, kFreeBits, columns, size), {});
    return std::make_unique<RecordsModel>(of_bits(domain, std::move(bits), in.total()));
  }
  auto bits = read_bits(in, "bits", domain, size);
  std::map<AttributeId, Column> coded;
  std::size_t at = 1;
  for (AttributeId id = 0; id < domain.size(); ++id) {
    if (domain[id].size == 2) continue;
    if (at == in.arrays().size() || in.arrays()[at].clique != Clique{id} ||
        in.arrays()[at].count != size) {
      in.fail("has records that miss a column");
    }
    coded.emplace(id, in.codes(in.arrays()[at++], domain[id].size));
  }
  if (at != in.arrays().size()) in.fail("has more columns than records have");
  return std::make_unique<RecordsModel>(RecordSet(domain, size, std::move(bits), std::move(coded)),
                                        in.total());
}

}  // namespace tandem
