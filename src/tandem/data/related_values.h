// SPDX-License-Identifier: Apache-2.0
#pragma once
// Values for made rows, inside the ranges of their codes, that keep the schema's orders.
//
// The values of columns that orders connect are drawn together: each as its column draws it inside
// its range, given that all orders hold. Post-processing: sees made rows and public things alone.

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "tandem/base/rng.h"
#include "tandem/data/schema.h"

namespace tandem {

class RelatedValues {
 public:
  // REQUIRES: the schema outlives it.
  explicit RelatedValues(const Schema& schema);

  // Whether a column is in an order, or a derived one needs it.
  bool has(AttributeId id) const { return related_[id]; }

  // The row's values of such columns, as ticks; nothing for an extra. Others are left alone.
  // A row whose codes exclude each other gets values that break an order.
  void draw(std::span<const Code> row, Rng& rng,
            std::span<std::optional<std::int64_t>> values) const;

 private:
  struct Group {  // columns that orders connect
    std::vector<AttributeId> columns;
    std::vector<const Order*> orders;
  };
  using Bounds = std::vector<TickRange>;  // of each column of the schema

  void draw(const Group& group, std::span<const Code> row, Rng& rng,
            std::span<std::optional<std::int64_t>> values) const;
  bool narrow(std::span<const Order* const> orders, Bounds& bounds) const;
  const ValueRanges& ranges(AttributeId id) const { return *schema_.columns()[id].codec->ranges(); }

  const Schema& schema_;
  std::vector<bool> related_;
  std::vector<Group> groups_;
};

}  // namespace tandem
