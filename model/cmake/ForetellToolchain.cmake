# Language level, warnings and sanitizers: one interface target that every module links.
set(CMAKE_CXX_STANDARD 17) # Debian's SystemC 2.3.4 links only as C++17
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)

option(FORETELL_TESTS "Build the tests" ON)
option(FORETELL_WERROR "Treat warnings as errors" ON)
option(FORETELL_UNITY "Merge sources that include the same heavy headers" OFF)
option(FORETELL_PCH "Precompile the heavy third-party headers" ON)
option(FORETELL_LIBRARY "Build libforetell and the Python module" ON)
option(FORETELL_TIDY "Run clang-tidy on what is not a test while compiling; findings are errors" OFF)
option(FORETELL_FUZZ "Build the fuzzers of the readers; needs clang and FORETELL_SANITIZE=address,fuzzer-no-link" OFF)
set(FORETELL_SANITIZE "" CACHE STRING "Sanitizers, as in -fsanitize=, for example address,undefined")

if(NOT CMAKE_BUILD_TYPE)
  set(CMAKE_BUILD_TYPE Release CACHE STRING "Build type" FORCE)
endif()

set(CMAKE_CXX_FLAGS_RELEASE "-O2 -DNDEBUG") # -O3 takes longer to build and is no faster here

# Where programs and libforetell find what they load only when it is needed.
set(CMAKE_BUILD_RPATH ${PROJECT_BINARY_DIR})
set(CMAKE_INSTALL_RPATH "$ORIGIN/../lib/foretell;$ORIGIN/foretell")

# ccache where it is installed. The sloppiness is what its manual asks for with precompiled headers.
find_program(FORETELL_CCACHE ccache)
if(FORETELL_CCACHE AND NOT DEFINED CMAKE_CXX_COMPILER_LAUNCHER)
  set(CMAKE_CXX_COMPILER_LAUNCHER
    ${CMAKE_COMMAND} -E env CCACHE_SLOPPINESS=pch_defines,time_macros ${FORETELL_CCACHE})
endif()

add_library(foretell_options INTERFACE)
target_include_directories(foretell_options INTERFACE ${PROJECT_SOURCE_DIR} ${PROJECT_BINARY_DIR}/generated)
target_compile_options(foretell_options INTERFACE
  -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wsign-conversion -Wold-style-cast
  -Wnon-virtual-dtor -Woverloaded-virtual -Wcast-align -Wunused -Wnull-dereference
  -Wdouble-promotion -Wformat=2 -Wimplicit-fallthrough
  # The same objects make the programs and the library.
  $<$<BOOL:${FORETELL_LIBRARY}>:-fPIC> $<$<BOOL:${FORETELL_LIBRARY}>:-fno-semantic-interposition>
  $<$<BOOL:${FORETELL_WERROR}>:-Werror>)
if(FORETELL_SANITIZE)
  # A null pointer crashes with a report of the address sanitizer; the check of it and of alignment at
  # every access would be a third of the time that compiling takes.
  target_compile_options(foretell_options INTERFACE -fsanitize=${FORETELL_SANITIZE} -fno-sanitize=null,alignment
    -fno-omit-frame-pointer -fno-sanitize-recover=all)
  # dlopen is called by the sanitizer's library, which finds ours by the run path of the program
  # only where that is one of the older kind.
  target_link_options(foretell_options INTERFACE -fsanitize=${FORETELL_SANITIZE} -Wl,--disable-new-dtags)
endif()
