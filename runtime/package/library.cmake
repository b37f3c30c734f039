# The product: one shared library made of every row but the program's, in which only Shoal's own names are visible.
include(CMakePackageConfigHelpers)
include(GNUInstallDirs)

# Public headers are those directly in a row's folder. What lies in a backend's folder stays inside.
set(shoal_public_folders runtime/base runtime/device runtime/tensor runtime/fsdp runtime/train
                         kernels collectives nn nn/models optim)

get_property(rows GLOBAL PROPERTY shoal_rows)
get_property(private_links GLOBAL PROPERTY shoal_private_links)
list(REMOVE_DUPLICATES private_links)

add_library(shoal SHARED ${isa_objects})
add_library(shoal::shoal ALIAS shoal)
foreach(row ${rows})
  target_sources(shoal PRIVATE $<TARGET_OBJECTS:${row}>)
endforeach()
set_target_properties(shoal PROPERTIES
  LINKER_LANGUAGE CXX VERSION ${PROJECT_VERSION} SOVERSION ${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR}
  LINK_DEPENDS ${CMAKE_CURRENT_LIST_DIR}/symbols.map)
target_compile_features(shoal PUBLIC cxx_std_20)
target_include_directories(shoal PUBLIC
  $<BUILD_INTERFACE:${CMAKE_CURRENT_BINARY_DIR}/include> $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
target_link_libraries(shoal PUBLIC Threads::Threads PRIVATE $<BUILD_INTERFACE:shoal_flags> ${private_links})
target_link_options(shoal PRIVATE LINKER:--version-script=${CMAKE_CURRENT_LIST_DIR}/symbols.map)
if(NOT SHOAL_SANITIZER)
  target_link_options(shoal PRIVATE LINKER:--no-undefined)
endif()

if(NOT SHOAL_INSTALL)
  return()
endif()

foreach(folder ${shoal_public_folders})
  file(GLOB headers CONFIGURE_DEPENDS ${folder}/*.h)
  install(FILES ${headers} DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/shoal/${folder})
endforeach()

set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/shoal)
install(TARGETS shoal EXPORT shoal-targets LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(EXPORT shoal-targets NAMESPACE shoal:: DESTINATION ${package_dir})
configure_package_config_file(${CMAKE_CURRENT_LIST_DIR}/shoal-config.cmake.in
  ${CMAKE_CURRENT_BINARY_DIR}/shoal-config.cmake INSTALL_DESTINATION ${package_dir})
write_basic_package_version_file(${CMAKE_CURRENT_BINARY_DIR}/shoal-config-version.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/shoal-config.cmake ${CMAKE_CURRENT_BINARY_DIR}/shoal-config-version.cmake
  DESTINATION ${package_dir})
