#include <CLI/CLI.hpp>
#include <memory>

#include "model/app/command/commands.hpp"
#include "model/app/terminal/output.hpp"
#include "model/base/errors.hpp"
#include "model/base/text.hpp"

namespace foretell {
namespace {

constexpr const char* kScriptStart =
    R"bash(# bash completion of foretell: source <(foretell completion bash)
_foretell() {
  local word="${COMP_WORDS[COMP_CWORD]}" before="${COMP_WORDS[COMP_CWORD-1]}" kind=""
  case "$before" in
    --on) kind=systems ;;
    --workload) kind=workloads ;;
    --dtype) kind=dtypes ;;
    show) kind="systems workloads" ;;
    list) COMPREPLY=($(compgen -W "systems devices workloads architectures dtypes operators factors options metrics" -- "$word")); return ;;
    --format) COMPREPLY=($(compgen -W "table json csv md tsv" -- "$word")); return ;;
    --factors|--trace|--store|-o|--output|predict|validate|report|diff) COMPREPLY=($(compgen -f -- "$word")); return ;;
  esac
  if [[ -n "$kind" ]]; then
    local names="" k
    for k in $kind; do
      names+=" $("${COMP_WORDS[0]}" list "$k" --format csv 2>/dev/null | tail -n +2 | cut -d, -f1)"
    done
    COMPREPLY=($(compgen -W "$names" -- "$word"))
    return
  fi
  case "${COMP_WORDS[1]}" in
)bash";

constexpr const char* kScriptEnd = R"bash(  esac
}
complete -o default -F _foretell foretell
)bash";

// But those that no help shows.
std::vector<const CLI::Option*> shown_options(const CLI::App& command) {
  return command.get_options([](const CLI::Option* one) { return !one->get_group().empty(); });
}

std::string option_words(const CLI::App& command) {
  std::vector<std::string> words;
  for (const CLI::Option* option : shown_options(command)) {
    for (const std::string& name : option->get_lnames()) words.push_back("--" + name);
  }
  return join(words, " ");
}

// Written from the commands themselves, so that it cannot become out of date.
std::string bash_script(const CLI::App& app) {
  std::string script = kScriptStart;
  std::vector<std::string> names;
  for (const CLI::App* command : app.get_subcommands([](const CLI::App*) { return true; })) {
    names.push_back(command->get_name());
    script += "    " + command->get_name() + ") COMPREPLY=($(compgen -W \"" +
              option_words(*command) + " --quiet --verbose\" -- \"$word\")) ;;\n";
  }
  script += "    *) COMPREPLY=($(compgen -W \"" + join(names, " ") +
            " --help --version\" -- \"$word\")) ;;\n";
  return script + kScriptEnd;
}

// zsh runs completion functions of bash itself.
constexpr const char* kZshStart =
    "# zsh completion of foretell: source <(foretell completion zsh)\n"
    "autoload -Uz +X compinit && compinit\n"
    "autoload -Uz +X bashcompinit && bashcompinit\n";

constexpr const char* kFishStart =
    R"fish(# fish completion of foretell: foretell completion fish | source
function __foretell_names
  for kind in $argv
    foretell list $kind --format csv 2>/dev/null | tail -n +2 | string split -f1 ,
  end
end
complete -c foretell -l on -x -a '(__foretell_names systems)'
complete -c foretell -l workload -r -a '(__foretell_names workloads)'
complete -c foretell -l dtype -x -a '(__foretell_names dtypes)'
complete -c foretell -l format -x -a 'table json csv'
complete -c foretell -n '__fish_seen_subcommand_from show' -a '(__foretell_names systems workloads)'
complete -c foretell -n '__fish_seen_subcommand_from list' -f -a 'systems devices workloads dtypes operators factors options metrics'
)fish";

std::string in_fish_quotes(const std::string& text) {
  std::string quoted = "'";
  for (const char c : text) {
    if (c == '\'' || c == '\\') quoted += '\\';
    quoted += c;
  }
  return quoted + "'";
}

std::string fish_script(const CLI::App& app) {
  std::string script = kFishStart;
  for (const CLI::App* command : app.get_subcommands([](const CLI::App*) { return true; })) {
    const std::string name = command->get_name();
    script += "complete -c foretell -n __fish_use_subcommand -f -a " + name + " -d " +
              in_fish_quotes(command->get_description()) + "\n";
    for (const CLI::Option* option : shown_options(*command)) {
      const bool takes_value = option->get_items_expected_max() > 0;
      for (const std::string& word : option->get_lnames()) {
        script += "complete -c foretell -n '__fish_seen_subcommand_from " + name + "' -l " + word +
                  (takes_value ? " -r" : "") + " -d " + in_fish_quotes(option->get_description()) +
                  "\n";
      }
    }
  }
  return script;
}

}  // namespace

void add_completion_command(CLI::App& app, Session& session) {
  const auto shell = std::make_shared<std::string>();
  CLI::App* command = app.add_subcommand("completion", "Print the completion script of a shell");
  command->footer(
      "Examples:\n"
      "  source <(foretell completion bash)\n"
      "  source <(foretell completion zsh)\n"
      "  foretell completion fish | source");
  command->add_option("shell", *shell, "bash, zsh or fish")->required();
  command->callback([shell, &app, &session] {
    session.action = [shell, &app] {
      if (*shell == "bash") {
        write_text("-", bash_script(app));
      } else if (*shell == "zsh") {
        write_text("-", kZshStart + bash_script(app));
      } else if (*shell == "fish") {
        write_text("-", fish_script(app));
      } else {
        throw unknown_name("shell", *shell, {"bash", "zsh", "fish"});
      }
      return kSuccess;
    };
  });
}

}  // namespace foretell
