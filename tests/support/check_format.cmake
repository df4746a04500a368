# Checks that every source file is formatted by clang-format: cmake -DROOT=... -DCLANG_FORMAT=... -P check_format.cmake
file(GLOB_RECURSE sources ${ROOT}/src/*.cpp ${ROOT}/src/*.hpp ${ROOT}/include/*.hpp ${ROOT}/tests/*.cpp
     ${ROOT}/tests/*.hpp)
if(NOT sources)
  message(FATAL_ERROR "no sources below ${ROOT}")
endif()
execute_process(COMMAND ${CLANG_FORMAT} --dry-run --Werror ${sources} RESULT_VARIABLE result ERROR_VARIABLE complaints)
if(NOT result EQUAL 0)
  string(REGEX MATCHALL "[^\n]*error: [^\n]*" lines "${complaints}")
  list(SUBLIST lines 0 20 lines)
  list(JOIN lines "\n" text)
  message(FATAL_ERROR "not formatted (.clang-format) run clang-format -i on them:\n${text}")
endif()
