# foretell_module(<target> [UNGROUPED] [OWN_PROCESSES] [LONG_LAWS] SOURCES a.cpp … [DEPS target …] [TESTS a_test.cpp …])
#
# One static library per folder, target foretell_<folder>, plus one test executable from the
# tests that stand beside the sources. A folder without sources (headers only) becomes an
# interface library. UNGROUPED: its sources are compiled one by one even with FORETELL_UNITY.
# OWN_PROCESSES: its test cases have processes of their own even with sanitizers. LONG_LAWS: its laws
# simulate for minutes, and are not built with sanitizers. A test file named
# x_test.cpp gets the ctest label `unit`; x_laws_test.cpp, x_golden_test.cpp, x_accuracy_test.cpp and
# x_speed_test.cpp get theirs.
include(GoogleTest)

function(foretell_module target)
  cmake_parse_arguments(ARG "UNGROUPED;OWN_PROCESSES;LONG_LAWS" "" "SOURCES;DEPS;TESTS;TEST_DEPS" ${ARGN})
  if(ARG_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "foretell_module(${target}): unknown arguments ${ARG_UNPARSED_ARGUMENTS}")
  endif()
  if(ARG_SOURCES)
    add_library(${target} STATIC ${ARG_SOURCES})
    if(FORETELL_TIDY)
      set_target_properties(${target} PROPERTIES
        CXX_CLANG_TIDY "clang-tidy;--quiet;--extra-arg=-Wno-unknown-warning-option")
    endif()
    if(FORETELL_UNITY AND NOT ARG_UNGROUPED)
      foretell_group_sources(${target} ${ARG_SOURCES})
    endif()
    target_link_libraries(${target} PUBLIC foretell_options ${ARG_DEPS})
  else()
    add_library(${target} INTERFACE)
    target_link_libraries(${target} INTERFACE foretell_options ${ARG_DEPS})
  endif()
  if(FORETELL_TESTS AND ARG_TESTS)
    set(options)
    foreach(option IN ITEMS UNGROUPED OWN_PROCESSES LONG_LAWS)
      if(ARG_${option})
        list(APPEND options ${option})
      endif()
    endforeach()
    foretell_tests(${target} ${options} TESTS ${ARG_TESTS} DEPS ${target} ${ARG_TEST_DEPS})
  endif()
endfunction()

# Sources of one folder include the same headers, and reading these takes longer than the rest, for the
# compiler and more so for clang-tidy: up to 24 are compiled as one, and not neighbours in the list,
# which tend to use the same names. Names in the anonymous namespaces of a folder have to differ.
function(foretell_group_sources target)
  list(FILTER ARGN INCLUDE REGEX "\\.cpp$")
  set(folders)
  foreach(source IN LISTS ARGN)
    get_filename_component(folder ${source} DIRECTORY)
    string(REPLACE "/" "_" folder "${folder}")
    list(APPEND folders "in_${folder}")
    list(APPEND "in_${folder}" ${source})
  endforeach()
  list(REMOVE_DUPLICATES folders)
  foreach(folder IN LISTS folders)
    list(LENGTH ${folder} count)
    math(EXPR groups "(${count} + 23) / 24")
    set(index 0)
    foreach(source IN LISTS ${folder})
      math(EXPR group "${index} % ${groups}")
      math(EXPR index "${index} + 1")
      set_source_files_properties(${source} PROPERTIES UNITY_GROUP "${folder}${group}")
    endforeach()
  endforeach()
  set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_MODE GROUP)
endfunction()

# Tests are not optimised, what they test is: optimising them takes half of their compile time.
# Tests of speed are, for inline functions of headers are linked from either.
set(foretell_test_options $<$<CONFIG:Release>:-O0>)

# main() of all tests, which owns what they keep.
if(FORETELL_TESTS)
  add_library(foretell_test_main STATIC ${PROJECT_SOURCE_DIR}/model/testing/test_main.cpp)
  target_link_libraries(foretell_test_main PUBLIC foretell_base GTest::gmock)
endif()

# Every test includes GoogleTest's headers, which take longer to parse than most tests: parsed once.
if(FORETELL_TESTS AND FORETELL_PCH)
  add_library(foretell_test_headers OBJECT ${CMAKE_CURRENT_LIST_DIR}/precompiled.cpp)
  target_link_libraries(foretell_test_headers PRIVATE foretell_options GTest::gmock)
  target_compile_options(foretell_test_headers PRIVATE ${foretell_test_options} -fpch-preprocess) # ccache asks for it
  target_precompile_headers(foretell_test_headers PRIVATE <gmock/gmock.h> <gtest/gtest.h>)
endif()

# foretell_tests(<name> TESTS x_test.cpp … DEPS target …): one executable and one ctest entry per
# test case, so that each case has a process (and a SystemC kernel) of its own. With sanitizers, where
# starting a process costs more than most tests, an executable is one entry, and only the tests that run
# with them are built (see the preset).
function(foretell_tests name)
  cmake_parse_arguments(ARG "UNGROUPED;OWN_PROCESSES;LONG_LAWS" "" "TESTS;DEPS" ${ARGN})
  foreach(label IN ITEMS unit laws golden accuracy speed)
    set(files_${label})
  endforeach()
  foreach(file IN LISTS ARG_TESTS)
    if(file MATCHES "_(laws|golden|accuracy|speed)_test\\.cpp$")
      list(APPEND files_${CMAKE_MATCH_1} ${file})
    else()
      list(APPEND files_unit ${file})
    endif()
  endforeach()
  set(labels unit laws golden accuracy speed)
  if(FORETELL_SANITIZE)
    set(labels unit laws)
    if(ARG_LONG_LAWS)
      set(labels unit)
    endif()
  endif()
  foreach(label IN LISTS labels)
    if(files_${label})
      set(test_target ${name}_${label}_tests)
      add_executable(${test_target} ${files_${label}})
      if(FORETELL_UNITY AND NOT ARG_UNGROUPED)
        foretell_group_sources(${test_target} ${files_${label}})
      endif()
      target_link_libraries(${test_target} PRIVATE ${ARG_DEPS} foretell_test_main)
      target_compile_definitions(${test_target} PRIVATE FORETELL_SOURCE_DIR="${PROJECT_SOURCE_DIR}")
      if(NOT label STREQUAL "speed")
        target_compile_options(${test_target} PRIVATE ${foretell_test_options})
        if(FORETELL_PCH)
          target_precompile_headers(${test_target} REUSE_FROM foretell_test_headers)
          target_compile_options(${test_target} PRIVATE -fpch-preprocess)
        endif()
      endif()
      set(properties LABELS ${label} TIMEOUT 300)
      if(label STREQUAL "speed")
        list(APPEND properties RUN_SERIAL ON) # a neighbour on the same core would be measured too
      endif()
      if(FORETELL_SANITIZE AND NOT ARG_OWN_PROCESSES)
        add_test(NAME ${test_target} COMMAND ${test_target} --gtest_brief=1)
        set_tests_properties(${test_target} PROPERTIES ${properties})
      else()
        gtest_discover_tests(${test_target} DISCOVERY_TIMEOUT 60 PROPERTIES ${properties})
      endif()
    endif()
  endforeach()
endfunction()
