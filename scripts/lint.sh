#!/bin/sh
# Format, layers, Clang with warnings as errors, clang-tidy, generated docs.
set -eu
cd "$(dirname "$0")/.."
jobs=$(nproc 2>/dev/null || echo 2)

echo "== format"
git ls-files '*.h' '*.cpp' | xargs clang-format --dry-run -Werror

echo "== layers"
python3 scripts/check_layers.py

echo "== scripts"
for script in run scripts/*.sh; do sh -n "$script"; done
python3 -m py_compile scripts/*.py scripts/papers/*.py scripts/evidence/*.py examples/*/*.py

echo "== Clang, warnings as errors (syntax only)"
cmake --preset clang -B build/lint -DTANDEM_TESTS=ON -DCMAKE_DISABLE_PRECOMPILE_HEADERS=ON \
  >build/lint.configure.log 2>&1 || { cat build/lint.configure.log >&2; exit 1; }
cmake --build build/lint --target generated/build_id.h >>build/lint.configure.log
python3 scripts/each_source.py build/lint/compile_commands.json "$jobs" syntax

echo "== clang-tidy"
python3 scripts/each_source.py build/lint/compile_commands.json "$jobs" tidy

echo "== generated docs"
python3 scripts/make_docs.py --check
echo "lint: clean"
