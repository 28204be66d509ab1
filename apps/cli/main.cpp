// SPDX-License-Identifier: Apache-2.0
#include <fmt/core.h>

#include "tandem/base/version.h"

int main() { fmt::print("tandem {}\n", tandem::version()); }
