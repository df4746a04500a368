# cmake -DROOT=<project> -P check_includes.cmake
#
# Checks every #include of include/tenex/<module> and src/<module> against the table of modules (src/modules.cmake):
#  - "tenex/<other>/..." is allowed only for the module itself and modules that it uses, directly or indirectly.
#  - Other quoted headers must be private headers in the module's own folder in src; public headers must not include
#    them.
#  - Headers of external libraries are allowed only in modules that list them, never in a public header. fmt is allowed
#    in every module that may use base, which provides it.
#  - The heavy libraries (toml++, nlohmann-json, CLI11, pugixml, yaml-cpp, protozero) are included by exactly one .cpp
#    file of each module that lists them; CLI11, in whose terms every command states its options, by several.
#  - All other headers must be of the C++ standard library or of POSIX.
#  - Subfolders of a module do not include each other in a circle (files in the module's own folder are shared).
#  - Where the table divides a module into wings, a wing includes only itself, the module's own folder and the wings
#    that it lists; the module's own folder includes none.
# It also checks the table itself: a module uses only earlier ones. All violations are listed before the check fails.
cmake_minimum_required(VERSION 3.25)
include(${ROOT}/src/modules.cmake)

set(LIBRARY_fmt "^fmt/")
set(LIBRARY_xxhash "^xxhash\\.h$")
set(LIBRARY_toml++ "^toml\\+\\+/")
set(LIBRARY_hdf5 "^(hdf5|hdf5_hl|H5[A-Za-z]*)\\.h$")
set(LIBRARY_zlib "^zlib\\.h$")
set(LIBRARY_mpi "^mpi\\.h$")
set(LIBRARY_nlohmann-json "^nlohmann/")
set(LIBRARY_cli11 "^CLI/")
set(LIBRARY_pugixml "^pugixml\\.hpp$")
set(LIBRARY_protozero "^protozero/.*\\.hpp$")
set(LIBRARY_yaml-cpp "^yaml-cpp/")
set(LIBRARY_openmp "^omp\\.h$")
set(LIBRARY_clp "^(Clp|Coin)[A-Za-z]*\\.hpp$")
set(LIBRARY_solvers "^((Cbc|Cgl|Osi)[A-Za-z]*\\.hpp|z3(\\+\\+)?\\.h)$")
set(LIBRARIES fmt xxhash toml++ hdf5 zlib mpi nlohmann-json cli11 pugixml yaml-cpp protozero openmp clp solvers)
set(HEAVY_LIBRARIES toml++ nlohmann-json cli11 pugixml yaml-cpp protozero clp)
set(SPREAD_LIBRARIES cli11)  # .cpp files alone, but several
set(LIGHT_HEADERS nlohmann/json_fwd.hpp)  # declarations only

# C++20, clause 16.4.2.3 (tables 23 and 24), without the C headers, which are used only as <c...>.
set(STANDARD
    algorithm any array atomic barrier bit bitset cassert cctype cerrno cfenv cfloat charconv chrono cinttypes climits
    clocale cmath compare complex concepts condition_variable coroutine csetjmp csignal cstdarg cstddef cstdint cstdio
    cstdlib cstring ctime cuchar cwchar cwctype deque exception execution filesystem format forward_list fstream
    functional future initializer_list iomanip ios iosfwd iostream istream iterator latch limits list locale map memory
    memory_resource mutex new numbers numeric optional ostream queue random ranges ratio regex scoped_allocator
    semaphore set shared_mutex source_location span sstream stack stdexcept stop_token streambuf string string_view
    strstream syncstream system_error thread tuple type_traits typeindex typeinfo unordered_map unordered_set utility
    valarray variant vector version)
set(POSIX
    "^(sys/[a-z]+|dirent|errno|fcntl|linux/[a-z]+|malloc|poll|pthread|pwd|sched|signal|spawn|termios|time|unistd)\\.h$")

set(violations "")
macro(violation text)
  list(APPEND violations "${text}")
endmacro()

# reach_<module>: the modules that it may use. It is filled in the order of the table, so each earlier list is complete.
foreach(module IN LISTS TENEX_MODULES)
  set(reach_${module} ${module})
  foreach(used IN LISTS TENEX_MODULE_${module}_USES)
    if(DEFINED reach_${used})
      list(APPEND reach_${module} ${reach_${used}})
    else()
      violation("src/modules.cmake: ${module} uses ${used} (a module uses only modules listed before it)")
    endif()
  endforeach()
  list(REMOVE_DUPLICATES reach_${module})
  foreach(library IN LISTS TENEX_MODULE_${module}_LIBRARIES)
    if(NOT library IN_LIST LIBRARIES)
      violation("src/modules.cmake: ${module} lists the library ${library} (this check does not know its headers)")
    endif()
  endforeach()
