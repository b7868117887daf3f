# What every target of this tree is compiled and linked with, and nothing beyond the tree: warnings,
# sanitizers, the linker, and includes by their path from the root.
include(cmake/Warnings.cmake)
include(cmake/Sanitizers.cmake)
include(cmake/Linker.cmake)
add_library(gridmount_options INTERFACE)
target_include_directories(gridmount_options INTERFACE ${PROJECT_SOURCE_DIR})
target_link_libraries(gridmount_options INTERFACE gridmount_warnings gridmount_sanitizers gridmount_linker)

# The targets that are compiled, of the folder and of those in it.
function(gridmount_targets_below folder result)
  get_property(targets DIRECTORY ${folder} PROPERTY BUILDSYSTEM_TARGETS)
  set(found)
  foreach(target ${targets})
    get_target_property(type ${target} TYPE)
    if(type MATCHES "^(STATIC|OBJECT)_LIBRARY$|^EXECUTABLE$")
      list(APPEND found ${target})
    endif()
  endforeach()
  get_property(folders DIRECTORY ${folder} PROPERTY SUBDIRECTORIES)
  foreach(child ${folders})
    gridmount_targets_below(${child} in_child)
    list(APPEND found ${in_child})
  endforeach()
  set(${result} ${found} PARENT_SCOPE)
endfunction()

# First in the list, so that what a target asks for itself comes later and wins. What links GoogleTest has
# GRIDMOUNT_TEST_OPTIONS besides: code of tests, which mostly calls what it tests. What computes much for
# tests is in libraries without GoogleTest, such as those for random documents and for crash images.
function(gridmount_set_options)
  gridmount_targets_below(${PROJECT_SOURCE_DIR} targets)
  foreach(target ${targets})
    get_target_property(libraries ${target} LINK_LIBRARIES)
    if(NOT libraries)
      set(libraries)
    endif()
    set_property(TARGET ${target} PROPERTY LINK_LIBRARIES gridmount_options ${libraries})
    if("GTest::gtest" IN_LIST libraries)
      target_compile_options(${target} PRIVATE ${GRIDMOUNT_TEST_OPTIONS})
    endif()
  endforeach()
endfunction()
