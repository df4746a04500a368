# cmake -DROOT=<project> -DWORK=<empty folder> -P check_includes_self_test.cmake
#
# Shows that check_includes.cmake can fail: a small tree with the project's own table passes, and after one bad include
# is added it fails with the right message.
cmake_minimum_required(VERSION 3.25)
file(REMOVE_RECURSE ${WORK})
file(COPY ${ROOT}/src/modules.cmake DESTINATION ${WORK}/src)

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
plant(src/bound/program.cpp "#include <ClpSimplex.hpp>\n#include <CoinError.hpp>")
plant(src/synthesis/solve.cpp "#include <ClpSimplex.hpp>\n#include <CbcModel.hpp>\n#include <z3++.h>")
plant(src/files/json.cpp "#include <nlohmann/json.hpp>\n#include <hdf5.h>")
plant(src/exchange/xml.cpp "#include <pugixml.hpp>")
plant(src/exchange/yaml.cpp "#include <yaml-cpp/yaml.h>")
plant(src/exchange/trace.cpp "#include <protozero/pbf_reader.hpp>")
plant(src/cli/main.cpp "#include <CLI/CLI.hpp>\n#include <nlohmann/json.hpp>\n#include <mpi.h>")
run_check(result output)
if(NOT result EQUAL 0)
  message(FATAL_ERROR "a clean tree is refused:\n${output}")
endif()

set(planted 0)
# Adds one file, expects the refusal, and removes the file.
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
must_refuse(src/topology/bad.cpp "#include <hdf5.h>" "(topology does not list the library hdf5)")
must_refuse(src/evaluate/bad.cpp "#include <H5Cpp.h>" "(evaluate does not list the library hdf5)")
must_refuse(src/evaluate/bad.cpp "#include <mpi.h>" "(evaluate does not list the library mpi)")
must_refuse(src/algorithm/bad.cpp "  #  include<omp.h>" "(algorithm does not list the library openmp)")
must_refuse(src/topology/bad.cpp "#include <xxhash.h>" "(topology does not list the library xxhash)")
must_refuse(src/topology/bad.cpp "#include \"xxhash.h\"" "(an external header stands in angle brackets)")
must_refuse(src/design/bad.cpp "#include <toml++/toml.h>" "(design does not list the library toml++)")
must_refuse(include/tenex/spec/bad.hpp "#include <toml++/toml.h>" "(a public header includes no external header)")
must_refuse(include/tenex/base/bad.hpp "#include <fmt/core.h>" "(a public header includes no external header)")
must_refuse(src/spec/bad.cpp "#include <toml++/toml.h>" "toml++ is included by 2 .cpp files")
must_refuse(src/cli/bad.hpp "#include <nlohmann/json.hpp>"
            "(heavy headers are included by one .cpp file, never by a header)")
must_refuse(src/base/bad.cpp "#include <boost/graph.hpp>"
            "(neither the standard library's nor a known external library's)")
must_refuse(src/helpers/bad.cpp "#include <string>" "src/helpers: not a module")
file(REMOVE_RECURSE ${WORK}/src/helpers)

# Wings of a module: the table says which includes which.
plant(include/tenex/schedule/send.hpp "#include <string>")
plant(include/tenex/schedule/storage/list.hpp "#include \"tenex/schedule/send.hpp\"")
plant(src/schedule/storage/list_parts.hpp "#include <string>")
plant(src/schedule/views/reversed.cpp
      "#include \"tenex/schedule/storage/list.hpp\"\n#include \"schedule/storage/list_parts.hpp\"")
plant(src/schedule/timing/retime.hpp "#include <string>")
run_check(result output)
if(NOT result EQUAL 0)
  message(FATAL_ERROR "a wing that uses one that it lists is refused:\n${output}")
endif()
must_refuse(src/schedule/verifier/bad.cpp "#include \"schedule/timing/retime.hpp\""
            "(this wing of schedule may use the module's own folder, verifier, storage, views)")
must_refuse(include/tenex/schedule/bad.hpp "#include \"tenex/schedule/storage/list.hpp\""
            "(this wing of schedule may use the module's own folder, )")
file(REMOVE_RECURSE ${WORK}/src/schedule ${WORK}/include/tenex/schedule)

# Two subfolders of a module: one may include the other, but not each the other.
plant(src/synthesis/tacos/exact/exact.hpp "#include <string>")
plant(src/synthesis/tacos/tacos.hpp "#include \"synthesis/tacos/exact/exact.hpp\"")
run_check(result output)
if(NOT result EQUAL 0)
  message(FATAL_ERROR "a folder that includes another is refused:\n${output}")
endif()
must_refuse(src/synthesis/tacos/exact/bad.cpp "#include \"synthesis/tacos/tacos.hpp\""
            "include each other in a circle")
file(REMOVE_RECURSE ${WORK}/src/synthesis)

# A heavy library that is listed and not used, and a table whose module uses a later one.
file(REMOVE ${WORK}/src/spec/toml.cpp)
must_refuse(src/spec/other.cpp "#include <string>" "toml++ is included by 0 .cpp files")
plant(src/spec/toml.cpp "#include <toml++/toml.h>")
plant(src/bound/program.cpp "#include <ClpSimplex.hpp>\n#include <CoinError.hpp>")
plant(src/synthesis/solve.cpp "#include <ClpSimplex.hpp>\n#include <CbcModel.hpp>\n#include <z3++.h>")
file(READ ${WORK}/src/modules.cmake table)
must_refuse(src/modules.cmake "${table}\nset(TENEX_MODULE_spec_USES topology)"
            "spec uses topology (a module uses only modules listed before")
file(COPY ${ROOT}/src/modules.cmake DESTINATION ${WORK}/src)

run_check(result output)
if(NOT result EQUAL 0)
  message(FATAL_ERROR "the tree is not clean again:\n${output}")
endif()
file(REMOVE_RECURSE ${WORK})
message(STATUS "${planted} planted includes are refused")