endforeach()

# Folders that are not modules.
foreach(folder IN ITEMS include/tenex src)
  file(GLOB entries RELATIVE ${ROOT}/${folder} ${ROOT}/${folder}/*)
  foreach(entry IN LISTS entries)
    if(NOT entry IN_LIST TENEX_MODULES AND NOT entry MATCHES "^(README\\.md|CMakeLists\\.txt)$"
       AND NOT entry MATCHES "^((modules|libraries|unity|install|package)\\.cmake|tenex-config\\.cmake\\.in)$")
      violation("${folder}/${entry}: not a module (the modules are those of src/modules.cmake)")
    endif()
  endforeach()
endforeach()

# Finds the library to which a header belongs, if any.
function(find_library header result)
  foreach(library IN LISTS LIBRARIES)
    if(header MATCHES "${LIBRARY_${library}}")
      set(${result} ${library} PARENT_SCOPE)
      return()
    endif()
  endforeach()
  set(${result} "" PARENT_SCOPE)
endfunction()

# Checks a header of a file's own module: its wing must be one that the file's wing lists.
macro(check_wing module file header)
  set(own "")
  if("${file}" MATCHES "^(include/tenex|src)/${module}/([^/]+)/")
    set(own ${CMAKE_MATCH_2})
  endif()
  if("${header}" MATCHES "^(tenex/)?${module}/([^/]+)/" AND CMAKE_MATCH_2 IN_LIST TENEX_WINGS_${module})
    set(wing ${CMAKE_MATCH_2})
    set(allowed ${own} ${TENEX_WING_${module}_${own}_USES})
    if(NOT wing IN_LIST allowed)
      string(REPLACE ";" ", " allowed "${allowed}")
      violation("${file}: \"${header}\" (this wing of ${module} may use the module's own folder, ${allowed})")
    endif()
  endif()
endmacro()

# Checks a header of tenex: its module must be within reach.
macro(check_module_header module file header)
  string(REGEX REPLACE "^tenex/([^/]+)/.*$" "\\1" other "${header}")
  if(NOT other IN_LIST reach_${module})
    string(REPLACE ";" ", " allowed "${reach_${module}}")
    violation("${file}: \"${header}\" (${module} may use ${allowed})")
  elseif(NOT EXISTS ${ROOT}/include/${header})
    violation("${file}: \"${header}\" (no such header)")
  elseif("${other}" STREQUAL "${module}")
    check_wing(${module} ${file} ${header})
  endif()
endmacro()

# folders: the subfolders of modules; folders_of_<folder>: the other subfolders that its files include.
set(folders "")
macro(note_folders module file header)
  if(EXISTS ${below})
    get_filename_component(target ${below} DIRECTORY)
  else()
    get_filename_component(target ${beside} DIRECTORY)
  endif()
  foreach(side IN ITEMS folder target)
    file(RELATIVE_PATH ${side} ${ROOT}/src/${module} ${${side}})
  endforeach()
  if(NOT folder STREQUAL "" AND NOT target STREQUAL "" AND NOT folder STREQUAL target)
    list(APPEND folders ${module}/${folder} ${module}/${target})
    list(APPEND folders_of_${module}/${folder} ${module}/${target})
  endif()
endmacro()

# Checks a quoted header that is not a public one of tenex: it must be private to the module.
macro(check_private_header module file header)
  get_filename_component(folder ${ROOT}/${file} DIRECTORY)
  get_filename_component(beside "${folder}/${header}" ABSOLUTE)
  get_filename_component(below "${ROOT}/src/${header}" ABSOLUTE)
  string(FIND "${beside}" "${ROOT}/src/${module}/" beside_at)
  string(FIND "${below}" "${ROOT}/src/${module}/" below_at)
  if(NOT "${file}" MATCHES "^src/")
    violation("${file}: \"${header}\" (a public header includes public headers only)")
  elseif(NOT (beside_at EQUAL 0 AND EXISTS ${beside}) AND NOT (below_at EQUAL 0 AND EXISTS ${below}))
    violation("${file}: \"${header}\" (private headers are those of src/${module})")
  else()
    note_folders(${module} ${file} "${header}")
    check_wing(${module} ${file} ${header})
  endif()
endmacro()

# Checks a header in angle brackets: a library's, the standard library's or POSIX'.
macro(check_outside_header module file header)
  find_library("${header}" library)
  if(library STREQUAL "")
    if(NOT "${header}" IN_LIST STANDARD AND NOT "${header}" MATCHES "${POSIX}")
      violation("${file}: <${header}> (neither the standard library's nor a known external library's)")
    endif()
  elseif(NOT "${file}" MATCHES "^src/")
    violation("${file}: <${header}> (a public header includes no external header)")
  elseif(library STREQUAL "fmt")
    if(NOT base IN_LIST reach_${module})
      violation("${file}: <${header}> (fmt comes with base, which ${module} does not use)")
    endif()
  elseif(NOT library IN_LIST TENEX_MODULE_${module}_LIBRARIES)
    violation("${file}: <${header}> (${module} does not list the library ${library})")
  elseif(library IN_LIST HEAVY_LIBRARIES AND NOT "${header}" IN_LIST LIGHT_HEADERS)
    if("${file}" MATCHES "\\.cpp$")
      list(APPEND users_${module}_${library} ${file})
    else()
      violation("${file}: <${header}> (heavy headers are included by one .cpp file, never by a header)")
    endif()
  endif()
endmacro()

set(checked 0)
foreach(module IN LISTS TENEX_MODULES)
  file(GLOB_RECURSE files RELATIVE ${ROOT} ${ROOT}/include/tenex/${module}/*.?pp ${ROOT}/include/tenex/${module}/*.h
       ${ROOT}/src/${module}/*.?pp ${ROOT}/src/${module}/*.h)
  foreach(file IN LISTS files)
    file(STRINGS ${ROOT}/${file} lines REGEX "^[ \t]*#[ \t]*include[ \t]*[<\"]")
    foreach(line IN LISTS lines)
      math(EXPR checked "${checked} + 1")
      string(REGEX MATCH "^[ \t]*#[ \t]*include[ \t]*([<\"])([^>\"]+)[>\"]" matched "${line}")
      set(bracket "${CMAKE_MATCH_1}")
      set(header "${CMAKE_MATCH_2}")
      if(header MATCHES "^tenex/")
        check_module_header(${module} ${file} ${header})
      elseif(bracket STREQUAL "<")
        check_outside_header(${module} ${file} ${header})
      else()
        find_library("${header}" library)
        if(library STREQUAL "")
          check_private_header(${module} ${file} ${header})
        else()
          violation("${file}: \"${header}\" (an external header stands in angle brackets)")
        endif()
      endif()
    endforeach()
  endforeach()
  foreach(library IN LISTS HEAVY_LIBRARIES)
    set(users ${users_${module}_${library}})
    list(REMOVE_DUPLICATES users)
    list(LENGTH users count)
    string(REPLACE ";" ", " users "${users}")
    if(library IN_LIST TENEX_MODULE_${module}_LIBRARIES AND NOT count EQUAL 1 AND NOT library IN_LIST SPREAD_LIBRARIES)
      violation("${module}: ${library} is included by ${count} .cpp files: ${users} (heavy headers need exactly one)")
    endif()
  endforeach()
endforeach()

# Removes folders that include no remaining folder, until none is left or each remaining one is part of a circle or
# leads to one.
list(REMOVE_DUPLICATES folders)
set(shrinks TRUE)
while(shrinks)
  set(shrinks FALSE)
  foreach(folder IN LISTS folders)
    set(circular FALSE)
    foreach(other IN LISTS folders_of_${folder})
      if(other IN_LIST folders)
        set(circular TRUE)
      endif()
    endforeach()
    if(NOT circular)
      list(REMOVE_ITEM folders ${folder})
      set(shrinks TRUE)
    endif()
  endforeach()
endwhile()
if(folders)
  string(REPLACE ";" ", " circle "${folders}")
  violation("src: these folders include each other in a circle: ${circle}")
endif()

if(violations)
  list(JOIN violations "\n" text)
  list(LENGTH violations count)
  message("${text}")
  message(FATAL_ERROR "${count} includes against the table of modules")
endif()
if(checked EQUAL 0)
  message(FATAL_ERROR "no include found below ${ROOT}")
endif()
message(STATUS "${checked} includes agree with the table of modules")
