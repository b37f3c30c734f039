# L7: the program. The JSON and command-line libraries stay in here.
find_package(CLI11 REQUIRED)
find_package(nlohmann_json REQUIRED)
configure_file(runtime/tools/versions.h.in ${CMAKE_CURRENT_BINARY_DIR}/generated/shoal_build/versions.h @ONLY)
shoal_row(shoal_tools runtime FOLDERS tools LINKS shoal_train
          PRIVATE_LINKS fmt::fmt CLI11::CLI11 nlohmann_json::nlohmann_json)
if(SHOAL_SANITIZER)
  # Two thirds of the build would go into other people's templates.
  set_source_files_properties(runtime/tools/command_line.cpp PROPERTIES
    COMPILE_OPTIONS "-O0;-fno-sanitize=all" SKIP_PRECOMPILE_HEADERS ON)
endif()
target_include_directories(shoal_tools PRIVATE ${CMAKE_CURRENT_BINARY_DIR}/generated)
add_executable(shoal_program runtime/tools/main/main.cpp)
set_target_properties(shoal_program PROPERTIES OUTPUT_NAME shoal)
target_link_libraries(shoal_program PRIVATE shoal_tools shoal_flags)
