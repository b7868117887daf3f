# The tests are about seventy programs, and for each of them LLVM's linker needs a quarter of the
# time of GNU's linker. A build without tests, such as that of a package, keeps the default linker
# of the compiler.
add_library(gridmount_linker INTERFACE)
if(GRIDMOUNT_TESTS)
  find_program(LLD ld.lld)
  if(LLD)
    target_link_options(gridmount_linker INTERFACE -fuse-ld=lld)
  endif()
endif()
