# cmake -DCOMPILER=c++ -DINCLUDE=dir -P no_code.cmake
#
# Compiles no_code.cpp to assembly with optimisation: contracts that are not checked leave the code as it is without
# them, and contracts that are checked change it, so that the comparison can fail.
cmake_minimum_required(VERSION 3.25)

function(compile result)
  execute_process(
    COMMAND ${COMPILER} -std=c++20 -S -o - -I${INCLUDE} ${ARGN} ${CMAKE_CURRENT_LIST_DIR}/no_code.cpp
    RESULT_VARIABLE failed OUTPUT_VARIABLE assembly ERROR_VARIABLE errors)
  if(failed)
    message(FATAL_ERROR "no_code.cpp does not compile (${ARGN}): ${errors}")
  endif()
  set(${result} "${assembly}" PARENT_SCOPE)
endfunction()

foreach(level IN ITEMS -O1 -O3)
  compile(bare ${level} -DNO_CONTRACT)
  compile(unchecked ${level})
  compile(checked ${level} -DTENEX_CONTRACTS)
  if(NOT unchecked STREQUAL bare)
    message(FATAL_ERROR "unchecked contracts leave code at ${level}")
  endif()
  if(checked STREQUAL bare)
    message(FATAL_ERROR "checked contracts leave no code at ${level}: the comparison sees nothing")
  endif()
endforeach()
