// SPDX-License-Identifier: Apache-2.0
#pragma once
// The mechanisms that can run, for people and programs.

#include <string>

#include "tandem/base/document.h"

namespace tandem {

Document catalogue_document();  // docs/formats.md, "mechanisms"
std::string catalogue_text();

}  // namespace tandem
