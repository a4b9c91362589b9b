#include "model/app/tables/kinds/diffusion_rows.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "model/base/errors.hpp"
#include "model/base/text.hpp"

namespace foretell {
namespace {

constexpr Seconds kNanosecond(1e-9);
constexpr double kMostNsPerPixel = 1e6;

void set_option(Request& request, const char* option, const std::string& text) {
  const RequestField& field = request_field(option);
  set_count(field, request, parse_count("scenario", text, field.low, field.high));
}

// "ulysses4 ring2".
void read_shares(const std::string& text, Request& request) {
  Request heads;  // as many as divide them
  for (const std::string& word : split(text, ' ')) {
    constexpr std::string_view kHeads = "ulysses";
    constexpr std::string_view kRing = "ring";
    if (starts_with(word, kHeads)) set_option(heads, "cp", word.substr(kHeads.size()));
    if (starts_with(word, kRing)) set_option(request, "ring", word.substr(kRing.size()));
  }
  request.dp = 1;
  if (heads.cp > 0 && request.ring > 0 && heads.cp * request.ring == request.cp) return;
  throw UserError(fmt::format("tp: '{}' does not make up {} devices; write ulysses{} ring1", text,
                              request.cp, request.cp));
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
  section.only_keys(
      {"library", "networks", "systems", "nodes", "precisions", "picture_ns_per_pixel"},
      "diffusion");
  DiffusionRuns runs;
  runs.networks = served_names(section, "networks");
  runs.systems = served_names(section, "systems");
  runs.nodes = served_names(section, "nodes");
  runs.precisions = served_names(section, "precisions");
  runs.library = section.required("library", "diffusion").as_text("library");
  constexpr const char* kPicture = "picture_ns_per_pixel";
  const Node& picture = section.required(kPicture, "diffusion");
  picture.only_keys({"value", "source", "kind", "why"}, kPicture);
  runs.picture_per_pixel =
      kNanosecond * parse_positive(fmt::format("{}: {}", picture.where(), kPicture),
                                   picture.required("value", kPicture).as_text(kPicture),
                                   kMostNsPerPixel);
  return runs;
}

Request diffusion_request(const DiffusionRuns& runs, const NamedCells& cells, const CsvRow& row,
                          const Request& defaults) {
  Request request = defaults;
  request.workload = looked_up(runs.networks, "model", cells.text(row, "model"));
  request.dtype = looked_up(runs.precisions, "dtype", cells.text(row, "dtype"));
  request.library = runs.library;
  set_option(request, "cp", cells.text(row, "n_devices"));
  const bool alone = request.cp == 1;
  request.system =
      served_system(alone ? runs.systems : runs.nodes, "device", cells.text(row, "device"), alone);
  if (!alone) read_shares(cells.text(row, "tp"), request);
  set_option(request, "batch", cells.text(row, "batch_or_concurrency"));
  read_scenario(cells.text(row, "scenario"), request);
  return request;
}

Seconds pictures_on_host(const DiffusionRuns& runs, const Request& request) {
  const double pixels = static_cast<double>(request.image_size) *
                        static_cast<double>(request.image_width) *
                        static_cast<double>(std::max<std::int64_t>(1, request.frames));
  return static_cast<double>(request.batch) * pixels * runs.picture_per_pixel;
}

}  // namespace foretell
