# Install and export: find_package(mha-configurator) gives mha::configurator and the libraries it is made of.
include(CMakePackageConfigHelpers)

option(MHA_INSTALL "Generate the install target" ${PROJECT_IS_TOP_LEVEL})
if(NOT MHA_INSTALL)
  return()
endif()

install(TARGETS mha-configurator RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
install(TARGETS mha_core mha_rules mha_readers mha_report mha_kernel mha_configurator
        EXPORT mha-configurator-targets
        ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(DIRECTORY lib/include/mha DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} FILES_MATCHING PATTERN "*.hpp")

set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/mha-configurator)
install(EXPORT mha-configurator-targets NAMESPACE mha:: DESTINATION ${package_dir})
file(CONFIGURE
     OUTPUT ${CMAKE_CURRENT_BINARY_DIR}/mha-configurator-config.cmake
     CONTENT "include(CMakeFindDependencyMacro)
find_dependency(yaml-cpp)
include(\"\${CMAKE_CURRENT_LIST_DIR}/mha-configurator-targets.cmake\")
"
     @ONLY)
write_basic_package_version_file(${CMAKE_CURRENT_BINARY_DIR}/mha-configurator-config-version.cmake
                                 COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/mha-configurator-config.cmake
              ${CMAKE_CURRENT_BINARY_DIR}/mha-configurator-config-version.cmake
        DESTINATION ${package_dir})
