# Writes the files of folders, such as the machines, workloads and cost models of experiments/, into a source file, byte
# by byte as characters, so that no limit of string literals applies. Configuring again follows every change of the
# files and of their list.

# Appends a table called `name` with every *.toml, script, style, page and text in the folder `place`, or the file
# `place`, to the variable `text` of the caller. Names of .toml and .sh are without that ending.
function(tenex_append_builtin_table text name place)
  set(paths ${place})
  if(IS_DIRECTORY ${place})
    file(GLOB paths CONFIGURE_DEPENDS ${place}/*.toml ${place}/*.js ${place}/*.css ${place}/*.html ${place}/*.txt)
  endif()
  list(SORT paths)
  set(contents "")
  set(entries "")
  set(number 0)
  foreach(path IN LISTS paths)
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${path})
    get_filename_component(file ${path} NAME)
    string(REGEX REPLACE "\\.(toml|sh)$" "" file ${file})
    file(READ ${path} bytes HEX)
    string(REGEX REPLACE "(..)" "'\\\\x\\1'," characters "${bytes}")
    string(APPEND contents "constexpr char ${name}_${number}[] = {${characters}'\\0'};\n")
    string(APPEND entries "      {\"${file}\", {${name}_${number}, sizeof(${name}_${number}) - 1}},\n")
    math(EXPR number "${number} + 1")
  endforeach()
  set(table "namespace {\n${contents}}  // namespace\n\n")
  string(APPEND table "const std::vector<BuiltinFile>& ${name}() {\n  static const std::vector<BuiltinFile> files{\n")
  string(APPEND table "${entries}  };\n  return files;\n}\n\n")
  set(${text} "${${text}}${table}" PARENT_SCOPE)
endfunction()

# Writes the source file at `output`, which defines the tables that `header` declares; it changes only where a file has.
# The other arguments are pairs: a table and its folder or file.
function(tenex_write_builtin_files output header)
  set(source "// Written by src/files/builtin_files.cmake from files of the project: change those.\n")
  string(APPEND source "#include \"${header}\"\n\nnamespace tenex {\n\n")
  set(tables ${ARGN})
  while(tables)
    list(POP_FRONT tables name place)
    tenex_append_builtin_table(source ${name} ${place})
  endwhile()
  string(APPEND source "}  // namespace tenex\n")
  file(GENERATE OUTPUT ${output} CONTENT "${source}")
endfunction()
