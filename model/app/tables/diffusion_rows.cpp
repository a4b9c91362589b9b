#include "model/app/tables/diffusion_rows.hpp"

#include <vector>

#include "model/base/errors.hpp"
#include "model/base/text.hpp"

namespace foretell {
namespace {

void set_option(Request& request, const char* option, const std::string& text) {
  const RequestField& field = request_field(option);
  set_count(field, request, parse_count("scenario", text, field.low, field.high));
}

// The words after the first, which says what is made.
void read_scenario(const std::string& scenario, Request& request) {
  for (const std::string& word : split(scenario, ' ')) {
    for (const char* option : {"steps", "frames"}) {
      if (starts_with(word, option) && word != option)
        set_option(request, option, word.substr(std::string_view(option).size()));
    }
    const std::vector<std::string> sides = split(word, 'x');
    if (sides.size() != 2 || sides[0].find_first_not_of("0123456789") != std::string::npos)
      continue;
    set_option(request, "image-size", sides[0]);
    set_option(request, "image-width", sides[1]);
  }
  if (request.image_size > 0) return;
  throw UserError("scenario: '" + scenario +
                  "' states no size; write text-to-image 1024x1024 steps28");
}

}  // namespace

DiffusionRuns read_diffusion_runs(const Node& section) {
  section.only_keys({"library", "networks", "systems", "precisions"}, "diffusion");
  DiffusionRuns runs;
  runs.networks = served_names(section, "networks");
  runs.systems = served_names(section, "systems");
  runs.precisions = served_names(section, "precisions");
  runs.library = section.required("library", "diffusion").as_text("library");
  return runs;
}

Request diffusion_request(const DiffusionRuns& runs, const NamedCells& cells, const CsvRow& row,
                          const Request& defaults) {
  Request request = defaults;
  request.workload = looked_up(runs.networks, "model", cells.text(row, "model"));
  request.system = looked_up(runs.systems, "device", cells.text(row, "device"));
  request.dtype = looked_up(runs.precisions, "dtype", cells.text(row, "dtype"));
  request.library = runs.library;
  const std::string devices = cells.text(row, "n_devices");
  if (devices != "1") {
    throw UserError("n_devices: " + devices +
                    " that share the tokens of a sample are not modelled; rows of one device are");
  }
  set_option(request, "batch", cells.text(row, "batch_or_concurrency"));
  read_scenario(cells.text(row, "scenario"), request);
  return request;
}

}  // namespace foretell
