# cmake -DROOT=<project> -P check_includes.cmake
#
# Checks every #include of include/tenex/<room> and src/<room> against the table of rooms (src/rooms.cmake):
#  - "tenex/<other>/..." only of the room itself or of those that it uses, directly or through one another;
#  - other quoted headers only private ones of the room's own folder in src, and never from a public header;
#  - headers from outside (guests) only in rooms that list them, never in a public header; fmt in every room that may
#    use base, which brings it;
#  - the heavy ones (toml++, nlohmann-json, CLI11) in exactly one .cpp file of each room that lists them;
#  - everything else is a header of the C++ standard library or of POSIX.
# And the table itself: a room uses only earlier ones. All violations are listed before the check fails.
cmake_minimum_required(VERSION 3.25)
include(${ROOT}/src/rooms.cmake)

set(GUEST_fmt "^fmt/")
set(GUEST_xxhash "^xxhash\\.h$")
set(GUEST_toml++ "^toml\\+\\+/")
set(GUEST_hdf5 "^(hdf5|hdf5_hl|H5[A-Za-z]*)\\.h$")
set(GUEST_zlib "^zlib\\.h$")
set(GUEST_mpi "^mpi\\.h$")
set(GUEST_nlohmann-json "^nlohmann/")
set(GUEST_cli11 "^CLI/")
set(GUEST_openmp "^omp\\.h$")
set(GUESTS fmt xxhash toml++ hdf5 zlib mpi nlohmann-json cli11 openmp)
set(HEAVY_GUESTS toml++ nlohmann-json cli11)
set(LIGHT_HEADERS nlohmann/json_fwd.hpp)  # declarations only

# C++20, clause 16.4.2.3 (tables 23 and 24), without the C headers, of which only the <c...> forms are used.
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

# reach_<room>: the rooms that it may use. Filled in the order of the table, so each earlier one is complete.
foreach(room IN LISTS TENEX_ROOMS)
  set(reach_${room} ${room})
  foreach(used IN LISTS TENEX_ROOM_${room}_USES)
    if(DEFINED reach_${used})
      list(APPEND reach_${room} ${reach_${used}})
    else()
      violation("src/rooms.cmake: ${room} uses ${used} (a room uses only rooms listed before it)")
    endif()
  endforeach()
  list(REMOVE_DUPLICATES reach_${room})
  foreach(guest IN LISTS TENEX_ROOM_${room}_GUESTS)
    if(NOT guest IN_LIST GUESTS)
      violation("src/rooms.cmake: ${room} lists the guest ${guest}, whose headers check_includes.cmake does not know")
    endif()
  endforeach()
endforeach()

