# Warnings, with g++ and clang alike. They are errors unless GRIDMOUNT_WERROR is off, as it should be for
# packages: a newer compiler warns of more.
add_library(gridmount_warnings INTERFACE)
target_compile_options(gridmount_warnings INTERFACE
  -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wno-sign-conversion)
# g++ takes the sources of a unity build for headers, whose types must not use anonymous namespaces.
if(GRIDMOUNT_UNITY AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  target_compile_options(gridmount_warnings INTERFACE -Wno-subobject-linkage)
endif()
if(GRIDMOUNT_WERROR)
  target_compile_options(gridmount_warnings INTERFACE -Werror)
endif()
if(CMAKE_CXX_COMPILER_ID MATCHES "Clang")
  target_compile_options(gridmount_warnings INTERFACE
    -Wthread-safety -Wreserved-identifier -Wreserved-macro-identifier)
endif()
