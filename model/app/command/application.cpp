#include "model/app/command/application.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <filesystem>
#include <foretell/version.hpp>
#include <new>
#include <string>
#include <string_view>
#include <vector>

#include "model/app/command/calibrate/calibrate_command.hpp"
#include "model/app/command/commands.hpp"
#include "model/app/command/report/report_command.hpp"
#include "model/app/terminal/output.hpp"
#include "model/base/errors.hpp"
#include "model/base/kept_inputs.hpp"
#include "model/base/text.hpp"

namespace foretell {
namespace {

// What options of this program are called by other programs of the field.
struct OtherNames {
  std::string_view option;
  std::vector<std::string_view> elsewhere;
};

// An option that stands earlier is preferred where a command has several.
const std::vector<OtherNames>& other_names() {
  static const std::vector<OtherNames> kNames = {
      {"--workload", {"--model", "--model-path", "--model-id", "--network", "--config"}},
      {"--on", {"--system", "--device", "--gpu", "--instance", "--instance-type", "--hardware"}},
      {"--dtype", {"--precision", "--quantization", "--data-type", "--quant"}},
      {"--input-len",
       {"--isl", "--prompt", "--prompt-len", "--prompt-tokens", "--input-length", "--input-tokens",
        "--random-input-len"}},
      {"--output-len",
       {"--osl", "--generate", "--gen-len", "--output-length", "--output-tokens",
        "--max-new-tokens", "--random-output-len", "--decode-len"}},
      {"--batch", {"--batch-size", "--bs"}},
      {"--max-batch",
       {"--max-num-seqs", "--max-running-requests", "--max-batch-size", "--batch-size", "--batch",
        "--bs"}},
      {"--seq", {"--seq-len", "--sequence", "--sequence-length", "--seqlen", "--tokens"}},
      {"--context", {"--max-model-len", "--max-seq-len", "--context-length", "--max-context-len"}},
      {"--tp", {"--tensor-parallel-size", "--tp-size", "--tensor-parallel"}},
      {"--pp", {"--pipeline-parallel-size", "--pp-size", "--pipeline-parallel"}},
      {"--ep", {"--expert-parallel-size", "--ep-size", "--enable-expert-parallel"}},
      {"--dp", {"--data-parallel-size", "--dp-size", "--replicas", "--copies"}},
      {"--cp", {"--context-parallel-size", "--cp-size", "--sequence-parallel-size", "--sp-size"}},
      {"--ring", {"--ring-degree", "--ring-size"}},
      {"--kv-dtype", {"--kv-cache-dtype", "--kv-type"}},
      {"--kv-fraction",
       {"--gpu-memory-utilization", "--mem-fraction-static", "--free-gpu-memory-fraction"}},
      {"--max-tokens",
       {"--max-num-batched-tokens", "--max-num-tokens", "--chunked-prefill-size",
        "--max-prefill-tokens"}},
      {"--rate", {"--request-rate", "--qps", "--rps"}},
      {"--requests", {"--num-prompts", "--num-requests"}},
      {"--concurrency", {"--max-concurrency", "--users", "--clients"}},
      {"--slo", {"--sla", "--goodput", "--promise"}},
      {"--power-limit", {"--tdp", "--power-cap", "--power"}},
      {"--engine", {"--backend", "--framework", "--server"}},
      {"--library", {"--backend", "--framework"}},
      {"--image-size", {"--resolution", "--height"}},
  };
  return kNames;
}

// The option out of `known` that other programs call `name`, "--input-len" for "--isl"; empty
// where there is none. Names are those of the documented command lines of serving engines and
// their benchmarks, and the words of the field.
std::string known_elsewhere(std::string_view name, const std::vector<std::string>& known) {
  for (const OtherNames& one : other_names()) {
    if (std::find(one.elsewhere.begin(), one.elsewhere.end(), name) == one.elsewhere.end()) {
      continue;
    }
    if (std::find(known.begin(), known.end(), one.option) != known.end()) {
      return std::string(one.option);
    }
  }
  return "";
}

constexpr const char* kFooter =
    "Examples:\n"
    "  foretell run --on inf2.xlarge --workload bert-large-uncased --batch 8 --seq 128 "
    "--dtype bf16-matmul\n"
    "  foretell compare --on inf2.xlarge,inf2.8xlarge --workload bert-base-uncased --seq 128 "
    "--dtype bf16,fp32\n"
    "  foretell validate measured.csv --by workload\n"
    "  foretell show inf2.xlarge\n"
    "\n"
    "`foretell COMMAND --help` explains a command. Exit codes: 0 good, 1 outside tolerance or "
    "some\n"
    "rows failed, 2 your input, 3 our bug.";

void print_error(const Session& session, const std::string& message) {
  *session.messages << "foretell: " << with_short_words(message) << '\n';
}

// The command that was named on the command line, or the program itself.
const CLI::App& innermost(const CLI::App& app) {
  const auto called = app.get_subcommands();
  return called.empty() ? app : innermost(*called.front());
}

// "calibrate import " for that command, nothing for the program itself.
std::string command_words(const CLI::App& app) {
  const auto called = app.get_subcommands();
  return called.empty() ? "" : called.front()->get_name() + " " + command_words(*called.front());
}

// "foretell calibrate" for `foretell calibrate import`.
std::string words_before(const CLI::App& command) {
  const CLI::App* parent = command.get_parent();
  if (parent == nullptr) return "";
  const std::string before = words_before(*parent);
  return before.empty() ? parent->get_name() : before + " " + parent->get_name();
}

// Those of the command and of what it is a command of, each once: every command has a --help.
std::vector<std::string> option_names(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::App* level = &app; level != nullptr; level = level->get_parent()) {
    for (const CLI::Option* option : level->get_options()) {
      for (const std::string& name : option->get_lnames()) {
        if (std::find(names.begin(), names.end(), "--" + name) == names.end())
          names.push_back("--" + name);
      }
    }
  }
  return names;
}

std::vector<std::string> command_names(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::App* command : app.get_subcommands([](const CLI::App*) { return true; })) {
    names.push_back(command->get_name());
  }
  return names;
}

