# With GRIDMOUNT_PRECOMPILED_HEADERS, as in the presets release, asan-ubsan and tsan, the compiler
# parses the headers that most sources include only once. This saves a third to a half of the time
# of a whole build. Each source must still include the headers that it uses, because clang-tidy and
# the presets debug and clang use no precompiled headers.
set(common_headers
  <algorithm> <array> <atomic> <charconv> <chrono> <cmath> <cstdint> <cstring> <filesystem> <functional>
  <limits> <map> <memory> <mutex> <optional> <set> <span> <string> <string_view> <unordered_map> <utility>
  <vector> <tl/expected.hpp>
  "${PROJECT_SOURCE_DIR}/engine/base/error.h" "${PROJECT_SOURCE_DIR}/engine/bson/builder.h"
  "${PROJECT_SOURCE_DIR}/engine/bson/document.h")

# With precompiled headers, g++ 12 forgets that inlined functions belong to system headers, and
# gives false warnings about them.
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  target_compile_options(gridmount_warnings INTERFACE
    -Wno-array-bounds -Wno-restrict -Wno-stringop-overflow -Wno-stringop-overread)
endif()

# By default, clang records the modification time of each header, and refuses a precompiled header
# that ccache has kept from an earlier checkout.
if(CMAKE_CXX_COMPILER_ID MATCHES "Clang")
  list(APPEND CMAKE_CXX_COMPILE_OPTIONS_CREATE_PCH -Xclang -fno-pch-timestamp)
endif()

# There are two sets of headers, because only tests need GoogleTest's headers, and a third set with
# GRIDMOUNT_OUTER_OPTIONS if there are such options. Each set belongs to a target that has no other
# code. CLI11 is in no set: it costs three seconds in each source that includes it, but for the
# instantiation of its templates and not for the parsing.
function(gridmount_precompiled_headers)
  file(CONFIGURE OUTPUT ${PROJECT_BINARY_DIR}/headers.cc CONTENT "// Has nothing but its headers.\n")
  add_library(gridmount_headers OBJECT ${PROJECT_BINARY_DIR}/headers.cc)
  target_link_libraries(gridmount_headers PRIVATE tl::expected PkgConfig::BSON)
  target_precompile_headers(gridmount_headers PRIVATE ${common_headers})
  if(GRIDMOUNT_OUTER_OPTIONS)
    add_library(gridmount_outer_headers OBJECT ${PROJECT_BINARY_DIR}/headers.cc)
    target_link_libraries(gridmount_outer_headers PRIVATE tl::expected PkgConfig::BSON)
    target_compile_options(gridmount_outer_headers PRIVATE ${GRIDMOUNT_OUTER_OPTIONS})
    target_precompile_headers(gridmount_outer_headers PRIVATE ${common_headers})
  endif()
  if(GRIDMOUNT_TESTS)
    add_library(gridmount_test_headers OBJECT ${PROJECT_BINARY_DIR}/headers.cc)
    target_link_libraries(gridmount_test_headers PRIVATE
      tl::expected PkgConfig::BSON GTest::gtest GTest::gmock)
    target_precompile_headers(gridmount_test_headers PRIVATE
      ${common_headers} <gmock/gmock.h> <gtest/gtest.h>)
  endif()
  gridmount_targets_below(${PROJECT_SOURCE_DIR} targets)
  foreach(target ${targets})
    get_target_property(libraries ${target} LINK_LIBRARIES)
    # libmongoc requires -fPIC for the sources that use it, but the owners of the headers are
    # compiled without -fPIC.
    if(target MATCHES "^gridmount_(outer_|test_)?headers$" OR "mongo::mongoc_static" IN_LIST libraries)
      continue()
    endif()
    if("GTest::gtest" IN_LIST libraries)
      target_precompile_headers(${target} REUSE_FROM gridmount_test_headers)
      continue()
    endif()
    gridmount_is_outer(${target} is_outer)
    if(is_outer)
      target_precompile_headers(${target} REUSE_FROM gridmount_outer_headers)
    else()
      target_precompile_headers(${target} REUSE_FROM gridmount_headers)
    endif()
  endforeach()
endfunction()
