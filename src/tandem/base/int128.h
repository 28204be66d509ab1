// SPDX-License-Identifier: Apache-2.0
#pragma once
// 128-bit integers, an extension both GCC and Clang have.

namespace tandem {

__extension__ using Int128 = __int128;
__extension__ using UInt128 = unsigned __int128;

}  // namespace tandem
