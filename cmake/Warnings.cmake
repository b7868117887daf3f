# Warnings are errors, with g++ and clang alike.
add_compile_options(-Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wno-sign-conversion -Werror)
if(CMAKE_CXX_COMPILER_ID MATCHES "Clang")
  add_compile_options(-Wthread-safety -Wreserved-identifier -Wreserved-macro-identifier)
endif()
include_directories(${PROJECT_SOURCE_DIR})
