# What `cmake --install` copies: the binary with its man page and completions (component `runtime`; its machines,
# workloads and first studies are inside it), headers and libraries of the modules with a CMake package
# (`development`), and the Python reader (`python`, only by name: pip installs it elsewhere). package.cmake makes Debian
# packages of them.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

install(TARGETS tenex EXPORT tenex-targets RUNTIME COMPONENT runtime)

# The man page and completions are printed by the binary, from its table of commands.
set(pages ${CMAKE_CURRENT_BINARY_DIR}/pages)
file(MAKE_DIRECTORY ${pages})
add_custom_command(
  OUTPUT ${pages}/tenex.1 ${pages}/tenex ${pages}/_tenex ${pages}/tenex.fish
  COMMAND tenex manual > ${pages}/tenex.1
  COMMAND tenex completion bash > ${pages}/tenex
  COMMAND tenex completion zsh > ${pages}/_tenex
  COMMAND tenex completion fish > ${pages}/tenex.fish
  DEPENDS tenex
  VERBATIM)
add_custom_target(tenex_manual_pages ALL DEPENDS ${pages}/tenex.1)
install(FILES ${pages}/tenex.1 DESTINATION ${CMAKE_INSTALL_MANDIR}/man1 COMPONENT runtime)
install(FILES ${pages}/tenex DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions COMPONENT runtime)
install(FILES ${pages}/tenex.fish DESTINATION ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d COMPONENT runtime)
install(FILES ${pages}/_tenex DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/vendor-completions COMPONENT runtime)
install(FILES ${PROJECT_SOURCE_DIR}/README.md ${PROJECT_SOURCE_DIR}/CHANGELOG.md
        DESTINATION ${CMAKE_INSTALL_DOCDIR} COMPONENT runtime)
foreach(package runtime development python)
  set(name_runtime tenex)
  set(name_development tenex-dev)
  set(name_python python3-tenex-analysis)
  set(folder ${CMAKE_INSTALL_DATAROOTDIR}/doc/${name_${package}})
  if(package STREQUAL "python")
    set(only_by_name EXCLUDE_FROM_ALL)
  else()
    set(only_by_name "")
  endif()
  install(FILES ${PROJECT_SOURCE_DIR}/LICENSE DESTINATION ${folder} RENAME copyright COMPONENT ${package}
          ${only_by_name})
endforeach()
# The scripts that the program carries for its pages have licences of their own.
if(TENEX_D3_FOUND)
  install(FILES ${CMAKE_CURRENT_BINARY_DIR}/page_libraries/licences.txt
          DESTINATION ${CMAKE_INSTALL_DATAROOTDIR}/doc/tenex RENAME copyright.d3 COMPONENT runtime)
endif()

install(DIRECTORY ${PROJECT_SOURCE_DIR}/include/tenex DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} COMPONENT development
        FILES_MATCHING PATTERN "*.hpp" PATTERN "*.inc")
set(package_folder ${CMAKE_INSTALL_LIBDIR}/cmake/tenex)
foreach(module IN LISTS TENEX_MODULES)
  set_target_properties(tenex_${module} PROPERTIES EXPORT_NAME ${module})
  install(TARGETS tenex_${module} EXPORT tenex-targets ARCHIVE COMPONENT development)
endforeach()
install(EXPORT tenex-targets NAMESPACE tenex:: DESTINATION ${package_folder} COMPONENT development)
set(config ${CMAKE_CURRENT_BINARY_DIR}/tenex-config.cmake)
set(TENEX_FIND_FMT "")
if(fmt_FOUND)
  set(TENEX_FIND_FMT "find_dependency(fmt)")
endif()
configure_package_config_file(tenex-config.cmake.in ${config} INSTALL_DESTINATION ${package_folder})
write_basic_package_version_file(${CMAKE_CURRENT_BINARY_DIR}/tenex-config-version.cmake
                                 COMPATIBILITY SameMinorVersion)
install(FILES ${config} ${CMAKE_CURRENT_BINARY_DIR}/tenex-config-version.cmake DESTINATION ${package_folder}
        COMPONENT development)

install(DIRECTORY ${PROJECT_SOURCE_DIR}/analysis/tenex_analysis DESTINATION lib/python3/dist-packages
        COMPONENT python EXCLUDE_FROM_ALL FILES_MATCHING PATTERN "*.py")

include(package.cmake)
