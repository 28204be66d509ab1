// SPDX-License-Identifier: Apache-2.0
// A source for the library that carries the precompiled headers of all tests.
