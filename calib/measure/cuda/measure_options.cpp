#include "calib/measure/cuda/measure_options.hpp"

#include <fnmatch.h>

#include <cctype>

#include "model/base/data_root.hpp"
#include "model/base/errors.hpp"
#include "model/base/number_text.hpp"
#include "model/base/text.hpp"
#include "model/config/document.hpp"
#include "model/config/unit_text.hpp"

namespace foretell {
namespace {

constexpr int kMaxRepeats = 1000;
constexpr int kMaxGpus = 64;

int whole_number(const std::string& option, const std::string& text, int low, int high) {
  const std::optional<std::int64_t> value = to_count(text);
  if (!value || *value < low || *value > high) {
    throw UserError(option + ": '" + text + "' is no whole number from " + std::to_string(low) +
                    " to " + std::to_string(high));
  }
  return static_cast<int>(*value);
}

std::string slug(const std::string& chip) {
  std::string id;
  for (const char c : to_lower(chip)) {
    const bool kept = std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '.';
    if (kept) {
      id += c;
    } else if (!id.empty() && id.back() != '-') {
      id += '-';
    }
  }
  while (!id.empty() && id.back() == '-') id.pop_back();
  return id;
}

}  // namespace

MeasureOptions parse_measure_options(const std::vector<std::string>& arguments) {
  MeasureOptions options;
  const std::vector<std::string> known = {"--output",      "--quick",   "--ops",  "--dtypes",
                                          "--gpu",         "--repeats", "--list", "--check",
                                          "--device-name", "--help"};
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const std::string& option = arguments[i];
    const auto value = [&]() -> const std::string& {
      if (i + 1 >= arguments.size()) throw UserError(option + " wants a value");
      return arguments[++i];
    };
    if (option == "--output" || option == "-o") {
      options.output = value();
    } else if (option == "--quick") {
      options.plan.quick = true;
    } else if (option == "--ops") {
      options.plan.ops = split(value(), ',');
    } else if (option == "--dtypes") {
      options.plan.dtypes = split(value(), ',');
    } else if (option == "--gpu") {
      options.gpu = whole_number(option, value(), 0, kMaxGpus);
    } else if (option == "--repeats") {
      options.repeats = whole_number(option, value(), 3, kMaxRepeats);
    } else if (option == "--device-name") {
      options.device_name = slug(value());
      if (options.device_name.empty()) throw UserError("--device-name: the name is empty");
    } else if (option == "--list") {
      options.list = true;
    } else if (option == "--check") {
      options.check_only = true;
    } else if (option == "--help" || option == "-h") {
      options.help = true;
    } else {
      throw unknown_name("option", option, known);
    }
  }
  return options;
}

std::string measure_help() {
  return "Measures operators on an NVIDIA GPU, one line of JSON each.\n\n"
         "  --output, -o FILE    where the records go (default: measurements.jsonl); points that\n"
         "                       are in it are not measured again\n"
         "  --quick              about a tenth of the points\n"
         "  --ops LIST           only these: " +
         join(measured_ops(), ", ") +
         "\n  --dtypes LIST        only these: " + join(measured_dtypes(), ", ") +
         "\n  --gpu N              which GPU (default: 0)\n"
         "  --repeats N          of each point (default: 15)\n"
         "  --device-name ID     of the records (default: by the name of the chip)\n"
         "  --check              only check results against the CPU\n"
         "  --list               only print the points; needs no GPU\n"
         "Exit code: 0 good, 1 a kernel gave wrong results and was not timed, 2 your input or no "
         "GPU.\n";
}

std::string device_id_of(const std::string& chip, double memory_bytes) {
  const Node names =
      load_document((data_root() / "calib" / "measure" / "cuda" / "driver_names.yaml").string());
  for (const Node& entry : names.items) {
    entry.only_keys({"name", "below", "device"}, "");
    const std::string pattern = entry.required("name", "").as_text("name");
    if (fnmatch(pattern.c_str(), to_lower(chip).c_str(), 0) != 0) continue;
    const Node* below = entry.find("below");
    if (below != nullptr &&
        memory_bytes >= parse_quantity(below->as_text("below"), dimension_of<Bytes>::value)) {
      continue;
    }
    const Node* device = entry.find("device");
    return device == nullptr ? slug(chip) : device->as_text("device");
  }
  return slug(chip);
}

}  // namespace foretell
