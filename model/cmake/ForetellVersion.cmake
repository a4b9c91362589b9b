# Target foretell_version: <build>/generated/foretell/version.hpp with the version, the commit and
# the source folder. A build asks git each time, and rewrites the header only if the answer changed.
#
# The same file is the script that does it (cmake -P), so that template and call stay together.
if(CMAKE_SCRIPT_MODE_FILE)
  # safe.directory: a checkout of another owner still has a commit.
  execute_process(
    COMMAND git -c safe.directory=* --no-optional-locks describe --always --dirty --abbrev=12 --exclude=*
    WORKING_DIRECTORY ${SOURCE_DIR} OUTPUT_VARIABLE COMMIT RESULT_VARIABLE status
    OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
  if(NOT status EQUAL 0)
    set(COMMIT unknown)
  endif()
  configure_file(${SOURCE_DIR}/model/cmake/version.hpp.in ${OUTPUT} @ONLY)
  return()
endif()

set(version_header ${PROJECT_BINARY_DIR}/generated/foretell/version.hpp)
add_custom_target(foretell_version_header
  COMMAND ${CMAKE_COMMAND} -DSOURCE_DIR=${PROJECT_SOURCE_DIR} -DOUTPUT=${version_header}
    -DVERSION=${PROJECT_VERSION} -P ${CMAKE_CURRENT_LIST_FILE}
  BYPRODUCTS ${version_header} VERBATIM)
add_library(foretell_version INTERFACE)
target_link_libraries(foretell_version INTERFACE foretell_options)
add_dependencies(foretell_version foretell_version_header)
