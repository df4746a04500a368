# The scripts, styles and skeletons of pages (src/pages/web), and the libraries that their scripts use, as tables of
# src/pages/page_files.hpp. The libraries are Debian's node-d3: looked for when the build is configured, copied into the
# build folder, and nothing of them is kept in the sources. Without them tenex is built all the same, and the commands
# that write pages say what is missing.

# The parts of d3 that the scripts use, each after those that it needs. (The whole of d3 is 258 KB, these are 105 KB.)
set(TENEX_D3_PARTS array collection color interpolate format scale path shape selection axis)
set(TENEX_D3_FOLDER /usr/share/nodejs CACHE PATH "where d3-array/dist/d3-array.min.js and its like are")
set(TENEX_D3_DOCUMENTS /usr/share/doc CACHE PATH "where node-d3-array/copyright and its like are")

# Copies the libraries and their licences into `folder`, in the order of loading; sets `found`.
function(tenex_copy_page_libraries folder found)
  file(REMOVE_RECURSE ${folder})
  file(MAKE_DIRECTORY ${folder})
  set(number 10)
  set(licences "")
  foreach(part IN LISTS TENEX_D3_PARTS)
    set(script ${TENEX_D3_FOLDER}/d3-${part}/dist/d3-${part}.min.js)
    set(licence ${TENEX_D3_DOCUMENTS}/node-d3-${part}/copyright)
    if(NOT EXISTS ${script} OR NOT EXISTS ${licence})
      set(${found} OFF PARENT_SCOPE)
      return()
    endif()
    configure_file(${script} ${folder}/${number}-d3-${part}.js COPYONLY)
    file(READ ${licence} text)
    string(APPEND licences "d3-${part}\n\n${text}\n\n")
    math(EXPR number "${number} + 1")
  endforeach()
  file(WRITE ${folder}/licences.txt "${licences}")
  set(${found} ON PARENT_SCOPE)
endfunction()

# Appends the table of SHA-256 digests of the files to the variable `text` of the caller.
function(tenex_append_page_digests text)
  set(entries "")
  foreach(path IN LISTS ARGN)
    get_filename_component(file ${path} NAME)
    file(SHA256 ${path} digest)
    string(APPEND entries "  if (name == \"${file}\") return \"${digest}\";\n")
  endforeach()
  set(${text} "${${text}}std::string_view page_digest(std::string_view name) {\n${entries}  return {};\n}\n\n"
      PARENT_SCOPE)
endfunction()

# Writes the source file of the tables at `output`.
function(tenex_write_page_files output)
  set(libraries ${CMAKE_CURRENT_BINARY_DIR}/page_libraries)
  tenex_copy_page_libraries(${libraries} TENEX_D3_FOUND)
  if(NOT TENEX_D3_FOUND)
    message(STATUS "node-d3 is not installed: `tenex view` and `tenex report` will write no HTML")
    file(REMOVE_RECURSE ${libraries})
    file(MAKE_DIRECTORY ${libraries})
  endif()
  set(web ${CMAKE_CURRENT_SOURCE_DIR}/pages/web)
  set(source "// Written by src/pages/page_files.cmake from src/pages/web and libraries: change those.\n")
  string(APPEND source "#include \"pages/page_files.hpp\"\n\nnamespace tenex {\n\n")
  tenex_append_builtin_table(source page_files ${web})
  tenex_append_builtin_table(source page_libraries ${libraries})
  file(GLOB paths ${web}/*.js ${web}/*.css ${libraries}/*.js)
  tenex_append_page_digests(source ${paths})
  string(APPEND source "}  // namespace tenex\n")
  file(GENERATE OUTPUT ${output} CONTENT "${source}")
  set(TENEX_D3_FOUND ${TENEX_D3_FOUND} PARENT_SCOPE)
endfunction()
