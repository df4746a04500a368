# cmake -DROOT=<project> -P check_type_names.cmake
#
# No two headers define types of the same name in the same namespace: the linker would take the functions that the
# compiler made for one of them, destructors for instance, for the other's. No compiler sees that unless one file
# includes both. What stands in the first column is a definition of the namespace, which is how this project is
# formatted.
cmake_minimum_required(VERSION 3.25)

file(GLOB_RECURSE headers ${ROOT}/include/*.hpp ${ROOT}/src/*.hpp)
set(clashes "")
foreach(header IN LISTS headers)
  file(READ ${header} text)
  string(REGEX REPLACE "[];]|\\[" " " text "\n${text}")
  string(REGEX MATCH "\nnamespace ([a-z_:]+) {" ignored "${text}")
  set(namespace ${CMAKE_MATCH_1})
  string(REGEX MATCHALL "\n(struct|class|union|enum) (class )?[A-Za-z0-9_]+[^:A-Za-z0-9_(][^({\n]*{" starts "${text}")
  foreach(start IN LISTS starts)
    string(REGEX MATCH "(struct|class|union|enum) (class )?([A-Za-z0-9_]+)" ignored "${start}")
    set(name ${namespace}::${CMAKE_MATCH_3})
    if(DEFINED "header_of_${name}" AND NOT start MATCHES "<")  # a specialization has arguments
      string(APPEND clashes "\n  ${name} in ${header_of_${name}} and ${header}")
    endif()
    set("header_of_${name}" ${header})
  endforeach()
endforeach()
if(NOT DEFINED "header_of_${EXPECTED}")
  message(FATAL_ERROR "the type ${EXPECTED} is not found "
                      "(the headers are formatted otherwise than this check reads them)")
endif()
if(clashes)
  message(FATAL_ERROR "types of the same name (they may be taken for one another when linked) "
                      "rename one of each:${clashes}")
endif()
