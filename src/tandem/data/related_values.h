// SPDX-License-Identifier: Apache-2.0
#pragma once
// Values for made rows, inside the ranges of their codes, that keep the schema's orders.
//
// The values of columns that orders connect are drawn together: each as its column draws it inside
// its range, given that all orders hold. That alone would draw too few of the values that seldom
// keep them (the youngest, of those who moved in long ago), so parts of a range are weighted until
// the rows together have each column's values as it draws them. Post-processing: sees made rows and
// public things alone.

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "tandem/base/rng.h"
#include "tandem/data/schema.h"

namespace tandem {

class RelatedValues {
 public:
  // For the rows of this table. REQUIRES: the schema outlives it.
  RelatedValues(const Schema& schema, const Table& rows);

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
  struct Part {  // of a range
    TickRange ticks;
    double share = 0.0;   // of the range's values, as its column draws them
    double weight = 1.0;  // times as likely
    double up_to = 0.0;   // sum of share * weight, this part included
  };
  using Parts = std::vector<Part>;        // of one range; none: it is drawn as a whole
  using Bounds = std::vector<TickRange>;  // of each column of the schema
  using Values = std::span<std::optional<std::int64_t>>;
  struct Combination {  // codes of a group's columns in rows of the table
    std::vector<Code> row;
    double rows = 0.0;
  };

  void find_groups();
  void weigh(const Group& group, const Table& rows);
  void divide(const Group& group, std::span<const Combination> combinations);
  void weigh_once(const Group& group, std::span<const Combination> combinations, Rng& rng);

  void draw(const Group& group, std::span<const Code> row, Rng& rng, Values values) const;
  std::int64_t draw(AttributeId id, Code code, Rng& rng) const;
  std::int64_t draw(AttributeId id, Code code, const TickRange& within, Rng& rng) const;
  bool narrow(std::span<const Order* const> orders, Bounds& bounds) const;
  const ValueRanges& ranges(AttributeId id) const { return *schema_.columns()[id].codec->ranges(); }

  const Schema& schema_;
  std::vector<bool> related_;
  std::vector<Group> groups_;
  std::vector<std::vector<Parts>> parts_;  // of each column and code
};

}  // namespace tandem
