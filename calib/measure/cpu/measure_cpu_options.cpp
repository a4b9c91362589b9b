#include "calib/measure/cpu/measure_cpu_options.hpp"

#include <algorithm>
#include <sstream>

#include "model/base/errors.hpp"
#include "model/base/number_text.hpp"
#include "model/base/text.hpp"

namespace foretell {
namespace {

constexpr int kRounds = 4;

std::vector<std::string> names_in(const std::string& text, const char* option,
                                  const std::vector<std::string>& known) {
  std::vector<std::string> names;
  std::istringstream stream(text);
  for (std::string name; std::getline(stream, name, ',');) {
    if (std::find(known.begin(), known.end(), name) == known.end()) {
      throw unknown_name(option, name, known);
    }
    names.push_back(name);
  }
  if (names.empty()) throw UserError(std::string(option) + ": names nothing");
  return names;
}

double number_in(const std::string& text, const char* option, double low, double high) {
  const std::optional<double> value = to_number(text);
  if (!value || *value < low || *value > high) {
    std::ostringstream message;
    message << option << ": '" << text << "' has to be a number from " << low << " to " << high;
    throw UserError(message.str());
  }
  return *value;
}

int count_in(const std::string& text, const char* option, int low, int high) {
  const double value = number_in(text, option, low, high);
  if (value != static_cast<int>(value)) {
    throw UserError(std::string(option) + ": '" + text + "' has to be a whole number");
  }
  return static_cast<int>(value);
}

}  // namespace

MeasureCpuOptions parse_measure_cpu_options(const std::vector<std::string>& arguments) {
  MeasureCpuOptions options;
  options.plan.threads = 0;
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    std::string name = arguments[i];
    std::string value;
    const std::size_t equals = name.find('=');
    const bool has_value = equals != std::string::npos;
    if (has_value) {
      value = name.substr(equals + 1);
      name.resize(equals);
    }
    const auto next = [&]() -> const std::string& {
      if (has_value) return value;
      if (i + 1 == arguments.size()) throw UserError(name + ": a value is missing");
      return arguments[++i];
    };
    if (name == "--output" || name == "-o") {
      options.output = next();
    } else if (name == "--quick") {
      options.plan.quick = true;
    } else if (name == "--ops") {
      options.plan.ops = names_in(next(), "--ops", cpu_ops());
    } else if (name == "--dtypes") {
      options.plan.dtypes = names_in(next(), "--dtypes", cpu_dtypes());
    } else if (name == "--device-name") {
      options.device_name = next();
    } else if (name == "--threads") {
      options.plan.threads = count_in(next(), "--threads", 1, 4096);
    } else if (name == "--repeats") {
      options.repeats = count_in(next(), "--repeats", 3, 1000);
    } else if (name == "--rounds") {
      options.rounds = count_in(next(), "--rounds", 1, 100);
    } else if (name == "--max-load") {
      options.most_foreign = number_in(next(), "--max-load", 0, 1);
    } else if (name == "--patience") {
      options.patience = count_in(next(), "--patience", 1, 100000);
    } else if (name == "--seed") {
      count_in(next(), "--seed", 0, 1 << 30);  // the values of operands are fixed
    } else if (name == "--list") {
      options.list = true;
    } else if (name == "--help" || name == "-h") {
      options.help = true;
    } else {
      throw unknown_name("option", name,
                         {"--output", "--quick", "--ops", "--dtypes", "--device-name", "--threads",
                          "--repeats", "--rounds", "--max-load", "--patience", "--list", "--help"});
    }
  }
  if (options.rounds == 0) options.rounds = options.plan.quick ? 1 : kRounds;
  return options;
}

std::string measure_cpu_help() {
  return "Measures the operators of oneDNN, memory streams and the fork and join of threads on "
         "this\n"
         "machine, each with one thread and with all cores, pinned. One line of JSON per point is\n"
         "added to the output; a run that was stopped goes on where it was.\n"
         "  --output FILE       the measurements (default: measurements.jsonl)\n"
         "  --quick             a part of the shapes, under two minutes\n"
         "  --ops LIST          only these: " +
         join(cpu_ops(), ",") +
         "\n"
         "  --dtypes LIST       only these: " +
         join(cpu_dtypes(), ",") +
         "\n"
         "  --threads N         all that are used (default: one per physical core)\n"
         "  --repeats N         of each point (default: 9); the median counts\n"
         "  --rounds N          through the plan; from the third on, points whose two shortest\n"
         "                      rounds differ by more than 5 % (default: 4; quick: 1)\n"
         "  --max-load SHARE    of the processors that others may take during a point (default:\n"
         "                      0.04); a point under more load is measured again\n"
         "  --patience N        times that a point is measured again before giving up (default: "
         "20)\n"
         "  --device-name ID    of the records (default: the name of the CPU)\n"
         "  --list              print the points and measure nothing\n";
}

}  // namespace foretell
