# What most sources include is parsed once, not once for each of them: a third to a half of the time of
# a whole build. With GRIDMOUNT_PRECOMPILED_HEADERS, as in the presets release, asan-ubsan and tsan.
# Sources still name what they use: clang-tidy and the presets debug and clang read them without this.
set(common_headers
  <algorithm> <array> <atomic> <charconv> <chrono> <cmath> <cstdint> <cstring> <filesystem> <functional>
  <limits> <map> <memory> <mutex> <optional> <set> <span> <string> <string_view> <unordered_map> <utility>
  <vector> <tl/expected.hpp>
  "${PROJECT_SOURCE_DIR}/engine/base/error.h" "${PROJECT_SOURCE_DIR}/engine/bson/builder.h"
  "${PROJECT_SOURCE_DIR}/engine/bson/document.h")

# g++ 12 forgets that inlined functions are the library's own, and warns of what it cannot follow there.
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  target_compile_options(gridmount_warnings INTERFACE
    -Wno-array-bounds -Wno-restrict -Wno-stringop-overflow -Wno-stringop-overread)
endif()

# clang notes when each header was changed, and refuses what ccache has kept of an earlier checkout.
if(CMAKE_CXX_COMPILER_ID MATCHES "Clang")
  list(APPEND CMAKE_CXX_COMPILE_OPTIONS_CREATE_PCH -Xclang -fno-pch-timestamp)
endif()

# Two sets, as GoogleTest's are for tests alone. Their owners have nothing else. CLI11 is in none: what
# it costs, three seconds, is not its parsing but the code that is made of it in each source that has it.
function(gridmount_precompiled_headers)
  file(CONFIGURE OUTPUT ${PROJECT_BINARY_DIR}/headers.cc CONTENT "// Has nothing but its headers.\n")
  add_library(gridmount_headers OBJECT ${PROJECT_BINARY_DIR}/headers.cc)
  target_link_libraries(gridmount_headers PRIVATE tl::expected PkgConfig::BSON)
  target_precompile_headers(gridmount_headers PRIVATE ${common_headers})
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
    # libmongoc's own settings ask for -fPIC, which the owners are not compiled with.
    if(target MATCHES "^gridmount_(test_)?headers$" OR "mongo::mongoc_static" IN_LIST libraries)
      continue()
    endif()
    if("GTest::gtest" IN_LIST libraries)
      target_precompile_headers(${target} REUSE_FROM gridmount_test_headers)
    else()
      target_precompile_headers(${target} REUSE_FROM gridmount_headers)
    endif()
  endforeach()
endfunction()
