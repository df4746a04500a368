# `cpack -G DEB` in a build folder: tenex (the program), tenex-dev (headers, libraries, CMake package) and
# python3-tenex-analysis (the Python reader). dpkg-shlibdeps finds the libraries that the program needs.
set(CPACK_PACKAGE_NAME tenex)
set(CPACK_PACKAGE_VENDOR "tenex")
set(CPACK_PACKAGE_CONTACT "The tenex authors")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "${PROJECT_DESCRIPTION}")
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_GENERATOR DEB)
set(CPACK_COMPONENTS_ALL runtime development python)

set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION science)
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)

set(CPACK_DEBIAN_RUNTIME_PACKAGE_NAME tenex)
set(CPACK_COMPONENT_RUNTIME_DESCRIPTION
    "tenex synthesizes and simulates collective algorithms for machine-learning clusters,
verifies every schedule and compares its time with a proven lower bound. A study is
one TOML file, and its result one HDF5 file.")
set(CPACK_DEBIAN_RUNTIME_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_RUNTIME_PACKAGE_RECOMMENDS "openmpi-bin, python3-tenex-analysis")

set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_NAME tenex-dev)
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_SECTION libdevel)
set(CPACK_COMPONENT_DEVELOPMENT_DESCRIPTION "Headers and libraries of tenex, and its CMake package.")
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_DEPENDS
    "tenex (= ${PROJECT_VERSION}), libopenmpi-dev, libhdf5-dev, zlib1g-dev, libfmt-dev, libxxhash-dev, \
libtomlplusplus-dev, libpugixml-dev, libyaml-cpp-dev")
if(clp_FOUND)
  string(APPEND CPACK_DEBIAN_DEVELOPMENT_PACKAGE_DEPENDS ", coinor-libclp-dev")
endif()
if(TENEX_SOLVERS_FOUND)
  string(APPEND CPACK_DEBIAN_DEVELOPMENT_PACKAGE_DEPENDS ", coinor-libcbc-dev, libz3-dev")
endif()

set(CPACK_DEBIAN_PYTHON_PACKAGE_NAME python3-tenex-analysis)
set(CPACK_DEBIAN_PYTHON_PACKAGE_ARCHITECTURE all)
set(CPACK_DEBIAN_PYTHON_PACKAGE_SECTION python)
set(CPACK_COMPONENT_PYTHON_DESCRIPTION "Reads the results of tenex into xarray and pandas.")
set(CPACK_DEBIAN_PYTHON_PACKAGE_DEPENDS
    "python3, python3-h5py, python3-h5netcdf, python3-xarray, python3-pandas")
set(CPACK_DEBIAN_PYTHON_PACKAGE_RECOMMENDS "python3-matplotlib")
include(CPack)
