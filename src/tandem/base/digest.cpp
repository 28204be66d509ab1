// SPDX-License-Identifier: Apache-2.0
#include "tandem/base/digest.h"

#include <openssl/evp.h>

#include <algorithm>
#include <array>

#include "tandem/base/check.h"
#include "tandem/base/text.h"

namespace tandem {

std::string sha256_hex(std::string_view bytes) {
  std::array<unsigned char, 32> digest{};
  check(EVP_Digest(bytes.data(), bytes.size(), digest.data(), nullptr, EVP_sha256(), nullptr) == 1,
        "OpenSSL can't compute SHA-256");
  return to_hex(digest);
}

bool is_sha256_hex(std::string_view text) { return text.size() == 64 && is_hex(text); }

}  // namespace tandem
