// Options of commands, a call each.
#pragma once

#include <CLI/CLI.hpp>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "model/app/terminal/session.hpp"

namespace foretell {

// `type`: what help calls the value.
template <class T>
CLI::Option* add_option(CLI::App& command, const std::string& names, T& value,
                        const std::string& type, const std::string& help) {
  return command.add_option(names, value, help)->type_name(type);
}

// Takes one value each time that it is given.
inline CLI::Option* add_repeated_option(CLI::App& command, const std::string& names,
                                        std::vector<std::string>& values, const std::string& type,
                                        const std::string& help) {
  return add_option(command, names, values, type, help)->allow_extra_args(false)->take_all();
}

// What the session does once the whole line is read, if it is of this command.
inline void set_action(CLI::App& command, Session& session, std::function<int()> action) {
  command.callback([&session, action = std::move(action)] { session.action = action; });
}

}  // namespace foretell
