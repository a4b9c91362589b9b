// The message of the error that a function throws, so that tests can say what it must contain.
#pragma once

#include <string>

namespace foretell {

template <class Error, class Function>
std::string message_of(Function function) {
  try {
    function();
  } catch (const Error& error) {
    return error.what();
  }
  return "(no error)";
}

}  // namespace foretell
