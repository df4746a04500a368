# Several source files of a module in one translation unit, for trees that are built from nothing: their headers are
# compiled once. Files of one unit share an unnamed namespace, so only files that define no name twice come together:
# what stands in the first column is taken for a definition, which is how this project is formatted.

# The names that a file defines, unqualified, in `result`; those of types and constants again in `types`.
function(tenex_names_defined file result types)
  file(READ ${file} text)
  string(REPLACE "[[nodiscard]] " "" text "${text}")
  string(REGEX REPLACE "[];\\\\]|\\[" " " text "\n${text}")  # what CMake's lists take for their own
  string(REGEX REPLACE "( final)? : (public|private) [^\n{]*{" "{" text "${text}")  # base classes
  string(REGEX REPLACE "(enum class [A-Za-z0-9_]+) : [^\n{]*{" "\\1 {" text "${text}")  # underlying types
  string(REGEX MATCHALL "\n[A-Za-z][^\n(={]*[(={]" starts "${text}")
  set(names "")
  set(type_names "")
  foreach(start IN LISTS starts)
    if(start MATCHES "^\n(namespace|extern|return|template|[A-Z0-9_]+\\()"
       OR NOT start MATCHES "([:A-Za-z0-9_]+) *[(={]$")
      continue()
    endif()
    set(name ${CMAKE_MATCH_1})
    if(name MATCHES "::")
      continue()
    endif()
    list(APPEND names ${name})
    if(start MATCHES "^\n(struct|class|enum|union|using) " OR start MATCHES "^\n(constexpr|const) .*[={]$")
      list(APPEND type_names ${name})
    endif()
  endforeach()
  set(${result} ${names} PARENT_SCOPE)
  set(${types} ${type_names} PARENT_SCOPE)
endfunction()

# Whether two lists have an element in common.
function(tenex_lists_meet first second result)
  set(${result} FALSE PARENT_SCOPE)
  foreach(element IN LISTS ${first})
    if(element IN_LIST ${second})
      set(${result} TRUE PARENT_SCOPE)
      return()
    endif()
  endforeach()
endfunction()

# What the headers of a module declare: all names in `functions`, as files that define one of these define overloads of
# it; types and constants in `types`, as a file's own of the same name would be ambiguous beside another file's include.
function(tenex_header_names module functions types)
  file(GLOB_RECURSE headers ${PROJECT_SOURCE_DIR}/include/tenex/${module}/*.hpp
       ${PROJECT_SOURCE_DIR}/src/${module}/*.hpp)
  set(all "")
  set(all_types "")
  foreach(header IN LISTS headers)
    tenex_names_defined(${header} header_names header_types)
    list(APPEND all ${header_names})
    list(APPEND all_types ${header_types})
  endforeach()
  list(REMOVE_DUPLICATES all)
  list(REMOVE_DUPLICATES all_types)
  set(${functions} ${all} PARENT_SCOPE)
  set(${types} ${all_types} PARENT_SCOPE)
endfunction()

# Puts each source of a list into the first unit of `target` where it fits; at most `limit` files are one unit. The
# other two are the lists that the functions above give.
function(tenex_group_sources target source_list header_types module_functions limit)
  set(units 0)
  foreach(source IN LISTS ${source_list})
    tenex_names_defined(${source} names types)
    tenex_lists_meet(types ${header_types} ambiguous)
    if(ambiguous)
      continue()
    endif()
    list(REMOVE_ITEM names ${${module_functions}})
    set(unit 0)
    while(TRUE)
      if(unit EQUAL units)
        math(EXPR units "${units} + 1")
        set(names_${unit} "")
        set(files_${unit} 0)
      endif()
      tenex_lists_meet(names names_${unit} clash)
      if(NOT clash AND files_${unit} LESS limit)
        break()
      endif()
      math(EXPR unit "${unit} + 1")
    endwhile()
    list(APPEND names_${unit} ${names})
    math(EXPR files_${unit} "${files_${unit}} + 1")
    set_source_files_properties(${source} PROPERTIES UNITY_GROUP ${target}_${unit})
  endforeach()
  set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_MODE GROUP)
endfunction()
