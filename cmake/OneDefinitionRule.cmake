# With GRIDMOUNT_ODR, as in the preset odr, a build links the objects of all programs into one
# object. The linker then sees all types, and reports types that have two different definitions as
# errors. With -flinker-output=rel, the linker generates no code, which would take many times as
# long and find nothing more. With -z muldefs, the linker accepts that each program has a main().
set(odr_link_options
  -r -flinker-output=rel -Wl,-z,muldefs -Werror=odr -Werror=lto-type-mismatch)

function(gridmount_check_one_definition_rule)
  gridmount_targets_below(${PROJECT_SOURCE_DIR} targets)
  set_target_properties(${targets} PROPERTIES EXCLUDE_FROM_ALL ON)
  list(REMOVE_ITEM targets gridmount_headers)
  list(TRANSFORM targets REPLACE "(.+)" "$<TARGET_OBJECTS:\\1>" OUTPUT_VARIABLE objects)
  add_custom_command(
    OUTPUT odr.o
    COMMAND ${CMAKE_CXX_COMPILER} -O0 -flto=auto ${odr_link_options} ${objects} -o odr.o
    DEPENDS ${objects}
    COMMENT "Linking all objects, to find types defined twice"
    COMMAND_EXPAND_LISTS VERBATIM)
  add_custom_target(odr ALL DEPENDS odr.o)
endfunction()
