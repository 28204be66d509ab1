// SPDX-License-Identifier: Apache-2.0
#pragma once
// What queries are called in answers.csv, so that a reader can join them with other tables.

#include <functional>
#include <string>

#include "tandem/data/domain.h"
#include "tandem/query/workload.h"

namespace tandem {

// Calls take(name) for each query of a product, in the order of its answers: the last factor's row
// moving fastest. "ages by area: age=30..39 & area=north", columns in the schema's order; a column
// of which all values are asked together is left out, and "all" is left when there is no other. A
// group, column or value that holds a sign of this grammar stands in double quotes.
void for_each_query_name(const Domain& domain, const NamedProduct& product,
                         const std::function<void(std::string name)>& take);

}  // namespace tandem