// " (run and compare take it)" for an option of other commands; nothing where none has it.
std::string takers(const CLI::App& app, const std::string& option) {
  constexpr std::size_t kShown = 3;
  std::vector<std::string> commands;
  for (const CLI::App* command : app.get_subcommands([](const CLI::App*) { return true; })) {
    const std::vector<std::string> known = option_names(*command);
    if (std::find(known.begin(), known.end(), option) == known.end()) continue;
    if (commands.size() == kShown) break;
    commands.push_back(command->get_name());
  }
  if (commands.empty()) return "";
  const bool one = commands.size() == 1;
  return " (" + join(commands, ", ") + (one ? " takes it)" : " take it)");
}

// What the command line parser complains about, in the words of the other messages.
std::string explain_parse_error(const CLI::App& app, const CLI::ParseError& error) {
  const CLI::App& command = innermost(app);
  const std::vector<std::string> rest = app.remaining(true);
  if (dynamic_cast<const CLI::ExtrasError*>(&error) != nullptr && !rest.empty()) {
    const std::string name = rest.front().substr(0, rest.front().find('='));
    if (name.size() > 1 && name.front() == '-') {
      const std::vector<std::string> known = option_names(command);
      const std::string here = known_elsewhere(name, known);
      if (!here.empty()) return "unknown option '" + name + "'; here it is '" + here + "'";
      std::string message = unknown_name("option", name, known).what();
      return message.insert(message.find(name) + name.size() + 1, takers(app, name));
    }
    if (&command == &app) return unknown_name("command", name, command_names(app)).what();
    const std::vector<std::string> known = option_names(command);
    const bool has_system = std::find(known.begin(), known.end(), "--on") != known.end();
    return "unexpected argument '" + name + "'" +
           (has_system ? "; a system is named with --on, a network with --workload" : "");
  }
  const std::string text = error.what();
  const std::size_t repeated = text.find(": At Most 1 required");
  if (repeated != std::string::npos) {
    return text.substr(0, repeated) +
           ": is given more than once; give it once, and where it takes several values, those with "
           "commas between them";
  }
  return error.what();
}

