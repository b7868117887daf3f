# The warnings for g++ and clang. They are errors unless GRIDMOUNT_WERROR is off. It should be off
# for packages, because a newer compiler may have new warnings.
add_library(gridmount_warnings INTERFACE)
target_compile_options(gridmount_warnings INTERFACE
  -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wno-sign-conversion)
# In a unity build, g++ treats the sources as headers, and warns about their types that use
# anonymous namespaces.
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
