#include "model/app/terminal/help_groups.hpp"

#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace foretell {
namespace {

using HelpGroups = std::vector<std::pair<std::string, std::vector<const char*>>>;

HelpGroups service_groups(const char* searched) {
  return {
      {"Options", {"--help", "--workload", "--on", "--dtype"}},
      {"Load",
       {"--concurrency", "--rate", "--trace", "--offline", "--start", "--arrivals", "--every",
        "--requests", "--warm-up", "--measured", "--seed"}},
      {"Lengths",
       {"--input-len", "--output-len", "--images", "--image-size", "--image-width",
        "--prefix-cache"}},
      {"Promise", {"--slo", "--probability"}},
      {searched,
       {"--engine", "--library", "--max-batch", "--tp", "--pp", "--ep", "--attention-dp", "--dp",
        "--workers", "--prefill", "--decode"}},
      {"Sharing of the network",
       {"--moe-tp", "--cp", "--sequence-parallel", "--experts", "--redundant-experts",
        "--two-batch", "--decode-on", "--link"}},
      {"Engine", {"--max-tokens", "--chunk", "--speculate", "--router", "--library-release"}},
      {"Memory",
       {"--kv-dtype", "--kv-fraction", "--context", "--context-encoding-buckets",
        "--token-generation-buckets"}},
      {"Hardware",
       {"--clock", "--power-limit", "--voltage", "--usd-per-kwh", "--pue", "--set", "--factors",
        "--exact"}},
      {"Output",
       {"--format", "--output", "--energy", "--report", "--trace-out", "--store", "--jobs"}},
  };
}

// CLI11 orders headings and options as they were added, by functions that commands share.
class OrderedHelp : public CLI::Formatter {
 public:
  explicit OrderedHelp(HelpGroups groups) : groups_(std::move(groups)) {}

  std::string make_help(const CLI::App* app, std::string name,
                        CLI::AppFormatMode /*mode*/) const override {
    std::string text =
        make_description(app) + make_usage(app, std::move(name)) + make_positionals(app);
    std::vector<const CLI::Option*> others = app->get_options([](const CLI::Option* option) {
      return option->nonpositional() && !option->get_group().empty();
    });
    const auto add_group = [&](const std::string& title,
                               const std::vector<const CLI::Option*>& options) {
      if (!options.empty()) text += make_group(title, false, options);
    };
    for (const auto& [title, names] : groups_) {
      std::vector<const CLI::Option*> options;
      for (const char* option_name : names) {
        const auto found =
            std::find(others.begin(), others.end(), app->get_option_no_throw(option_name));
        if (found == others.end()) continue;
        options.push_back(*found);
        others.erase(found);
      }
      add_group(title, options);
    }
    add_group("Further options", others);
    return text + "\n" + make_footer(app);
  }

 private:
  HelpGroups groups_;
};

}  // namespace

void group_service_help(CLI::App& command, const char* searched) {
  command.formatter(std::make_shared<OrderedHelp>(service_groups(searched)));
}

}  // namespace foretell
