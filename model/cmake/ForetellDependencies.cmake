# Third-party libraries, all Debian packages. Nothing is downloaded at configure time.
find_package(PkgConfig REQUIRED)
find_package(yaml-cpp REQUIRED)
find_package(nlohmann_json REQUIRED)
find_package(CLI11 REQUIRED)
find_package(fmt REQUIRED)
find_package(SQLiteCpp REQUIRED)
find_package(ZLIB REQUIRED)
find_package(Threads REQUIRED)
find_package(Boost 1.74 REQUIRED)
find_package(benchmark REQUIRED)

# NSGA-II for searches. SYSTEM: its headers are not ours to warn about.
find_library(FORETELL_PAGMO pagmo REQUIRED)
find_path(FORETELL_PAGMO_INCLUDE pagmo/problem.hpp REQUIRED)
find_package(TBB REQUIRED)
find_package(Boost 1.74 REQUIRED COMPONENTS serialization)
add_library(foretell_pagmo INTERFACE)
target_include_directories(foretell_pagmo SYSTEM INTERFACE ${FORETELL_PAGMO_INCLUDE})
target_link_libraries(foretell_pagmo INTERFACE ${FORETELL_PAGMO} Boost::serialization TBB::tbb)

# For sweeps over several machines; without it the program is built for one.
find_package(MPI QUIET COMPONENTS CXX)
find_package(Boost 1.74 QUIET OPTIONAL_COMPONENTS mpi serialization)
set(FORETELL_MPI FALSE)
if(MPI_CXX_FOUND AND Boost_MPI_FOUND AND Boost_SERIALIZATION_FOUND)
  set(FORETELL_MPI TRUE)
  add_library(foretell_mpi INTERFACE)
  target_link_libraries(foretell_mpi INTERFACE Boost::mpi Boost::serialization MPI::MPI_CXX)
endif()

# Debian ships NLopt's C++ interface as a library of its own; its CMake package names the C one.
find_library(FORETELL_NLOPT_CXX nlopt_cxx REQUIRED)
find_path(FORETELL_NLOPT_INCLUDE nlopt.hpp REQUIRED)
add_library(foretell_nlopt INTERFACE)
target_include_directories(foretell_nlopt SYSTEM INTERFACE ${FORETELL_NLOPT_INCLUDE})
target_link_libraries(foretell_nlopt INTERFACE ${FORETELL_NLOPT_CXX})

# oneDNN is what CPUs are measured with; without it, that program alone is left out. Debian's CMake
# package of it asks for OpenCL, which its CPU kernels do not need.
find_library(FORETELL_DNNL dnnl)
find_path(FORETELL_DNNL_INCLUDE oneapi/dnnl/dnnl.hpp)
find_package(OpenMP QUIET COMPONENTS CXX)
if(FORETELL_DNNL AND FORETELL_DNNL_INCLUDE AND OpenMP_CXX_FOUND)
  set(FORETELL_ONEDNN ON)
  add_library(foretell_onednn INTERFACE)
  target_include_directories(foretell_onednn SYSTEM INTERFACE ${FORETELL_DNNL_INCLUDE})
  target_link_libraries(foretell_onednn INTERFACE ${FORETELL_DNNL} OpenMP::OpenMP_CXX)
else()
  set(FORETELL_ONEDNN OFF)
  message(STATUS "oneDNN is not here: building without the program that measures CPUs")
endif()

# Debian's SystemC has no CMake package. SYSTEM: its headers are not ours to warn about.
pkg_check_modules(systemc REQUIRED systemc)
add_library(foretell_systemc INTERFACE)
target_include_directories(foretell_systemc SYSTEM INTERFACE ${systemc_INCLUDE_DIRS})
target_compile_definitions(foretell_systemc INTERFACE SC_ALLOW_DEPRECATED_IEEE_API SC_INCLUDE_DYNAMIC_PROCESSES)
target_link_libraries(foretell_systemc INTERFACE ${systemc_LINK_LIBRARIES} Threads::Threads)

# The ONNX format and the shape rules of its operators. Debian's CMake package wants the static
# libraries of optional parts, too.
find_package(Protobuf REQUIRED)
find_library(FORETELL_ONNX onnx REQUIRED)
find_library(FORETELL_ONNX_PROTO onnx_proto REQUIRED)
find_path(FORETELL_ONNX_INCLUDE onnx/onnx_pb.h REQUIRED)
add_library(foretell_onnx INTERFACE)
target_include_directories(foretell_onnx SYSTEM INTERFACE ${FORETELL_ONNX_INCLUDE})
target_compile_definitions(foretell_onnx INTERFACE ONNX_NAMESPACE=onnx ONNX_ML=1)
target_link_libraries(foretell_onnx INTERFACE ${FORETELL_ONNX} ${FORETELL_ONNX_PROTO} protobuf::libprotobuf)

pkg_check_modules(re2 REQUIRED IMPORTED_TARGET re2)

if(FORETELL_TESTS)
  find_package(GTest REQUIRED)
endif()
