#include <CLI/CLI.hpp>
#include <algorithm>
#include <filesystem>
#include <memory>
#include <thread>

#include "model/app/command/commands.hpp"
#include "model/app/explore/explore_server.hpp"
#include "model/app/explore/question.hpp"
#include "model/app/request/family/device_family.hpp"
#include "model/app/request/resolve/request_fields.hpp"
#include "model/app/terminal/options.hpp"
#include "model/app/terminal/output.hpp"
#include "model/base/errors.hpp"
#include "reports/render/html_report.hpp"
#include "reports/render/page/report_page.hpp"
#include "workloads/import/workload.hpp"
#include "workloads/ir/precision.hpp"

namespace foretell {
namespace {

constexpr int kMaxPort = 65535;
constexpr int kMaxAtOnce = 4;
constexpr const char* kExampleSystem = "inf2.xlarge";  // what the page asks first

struct ExploreOptions {
  std::string port;
  std::string system = kExampleSystem;
  std::string workload = "bert-large-uncased";
  std::string dtype;
};

ExploreChoices choices_of(const ExploreOptions& options) {
  ExploreChoices choices;
  for (const DeviceFamily* family : device_families()) {
    for (std::string& id : family->systems()) choices.systems.push_back(std::move(id));
  }
  choices.workloads = WorkloadLibrary().names();
  for (const PrecisionPolicy& policy : precision_policies()) choices.dtypes.push_back(policy.name);
  choices.system = options.system;
  choices.workload = options.workload;
  choices.dtype = options.dtype;
  family_of(options.system);  // finds mistakes before a page does
  WorkloadLibrary().load(options.workload);
  return choices;
}

int run_explore(const ExploreOptions& options, const Session& session) {
  if (explore_page().empty()) {
    throw UserError(
        "this foretell was built without the page, which needs npm; install nodejs and npm and "
        "build again, or ask with `foretell run` and `foretell report`");
  }
  ExploreSettings settings;
  settings.program = std::filesystem::canonical("/proc/self/exe").string();
  settings.page = fill_page(explore_page(), choices_json(choices_of(options)));
  if (!options.port.empty()) {
    settings.port = static_cast<int>(parse_count("--port", options.port, 1, kMaxPort));
  }
  const int cores = static_cast<int>(std::thread::hardware_concurrency());
  settings.at_once = std::clamp(cores, 1, kMaxAtOnce);
  ExploreServer server(std::move(settings));
  write_text("-", server.url() + "\n");
  session.say("foretell: open this address in a browser on this machine; Ctrl-C ends it");
  server.run();
  return kSuccess;
}

}  // namespace

void add_explore_command(CLI::App& app, Session& session) {
  const auto options = std::make_shared<ExploreOptions>();
  CLI::App* command =
      app.add_subcommand("explore", "Turn knobs in a browser: a page served by this program");
  command->footer(
      "Serves one page to this machine alone, at an address that holds a random token, until\n"
      "Ctrl-C. It asks for predictions as `run`, `serve` and `explain` make them, shows the "
      "command\n"
      "line of each, and saves what was found as a report or a study.\n\n"
      "Examples:\n"
      "  foretell explore\n"
      "  foretell explore --on h100-sxm-x8 --workload Llama-3.1-70B --port 8080");
  command->add_option("--on", options->system, "system to begin with (`foretell list systems`)")
      ->capture_default_str();
  command->add_option("--workload", options->workload, "network to begin with")
      ->capture_default_str();
  command->add_option("--dtype", options->dtype, "data type to begin with");
  command->add_option("--port", options->port, "port to listen on; any free one when not stated");
  set_action(*command, session, [options, &session] { return run_explore(*options, session); });
}

}  // namespace foretell
