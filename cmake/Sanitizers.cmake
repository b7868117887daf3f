# What GRIDMOUNT_SANITIZE and GRIDMOUNT_FUZZ ask of compilers and linkers.
add_library(gridmount_sanitizers INTERFACE)
# What libFuzzer is to see the coverage of: all but the code of tests.
add_library(gridmount_coverage INTERFACE)
if(GRIDMOUNT_FUZZ)
  target_compile_options(gridmount_coverage INTERFACE -fsanitize=fuzzer-no-link)
endif()
if(GRIDMOUNT_SANITIZE)
  target_compile_options(gridmount_sanitizers INTERFACE
    -fsanitize=${GRIDMOUNT_SANITIZE} -fno-omit-frame-pointer -fno-sanitize-recover=all)
  target_link_options(gridmount_sanitizers INTERFACE -fsanitize=${GRIDMOUNT_SANITIZE})
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    # g++ loses track of initialization in what the sanitizers add.
    target_compile_options(gridmount_sanitizers INTERFACE -Wno-maybe-uninitialized)
  endif()
endif()