// UserError for `--dtype ""`: a variable of a script that is not set, and no way to leave it out.
void refuse_empty_values(const CLI::App& command) {
  for (const CLI::Option* option : command.get_options()) {
    for (const std::string& value : option->results()) {
      if (!value.empty()) continue;
      const std::string name = option->get_name();
      throw UserError(name + ": the value is empty; give one, or leave " + name + " out");
    }
  }
  for (const CLI::App* called : command.get_subcommands()) refuse_empty_values(*called);
}

// `foretell help run` and `foretell version`, as people type them.
void spell_as_options(std::vector<std::string>& arguments) {
  if (arguments.empty()) return;
  if (arguments.front() == "version") arguments.front() = "--version";
  if (arguments.front() != "help") return;
  arguments.erase(arguments.begin());
  arguments.emplace_back("--help");
}

int parse_and_run(CLI::App& app, std::vector<std::string> arguments, Session& session) {
  spell_as_options(arguments);
  std::reverse(arguments.begin(), arguments.end());  // as the parser takes them
  try {
    app.parse(std::move(arguments));
  } catch (const CLI::CallForHelp&) {
    const CLI::App& command = innermost(app);
    const std::vector<std::string> rest = app.remaining(true);
    if (&command == &app && !rest.empty() && rest.front().rfind('-', 0) != 0) {
      print_error(session, unknown_name("command", rest.front(), command_names(app)).what());
      return kUserMistake;
    }
    write_text("-", &command == &app ? app.help() : command.help(words_before(command)));
    return kSuccess;
  } catch (const CLI::CallForVersion& version) {
    write_text("-", std::string(version.what()) + "\n");
    return kSuccess;
  } catch (const CLI::ParseError& error) {
    print_error(session, explain_parse_error(app, error));
    *session.messages << "`foretell " << command_words(app) << "--help` shows what can be given.\n";
    return kUserMistake;
  }
  refuse_empty_values(app);
  if (!session.action) {
    *session.messages << app.help();
    return kUserMistake;
  }
  return session.action();
}

}  // namespace

void add_commands(CLI::App& app, Session& session) {
  app.set_help_flag("-h,--help", "explain the program or a command");
  app.set_version_flag("--version",
                       "foretell " + std::string(kVersion) + " (" + std::string(kCommit) + ")",
                       "print the version and the commit");
  app.add_flag("-q,--quiet", session.quiet, "no messages but errors");
  app.add_flag("-v,--verbose", session.verbose, "more messages");
  app.footer(kFooter);
  app.fallthrough();
  app.require_subcommand(0, 1);
  add_run_command(app, session);
  add_compare_command(app, session);
  add_explain_command(app, session);
  add_serve_command(app, session);
  add_plan_command(app, session);
  add_explore_command(app, session);
  add_predict_command(app, session);
  add_validate_command(app, session);
  add_sweep_command(app, session);
  add_report_command(app, session);
  add_diff_command(app, session);
  add_calibrate_command(app, session);
  add_list_command(app, session);
  add_show_command(app, session);
  add_import_command(app, session);
  add_completion_command(app, session);
}

int run_application(std::vector<std::string> arguments, Session& session) {
  const Kept kept;
  try {
    CLI::App app{"Foretell predicts latency, throughput and cost of neural network inference.",
                 "foretell"};
    add_commands(app, session);
    return parse_and_run(app, std::move(arguments), session);
  } catch (const UserError& error) {
    print_error(session, error.what());
    return kUserMistake;
  } catch (const std::bad_alloc&) {
    print_error(session,
                "not enough memory; raise the limit (`ulimit -v`), use fewer processes (--jobs 1), "
                "or ask for a smaller workload");
    return kUserMistake;
  } catch (const std::filesystem::filesystem_error& error) {
    const std::string file = error.path1().string();
    print_error(session, (file.empty() ? "" : file + ": ") + error.code().message());
    return kUserMistake;
  } catch (const std::exception& error) {
    print_error(session, std::string("internal error: ") + error.what() +
                             "\nThis is a bug of foretell; please report it with the command.");
    return kOurMistake;
  }
}

}  // namespace foretell
