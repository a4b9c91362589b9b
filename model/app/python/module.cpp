// The native part of the Python module `foretell`: words in, text out. What Python users see is
// foretell/__init__.py.
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include "model/app/api/foretell.hpp"

namespace py = pybind11;

PYBIND11_MODULE(_native, module) {
  module.doc() = "The commands of foretell in this process.";
  module.def(
      "command",
      [](std::vector<std::string> arguments, bool shows_progress) {
        foretell::api::Answer answer;
        {
          const py::gil_scoped_release others_run;
          answer = foretell::api::command(std::move(arguments), shows_progress);
        }
        return py::make_tuple(answer.code, answer.result, answer.messages);
      },
      py::arg("arguments"), py::arg("shows_progress") = false,
      "Runs one command; (exit code, standard output, messages). Other threads go on meanwhile.");
  module.def("version", &foretell::api::version);
}