# Folders that are no rooms.
foreach(folder IN ITEMS include/tenex src)
  file(GLOB entries RELATIVE ${ROOT}/${folder} ${ROOT}/${folder}/*)
  foreach(entry IN LISTS entries)
    if(NOT entry IN_LIST TENEX_ROOMS AND NOT "${folder}/${entry}" MATCHES "^src/((rooms|guests)\\.cmake|CMakeLists\\.txt)$")
      violation("${folder}/${entry}: not a room (the rooms are those of src/rooms.cmake)")
    endif()
  endforeach()
endforeach()

# The guest that a header belongs to, or nothing.
function(find_guest header result)
  foreach(guest IN LISTS GUESTS)
    if(header MATCHES "${GUEST_${guest}}")
      set(${result} ${guest} PARENT_SCOPE)
      return()
    endif()
  endforeach()
  set(${result} "" PARENT_SCOPE)
endfunction()

# A header of tenex: its room must be within reach.
macro(check_room_header room file header)
  string(REGEX REPLACE "^tenex/([^/]+)/.*$" "\\1" other "${header}")
  if(NOT other IN_LIST reach_${room})
    string(REPLACE ";" ", " allowed "${reach_${room}}")
    violation("${file}: \"${header}\" (${room} may use ${allowed})")
  elseif(NOT EXISTS ${ROOT}/include/${header})
    violation("${file}: \"${header}\" (no such header)")
  endif()
endmacro()

# A quoted header that is not of tenex's public ones: private to the room.
macro(check_private_header room file header)
  get_filename_component(folder ${ROOT}/${file} DIRECTORY)
  get_filename_component(beside "${folder}/${header}" ABSOLUTE)
  get_filename_component(below "${ROOT}/src/${header}" ABSOLUTE)
  string(FIND "${beside}" "${ROOT}/src/${room}/" beside_at)
  string(FIND "${below}" "${ROOT}/src/${room}/" below_at)
  if(NOT "${file}" MATCHES "^src/")
    violation("${file}: \"${header}\" (a public header includes public headers only)")
  elseif(NOT (beside_at EQUAL 0 AND EXISTS ${beside}) AND NOT (below_at EQUAL 0 AND EXISTS ${below}))
    violation("${file}: \"${header}\" (private headers are those of src/${room})")
  endif()
endmacro()

# A header in angle brackets: a guest's, the standard library's or POSIX'.
macro(check_outside_header room file header)
  find_guest("${header}" guest)
  if(guest STREQUAL "")
    if(NOT "${header}" IN_LIST STANDARD AND NOT "${header}" MATCHES "${POSIX}")
      violation("${file}: <${header}> (neither the standard library's nor a known guest's)")
    endif()
  elseif(NOT "${file}" MATCHES "^src/")
    violation("${file}: <${header}> (a public header includes no guest)")
  elseif(guest STREQUAL "fmt")
    if(NOT base IN_LIST reach_${room})
      violation("${file}: <${header}> (fmt comes with base, which ${room} does not use)")
    endif()
  elseif(NOT guest IN_LIST TENEX_ROOM_${room}_GUESTS)
    violation("${file}: <${header}> (${room} does not list the guest ${guest})")
  elseif(guest IN_LIST HEAVY_GUESTS AND NOT "${header}" IN_LIST LIGHT_HEADERS)
    if("${file}" MATCHES "\\.cpp$")
      list(APPEND users_${room}_${guest} ${file})
    else()
      violation("${file}: <${header}> (heavy headers are included by one .cpp file, never by a header)")
    endif()
  endif()
endmacro()

set(checked 0)
foreach(room IN LISTS TENEX_ROOMS)
  file(GLOB_RECURSE files RELATIVE ${ROOT} ${ROOT}/include/tenex/${room}/*.?pp ${ROOT}/include/tenex/${room}/*.h
       ${ROOT}/src/${room}/*.?pp ${ROOT}/src/${room}/*.h)
  foreach(file IN LISTS files)
    file(STRINGS ${ROOT}/${file} lines REGEX "^[ \t]*#[ \t]*include[ \t]*[<\"]")
    foreach(line IN LISTS lines)
      math(EXPR checked "${checked} + 1")
      string(REGEX MATCH "^[ \t]*#[ \t]*include[ \t]*([<\"])([^>\"]+)[>\"]" matched "${line}")
      set(bracket "${CMAKE_MATCH_1}")
      set(header "${CMAKE_MATCH_2}")
      if(header MATCHES "^tenex/")
        check_room_header(${room} ${file} ${header})
      elseif(bracket STREQUAL "<")
        check_outside_header(${room} ${file} ${header})
      else()
        find_guest("${header}" guest)
        if(guest STREQUAL "")
          check_private_header(${room} ${file} ${header})
        else()
          violation("${file}: \"${header}\" (a guest's header stands in angle brackets)")
        endif()
      endif()
    endforeach()
  endforeach()
  foreach(guest IN LISTS HEAVY_GUESTS)
    set(users ${users_${room}_${guest}})
    list(REMOVE_DUPLICATES users)
    list(LENGTH users count)
    string(REPLACE ";" ", " users "${users}")
    if(guest IN_LIST TENEX_ROOM_${room}_GUESTS AND NOT count EQUAL 1)
      violation("${room}: ${guest} is included by ${count} .cpp files: ${users} (its heavy headers need exactly one)")
    endif()
  endforeach()
endforeach()

if(violations)
  list(JOIN violations "\n" text)
  list(LENGTH violations count)
  message("${text}")
  message(FATAL_ERROR "${count} includes against the table of rooms")
endif()
if(checked EQUAL 0)
  message(FATAL_ERROR "no include found below ${ROOT}")
endif()
message(STATUS "${checked} includes agree with the table of rooms")
