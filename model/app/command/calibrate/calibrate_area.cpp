#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>
#include <memory>
#include <string>
#include <vector>

#include "calib/fit/area_fit.hpp"
#include "model/app/command/calibrate/calibrate_commands.hpp"
#include "model/app/command/calibrate/fit_output.hpp"
#include "model/app/terminal/options.hpp"

namespace foretell {
namespace {

constexpr double kPercent = 100;

// A share above or below.
std::string signed_percent(double share) { return fmt::format("{:+.1f} %", kPercent * share); }

std::string summary_of(const std::vector<LeftOutDie>& dies) {
  double sum = 0;
  double worst = 0;
  for (const LeftOutDie& die : dies) {
    sum += std::abs(die.error);
    worst = std::max(worst, std::abs(die.error));
  }
  return fmt::format("{:.1f} % on average, {:.1f} % at most",
                     kPercent * sum / static_cast<double>(dies.size()), kPercent * worst);
}

int calibrate_area(const std::string& format) {
  FitOutput output(format);
  const std::vector<LeftOutDie> dies = left_out_dies();
  for (const LeftOutDie& die : dies) {
    const std::string alike =
        die.alike == 0 ? "alone on its process" : fmt::format("{} alike", die.alike);
    output.say(fmt::format("{}: {:.0f} mm2, the others predict {} ({})\n", die.name, die.mm2,
                           signed_percent(die.error), alike));
    output.add({die.name, "", "left_out", "die area", fmt::format("{}", die.error), "", ""});
  }
  output.say("left out: " + summary_of(dies) + "\n");
  const FittedArea fitted = fitted_area();
  output.say(
      fmt::format("on all: logic at 16 and 12 nm {:.3f}, at 8 nm {:.3f} of that at 4 nm; mm2:",
                  fitted.logic.nm16, fitted.logic.nm8));
  for (std::size_t i = 0; i < fitted.parts.size(); ++i) {
    const std::string value = fmt::format("{:.4g}", fitted.parts.at(i));
    output.say(fmt::format(" {} {}", area_part_names().at(i), value));
    output.add({area_part_names().at(i), "", "fitted", "mm2", value, "", ""});
  }
  output.say("\n");
  output.finish();
  return kSuccess;
}

}  // namespace

void add_area_command(CLI::App& calibrate, Session& session) {
  const auto format = std::make_shared<std::string>("table");
  CLI::App* command =
      calibrate.add_subcommand("area", "How far published dies predict one another's areas");
  command->footer(
      "Each die of hw/process/dies.yaml is left out in turn, with the sizes of parts and the\n"
      "densities of processes that are chosen. Writes nothing.\nExample:\n"
      "  foretell calibrate area");
  add_fit_format_option(*command, *format);
  set_action(*command, session, [format] { return calibrate_area(*format); });
}

}  // namespace foretell
