# Tests are seventy programs. LLVM's linker takes a quarter of the time of GNU's for each of them. A build
# without tests, as packages have it, keeps the linker of its compiler.
add_library(gridmount_linker INTERFACE)
if(GRIDMOUNT_TESTS)
  find_program(LLD ld.lld)
  if(LLD)
    target_link_options(gridmount_linker INTERFACE -fuse-ld=lld)
  endif()
endif()
