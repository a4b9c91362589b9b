# cmake --install, cpack: programs, data, manual pages, completion, library, Python module. Nothing in
# it names a place: data is found beside the program (model/base/data_root.hpp).
set(install_parts ${CMAKE_CURRENT_LIST_DIR}/install)

foreach(program IN ITEMS foretell foretell-mpi foretell_measure_cpu)
  if(TARGET ${program})
    install(TARGETS ${program} RUNTIME DESTINATION bin)
  endif()
endforeach()

# Loaded by those and by the library, whose run path names this folder.
install(TARGETS foretell_nsga2 LIBRARY DESTINATION lib/foretell)

# Everything that is read at run time, as it lies in the source tree.
set(data_root share/foretell)
install(DIRECTORY hw/ DESTINATION ${data_root}/hw FILES_MATCHING PATTERN *.yaml PATTERN spec EXCLUDE)
foreach(folder IN ITEMS workloads/models workloads/examples workloads/programs workloads/scenarios
    calib/factors calib/data reports/gallery)
  install(DIRECTORY ${folder}/ DESTINATION ${data_root}/${folder}
    PATTERN *.cpp EXCLUDE PATTERN *.hpp EXCLUDE PATTERN CMakeLists.txt EXCLUDE)
endforeach()
foreach(folder IN ITEMS calib/fit calib/validate workloads/import)
  install(DIRECTORY ${folder}/ DESTINATION ${data_root}/${folder}
    FILES_MATCHING PATTERN *.yaml PATTERN *.csv PATTERN testing EXCLUDE)
endforeach()

# Manual pages and completion are what the program says of itself.
set(manuals ${PROJECT_BINARY_DIR}/manuals)
add_custom_command(OUTPUT ${manuals}/foretell.1
  COMMAND ${install_parts}/manuals.sh $<TARGET_FILE:foretell> ${manuals} ${PROJECT_VERSION}
  DEPENDS foretell ${install_parts}/manuals.sh VERBATIM)
add_custom_target(foretell_manuals DEPENDS ${manuals}/foretell.1)
install(CODE "execute_process(COMMAND ${install_parts}/manuals.sh $<TARGET_FILE:foretell> ${manuals}
  ${PROJECT_VERSION} COMMAND_ERROR_IS_FATAL ANY)")
install(DIRECTORY ${manuals}/ DESTINATION share/man/man1 FILES_MATCHING PATTERN *.1)
install(FILES ${manuals}/foretell.bash RENAME foretell DESTINATION share/bash-completion/completions)
install(FILES ${manuals}/foretell.zsh RENAME _foretell DESTINATION share/zsh/site-functions)
install(FILES ${manuals}/foretell.fish DESTINATION share/fish/vendor_completions.d)
install(FILES README.md LICENSE CHANGELOG.md DESTINATION share/doc/foretell)

if(FORETELL_LIBRARY)
  include(CMakePackageConfigHelpers)
  install(TARGETS libforetell EXPORT foretell LIBRARY DESTINATION lib)
  install(FILES model/app/api/foretell.hpp DESTINATION include/foretell)
  install(EXPORT foretell NAMESPACE foretell:: FILE foretell-config.cmake DESTINATION lib/cmake/foretell)
  write_basic_package_version_file(${PROJECT_BINARY_DIR}/foretell-config-version.cmake
    COMPATIBILITY SameMinorVersion)
  install(FILES ${PROJECT_BINARY_DIR}/foretell-config-version.cmake DESTINATION lib/cmake/foretell)
  configure_file(${install_parts}/foretell.pc.in ${PROJECT_BINARY_DIR}/foretell.pc @ONLY)
  install(FILES ${PROJECT_BINARY_DIR}/foretell.pc DESTINATION lib/pkgconfig)
endif()

# Packed is what quickstart builds; the tests are no part of it.
set(CMAKE_SKIP_INSTALL_ALL_DEPENDENCY ON)
set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME foretell)
set(CPACK_PACKAGE_CONTACT "The authors of Foretell <foretell@localhost>")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "${PROJECT_DESCRIPTION}")
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS_PRIVATE_DIRS ${PROJECT_BINARY_DIR})
set(CPACK_DEBIAN_PACKAGE_RECOMMENDS "openmpi-bin")
set(CPACK_DEBIAN_PACKAGE_SUGGESTS "python3, python3-pandas")
set(CPACK_DEBIAN_PACKAGE_SECTION science)
set(CPACK_STRIP_FILES ON)
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
include(CPack)

if(FORETELL_TESTS)
  add_test(NAME install.runs_with_the_source_moved_away COMMAND ${install_parts}/install_test.sh
    ${CMAKE_COMMAND} ${PROJECT_BINARY_DIR} ${PROJECT_SOURCE_DIR})
  set_tests_properties(install.runs_with_the_source_moved_away PROPERTIES LABELS slow TIMEOUT 600
    SKIP_RETURN_CODE 77)
endif()
