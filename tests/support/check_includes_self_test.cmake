# cmake -DROOT=<project> -DWORK=<empty folder> -P check_includes_self_test.cmake
#
# Shows that check_includes.cmake can fail: a small tree with the project's own table passes, and fails with the right
# message as soon as one bad include is planted in it.
cmake_minimum_required(VERSION 3.25)
file(REMOVE_RECURSE ${WORK})
file(COPY ${ROOT}/src/rooms.cmake DESTINATION ${WORK}/src)

function(plant file text)
  file(WRITE ${WORK}/${file} "${text}\n")
endfunction()

function(run_check result_variable output_variable)
  execute_process(COMMAND ${CMAKE_COMMAND} -DROOT=${WORK} -P ${CMAKE_CURRENT_LIST_DIR}/check_includes.cmake
                  RESULT_VARIABLE result OUTPUT_VARIABLE output ERROR_VARIABLE output)
  set(${result_variable} "${result}" PARENT_SCOPE)
  set(${output_variable} "${output}" PARENT_SCOPE)
endfunction()

plant(include/tenex/base/units.hpp "#include <string>")
plant(include/tenex/topology/shape.hpp "#include \"tenex/base/units.hpp\"")
plant(include/tenex/collective/chunk.hpp "#include \"tenex/base/units.hpp\"")
plant(include/tenex/evaluate/evaluate.hpp "#include \"tenex/topology/shape.hpp\"")
plant(src/base/units.cpp "#include \"tenex/base/units.hpp\"\n#include <fmt/core.h>\n#include <sys/stat.h>")
plant(src/topology/shape.cpp "#include \"shape_private.hpp\"\n#include <fmt/core.h>")
plant(src/topology/shape_private.hpp "#include <vector>")
plant(src/spec/toml.cpp "#include <toml++/toml.h>")
plant(src/files/json.cpp "#include <nlohmann/json.hpp>\n#include <hdf5.h>")
plant(src/cli/main.cpp "#include <CLI/CLI.hpp>\n#include <nlohmann/json.hpp>\n#include <mpi.h>")
run_check(result output)
if(NOT result EQUAL 0)
  message(FATAL_ERROR "a clean tree is refused:\n${output}")
endif()

set(planted 0)
# Plants one file, expects the refusal, and takes it away.
macro(must_refuse file text expected)
  plant(${file} "${text}")
  run_check(result output)
  file(REMOVE ${WORK}/${file})
  if(result EQUAL 0)
    message(FATAL_ERROR "not refused: ${text} in ${file}")
  endif()
  string(FIND "${output}" "${expected}" found)
  if(found EQUAL -1)
    message(FATAL_ERROR "${text} in ${file} is refused for another reason than \"${expected}\":\n${output}")
  endif()
  math(EXPR planted "${planted} + 1")
endmacro()

must_refuse(src/base/bad.cpp "#include \"tenex/topology/shape.hpp\"" "(base may use base)")
must_refuse(include/tenex/topology/bad.hpp "#include \"tenex/collective/chunk.hpp\""
            "(topology may use topology, base)")
must_refuse(src/topology/bad.cpp "#include <tenex/collective/chunk.hpp>" "(topology may use topology, base)")
must_refuse(src/simulation/bad.cpp "#include \"tenex/evaluate/evaluate.hpp\"" "(simulation may use")
must_refuse(src/topology/bad.cpp "#include \"tenex/base/missing.hpp\"" "(no such header)")
must_refuse(src/store/bad.cpp "#include \"../topology/shape_private.hpp\"" "(private headers are those of src/store)")
must_refuse(src/store/bad.cpp "#include \"topology/shape_private.hpp\"" "(private headers are those of src/store)")
must_refuse(include/tenex/topology/bad.hpp "#include \"shape_private.hpp\""
            "(a public header includes public headers only)")
must_refuse(src/topology/bad.cpp "#include <hdf5.h>" "(topology does not list the guest hdf5)")
must_refuse(src/evaluate/bad.cpp "#include <H5Cpp.h>" "(evaluate does not list the guest hdf5)")
must_refuse(src/evaluate/bad.cpp "#include <mpi.h>" "(evaluate does not list the guest mpi)")
must_refuse(src/algorithm/bad.cpp "  #  include<omp.h>" "(algorithm does not list the guest openmp)")
must_refuse(src/topology/bad.cpp "#include <xxhash.h>" "(topology does not list the guest xxhash)")
must_refuse(src/topology/bad.cpp "#include \"xxhash.h\"" "(a guest's header stands in angle brackets)")
must_refuse(src/design/bad.cpp "#include <toml++/toml.h>" "(design does not list the guest toml++)")
must_refuse(include/tenex/spec/bad.hpp "#include <toml++/toml.h>" "(a public header includes no guest)")
must_refuse(include/tenex/base/bad.hpp "#include <fmt/core.h>" "(a public header includes no guest)")
must_refuse(src/spec/bad.cpp "#include <toml++/toml.h>" "toml++ is included by 2 .cpp files")
must_refuse(src/cli/bad.hpp "#include <nlohmann/json.hpp>"
            "(heavy headers are included by one .cpp file, never by a header)")
must_refuse(src/base/bad.cpp "#include <boost/graph.hpp>" "(neither the standard library's nor a known guest's)")
must_refuse(src/helpers/bad.cpp "#include <string>" "src/helpers: not a room")
file(REMOVE_RECURSE ${WORK}/src/helpers)

# A heavy guest that is listed and not used, and a table that uses a later room.
file(REMOVE ${WORK}/src/spec/toml.cpp)
must_refuse(src/spec/other.cpp "#include <string>" "toml++ is included by 0 .cpp files")
plant(src/spec/toml.cpp "#include <toml++/toml.h>")
file(READ ${WORK}/src/rooms.cmake table)
must_refuse(src/rooms.cmake "${table}\nset(TENEX_ROOM_spec_USES topology)"
            "spec uses topology (a room uses only rooms listed before")
file(COPY ${ROOT}/src/rooms.cmake DESTINATION ${WORK}/src)

run_check(result output)
if(NOT result EQUAL 0)
  message(FATAL_ERROR "the tree is not clean again:\n${output}")
endif()
file(REMOVE_RECURSE ${WORK})
message(STATUS "${planted} planted includes are refused")
