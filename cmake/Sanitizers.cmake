# The options of compilers and linkers for GRIDMOUNT_SANITIZE and GRIDMOUNT_FUZZ.
add_library(gridmount_sanitizers INTERFACE)
# Targets that link this library report their coverage to libFuzzer: all targets that do not link
# GoogleTest.
add_library(gridmount_coverage INTERFACE)
if(GRIDMOUNT_FUZZ)
  target_compile_options(gridmount_coverage INTERFACE -fsanitize=fuzzer-no-link)
endif()
if(GRIDMOUNT_SANITIZE)
  target_compile_options(gridmount_sanitizers INTERFACE
    -fsanitize=${GRIDMOUNT_SANITIZE} -fno-omit-frame-pointer -fno-sanitize-recover=all)
  target_link_options(gridmount_sanitizers INTERFACE -fsanitize=${GRIDMOUNT_SANITIZE})
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    # In the code that the sanitizers add, g++ gives false warnings about initialization.
    target_compile_options(gridmount_sanitizers INTERFACE -Wno-maybe-uninitialized)
  endif()
endif()
