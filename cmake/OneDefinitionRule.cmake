# With GRIDMOUNT_ODR, as in the preset release, the objects also have the compiler's own form of the
# code, beside the machine code of which the programs are linked. The target odr links these forms
# of all programs into one object. The linker then sees the types, and reports types that have two
# different definitions as errors. It does not see a type of which the optimizer has left nothing,
# for example the type of a local variable. The layering check finds those of these types that are
# directly in a named namespace.
#
# With -flinker-output=rel, the linker generates no code, which would take many times as long and
# find nothing more. With -z muldefs, the linker accepts that each program has a main().
set(odr_compile_options -flto -ffat-lto-objects)
set(odr_link_options
  -r -flinker-output=rel -Wl,-z,muldefs -Werror=odr -Werror=lto-type-mismatch)

# Targets that link this library have such objects: all targets that do not link GoogleTest. The
# programs are linked of the machine code, so their links get -fno-lto.
add_library(gridmount_odr INTERFACE)
if(GRIDMOUNT_ODR)
  target_compile_options(gridmount_odr INTERFACE ${odr_compile_options})
  target_link_options(gridmount_linker INTERFACE -fno-lto)
endif()

function(gridmount_check_one_definition_rule)
  set(objects)
  foreach(folder engine gridfs command_line http fuse tools)
    gridmount_targets_below(${PROJECT_SOURCE_DIR}/${folder} targets)
    list(TRANSFORM targets REPLACE "(.+)" "$<TARGET_OBJECTS:\\1>")
    list(APPEND objects ${targets})
  endforeach()
  add_custom_command(
    OUTPUT odr.o
    COMMAND ${CMAKE_CXX_COMPILER} -O0 -flto=auto ${odr_link_options} ${objects} -o odr.o
    DEPENDS ${objects}
    COMMENT "Linking all objects, to find types defined twice"
    COMMAND_EXPAND_LISTS VERBATIM)
  add_custom_target(odr DEPENDS odr.o)
endfunction()
