# cmake -DCOMPILER=c++ -DSOURCE=file.cpp -DINCLUDE=dir -P check.cmake
#
# A source holds a control and cases:
#
#   #ifdef CONTROL
#   ...                            must compile
#   #else
#   // expect: no match for        the next line must raise an error that matches this regular expression
#   const auto sum = ...;
#   #endif
#
# The control has all that the cases have but their mistakes, so a case cannot fail for want of a header or a name. All
# cases go through the compiler in one run: each is judged by the errors at its own line.
cmake_minimum_required(VERSION 3.25)
set(ENV{LC_ALL} C)  # plain quotes in messages

# message(FATAL_ERROR) alone would wrap the text at odd places.
function(refuse text)
  message("${text}")
  message(FATAL_ERROR "the check has failed")
endfunction()

set(command ${COMPILER} -std=c++20 -fsyntax-only -I${INCLUDE})
get_filename_component(name ${SOURCE} NAME)

execute_process(COMMAND ${command} -DCONTROL ${SOURCE} RESULT_VARIABLE result OUTPUT_VARIABLE output
                                                                              ERROR_VARIABLE output)
if(NOT result EQUAL 0)
  refuse("${name}: the control does not compile:\n${output}")
endif()

execute_process(COMMAND ${command} ${SOURCE} RESULT_VARIABLE result OUTPUT_VARIABLE output ERROR_VARIABLE output)
file(READ ${SOURCE} text)
string(REPLACE ";" " " text "${text}")  # a semicolon separates the items of a list
string(REPLACE "[" "{" text "${text}")  # and brackets group them
string(REPLACE "]" "}" text "${text}")
string(REPLACE "\n" ";" lines "${text}")
set(number 0)
set(cases 0)
set(expected "")
foreach(line IN LISTS lines)
  math(EXPR number "${number} + 1")
  if(NOT expected STREQUAL "")
    math(EXPR cases "${cases} + 1")
    if(NOT output MATCHES "${name}:${number}:[0-9]+: error: ")
      refuse("${name}:${number}: compiles, but must not: ${line}\n${output}")
    elseif(NOT output MATCHES "${name}:${number}:[0-9]+: error: [^\n]*(${expected})")
      refuse("${name}:${number}: fails for another reason than \"${expected}\": ${line}\n${output}")
    endif()
  endif()
  set(expected "")
  if(line MATCHES "^// expect: (.*)$")
    set(expected "${CMAKE_MATCH_1}")
  endif()
endforeach()
if(cases EQUAL 0)
  refuse("${name}: names no cases")
endif()
message(STATUS "${cases} cases of ${name} fail to compile, as they must")
