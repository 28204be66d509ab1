# SPDX-License-Identifier: Apache-2.0
# find_package(tandem): the target tandem::tandem, and what it links.
include(CMakeFindDependencyMacro)
find_dependency(Threads)
find_dependency(ZLIB)
find_dependency(fmt)
find_dependency(OpenSSL 3)
find_dependency(SQLite3)
include(${CMAKE_CURRENT_LIST_DIR}/tandem-targets.cmake)
