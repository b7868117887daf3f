# The options for every target of this tree, but for no target outside of the tree: warnings,
# sanitizers, the linker, and includes by their paths from the root.
include(cmake/Warnings.cmake)
include(cmake/Sanitizers.cmake)
include(cmake/Linker.cmake)
add_library(gridmount_options INTERFACE)
target_include_directories(gridmount_options INTERFACE ${PROJECT_SOURCE_DIR})
target_link_libraries(gridmount_options INTERFACE gridmount_warnings gridmount_sanitizers gridmount_linker)

# Sets the variable `result` to the compiled targets of the folder and of all folders below it.
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

# Sets the variable `result` to whether GRIDMOUNT_OUTER_OPTIONS are for the target. They are not for
# the libraries that a fuzzer calls as often as it can. Only the fuzzer of names, whose functions are
# short, calls gridfs.
function(gridmount_is_outer target result)
  get_target_property(folder ${target} SOURCE_DIR)
  file(RELATIVE_PATH folder ${PROJECT_SOURCE_DIR} ${folder})
  if(GRIDMOUNT_OUTER_OPTIONS
     AND folder MATCHES "^(command_line|engine/mongo|engine/wire|fuse|gridfs|tools)(/|$)"
     AND NOT target MATCHES "^gridmount_(dump|wire_protocol)$")
    set(${result} TRUE PARENT_SCOPE)
  else()
    set(${result} FALSE PARENT_SCOPE)
  endif()
endfunction()

# Puts the options first in the list of libraries, so that options of the target itself come later
# and win. A target that links GoogleTest also gets GRIDMOUNT_TEST_OPTIONS: it has code of tests,
# which mostly calls the tested code. Code of tests that computes much is in libraries without
# GoogleTest, such as those for random documents and for crash images.
function(gridmount_set_options)
  gridmount_targets_below(${PROJECT_SOURCE_DIR} targets)
  foreach(target ${targets})
    get_target_property(libraries ${target} LINK_LIBRARIES)
    if(NOT libraries)
      set(libraries)
    endif()
    set(options gridmount_options)
    if("GTest::gtest" IN_LIST libraries)
      target_compile_options(${target} PRIVATE ${GRIDMOUNT_TEST_OPTIONS})
    else()
      list(APPEND options gridmount_coverage gridmount_odr)
    endif()
    gridmount_is_outer(${target} is_outer)
    if(is_outer)
      target_compile_options(${target} PRIVATE ${GRIDMOUNT_OUTER_OPTIONS})
    endif()
    set_property(TARGET ${target} PROPERTY LINK_LIBRARIES ${options} ${libraries})
  endforeach()
endfunction()
