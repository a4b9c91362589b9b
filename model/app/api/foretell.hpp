// The programming interface of Foretell: requests in, records out. It is the command line without a
// process: the same words, the same results, the same messages. Installed as
// <foretell/foretell.hpp>; needs nothing but the standard library, link with `pkg-config --libs
// foretell` or foretell::foretell.
//
//   const std::string record =
//       foretell::api::result({"run", "--on", "inf2.xlarge", "--workload", "gpt2", "--seq",
//       "128"});
#pragma once

#include <functional>
#include <stdexcept>
#include <string>
#include <vector>

namespace foretell::api {

// What is wrong and what to type instead, as the command line says it.
class Error : public std::runtime_error {
 public:
  Error(int code, const std::string& message) : std::runtime_error(message), code_(code) {}
  int code() const { return code_; }  // 2: the input, 3: a bug of Foretell

 private:
  int code_;
};

struct Answer {
  int code = 0;          // 0 good, 1 outside tolerance or some rows failed, 2 the input, 3 our bug
  std::string result;    // what the command would have written to standard output
  std::string messages;  // … and to standard error
};

// Runs a command that has -o (all but completion): `arguments` as after the word foretell, without
// -o. Never throws for what a user can get wrong: see the code. One command runs at a time in a
// process, others wait; commands with --jobs above 1 fork workers.
Answer command(std::vector<std::string> arguments);

// The same; Error in place of codes 2 and 3. `messages`, where given, takes those of codes 0 and 1.
std::string result(std::vector<std::string> arguments, std::string* messages = nullptr);

std::string version();  // "0.1.0 (commit)"

}  // namespace foretell::api
