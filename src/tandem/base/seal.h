// SPDX-License-Identifier: Apache-2.0
#pragma once
// A keyed permutation of values of 16 bytes (AES-128): equal values stay equal, and without the key
// nobody can tell which they were.

#include <span>
#include <string>

namespace tandem {

enum class Sealing { Seal, Open };

// Changes each 16 bytes where they are; opening undoes sealing. REQUIRES: 32 hexadecimal digits,
// and a number of bytes that 16 divides. UsageError for a key that is none.
void seal(std::span<unsigned char> bytes, const std::string& key, Sealing how);

}  // namespace tandem
