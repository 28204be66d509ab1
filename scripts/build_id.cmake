# Writes a header with a digest of all sources of the library: what a run was made by, so that only
# the same build resumes it. Usage: cmake -DSOURCES=DIR -DCOMPILER=TEXT -DOUT=FILE -P build_id.cmake
file(GLOB_RECURSE sources RELATIVE ${SOURCES} ${SOURCES}/*.h ${SOURCES}/*.cpp ${SOURCES}/*.def ${SOURCES}/*.inc)
list(SORT sources)
set(text "${COMPILER}")
foreach(source ${sources})
  file(SHA256 ${SOURCES}/${source} digest)
  string(APPEND text "\n${source} ${digest}")
endforeach()
string(SHA256 digest "${text}")
string(SUBSTRING ${digest} 0 16 build)
file(WRITE ${OUT}.new "#define TANDEM_BUILD \"${build}\"\n")
file(COPY_FILE ${OUT}.new ${OUT} ONLY_IF_DIFFERENT)
