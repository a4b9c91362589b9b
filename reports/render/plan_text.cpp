#include "reports/render/plan_text.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "model/base/text.hpp"
#include "reports/render/si_format.hpp"

namespace foretell {
namespace {

std::string workers_of(const PlannedDeployment& one) {
  if (one.prefill_workers == 0) return std::to_string(one.workers);
  return fmt::format("{} prefill + {} decode", one.prefill_workers,
                     one.workers - one.prefill_workers);
}

// "tp 8", "8 ranks of tp 1, ep 8": how the devices of a worker share the network.
std::string split_of(const DeploymentSetting& one) {
  if (!one.prefill.empty()) return fmt::format("prefill {}, decode {}", one.prefill, one.decode);
  std::string text = fmt::format("tp {}", one.tp);
  if (one.pp > 1) text += fmt::format(", pp {}", one.pp);
  if (one.attention_dp > 1) text = fmt::format("{} ranks of {}", one.attention_dp, text);
  if (one.ep > 1) text += fmt::format(", ep {}", one.ep);
  return text;
}

// "vllm-0.14" without the hash of its file, and the library of its kernels where one is chosen.
std::string engine_of(const PlannedDeployment& one) {
  const std::string engine = one.engine.substr(0, one.engine.find('@'));
  return one.library.empty() ? engine : fmt::format("{} with kernels of {}", engine, one.library);
}

std::string headline(const PlannedDeployment& one) {
  return fmt::format("{}: {} USD per million output tokens, {} USD per hour", setting_text(one),
                     plain_format(one.usd_per_million), plain_format(one.usd_per_hour, 4));
}

// For a system that keeps no promise: the candidate that comes nearest; else one that runs, then
// one that lacks memory, split furthest, of the first type that works there.
const RejectedDeployment* nearest_of(const SystemPlan& plan) {
  const RejectedDeployment* best = nullptr;
  const auto rank = [](const RejectedDeployment& one) {
    const int cause = one.cause == kRefused ? 0 : one.cause == kNoMemory ? 1 : 2;
    const bool is_known = one.excess > 0;
    return std::make_tuple(is_known, is_known ? -one.excess : cause, one.devices());
  };
  for (const RejectedDeployment& one : plan.rejected) {
    if (best == nullptr || rank(one) > rank(*best)) best = &one;
  }
  return best;
}

// Without the name of the system and what to do instead, so that equal reasons are equal texts.
std::string gist_of(const RejectedDeployment& one, const std::string& system) {
  const std::string start = system + ": ";
  const std::string text = one.reason.substr(0, one.reason.find(';'));
  return starts_with(text, start) ? text.substr(start.size()) : text;
}

// Those that break a promise one by one; those that lack memory together; those that are refused by
// what refuses them.
std::string fallen_out(const PlanRecord& plan) {
  std::string text;
  std::vector<std::string> no_memory;
  std::string example;
  std::vector<std::pair<std::string, std::vector<std::string>>> refused;  // by reason
  for (const SystemPlan& system : plan.systems) {
    const RejectedDeployment* nearest = nearest_of(system);
    if (!system.deployments.empty() || nearest == nullptr) continue;
    const std::string gist = gist_of(*nearest, system.system);
    if (nearest->cause == kNoMemory) {
      no_memory.push_back(system.system);
      if (example.empty()) example = gist;
    } else if (nearest->cause == kRefused) {
      const auto same = std::find_if(refused.begin(), refused.end(),
                                     [&gist](const auto& one) { return one.first == gist; });
      if (same == refused.end()) {
        refused.push_back({gist, {system.system}});
      } else {
        same->second.push_back(system.system);
      }
    } else {
      text += fmt::format("  {}: {} with {}: {}\n", system.system, nearest->dtype,
                          split_of(*nearest), nearest->reason);
    }
  }
  if (!no_memory.empty()) {
    text +=
        fmt::format("  {}: too little memory, for example: {}\n", join(no_memory, ", "), example);
  }
  for (const auto& [reason, systems] : refused)
    text += fmt::format("  {}: {}\n", join(systems, ", "), reason);
  return text;
}

// What would have to be promised instead: the nearest of all.
std::string nearest_promise(const PlanRecord& plan) {
  const RejectedDeployment* best = nullptr;
  const SystemPlan* of = nullptr;
  for (const SystemPlan& system : plan.systems) {
    const RejectedDeployment* one = nearest_of(system);
    if (one == nullptr || one->excess == 0) continue;
    if (best == nullptr || one->excess < best->excess) {
      best = one;
      of = &system;
    }
  }
  if (best == nullptr) {
    if (plan.would_hold.empty()) return "";
    return fmt::format("the cheapest instance that holds the network: {}\n", plan.would_hold);
  }
  return fmt::format("nearest: a request alone on {} with {} and {} keeps --slo '{}'\n", of->system,
                     best->dtype, split_of(*best), best->nearest);
}

std::string question(const PlanRecord& plan) {
  const PlanContext& context = plan.context;
  std::string text = fmt::format(
      "{} {}\npromise {}, each deployment keeps all of it with a probability of {} "
      "or more\n",
      context.workload, context.load, context.slo, plain_format(context.probability));
  if (plan.interrupted) text += "\nINTERRUPTED: of the systems that were searched so far\n";
  return text;
}

std::string no_system(const PlanRecord& plan) {
  return plan.systems.empty() ? "no system was searched" : "no system keeps it";
}

std::string runner_up(const PlanRecord& plan) {
  std::string text;
  for (const SystemPlan& system : plan.systems) {
    const PlannedDeployment* second = runner_up_of(system);
    if (second != nullptr) text += fmt::format("  {}\n", headline(*second));
  }
  return text.empty() ? text : "\nrunner-up of every system:\n" + text;
}

std::string commands_of(const PlannedDeployment& best) {
  std::string text = fmt::format("\nto see it in detail:\n  {}\n", best.simulate);
  if (!best.start.empty()) {
    const auto each = [](const char* what, std::int64_t count) {
      return count == 1 ? fmt::format("the {}", what)
                        : fmt::format("each of the {} {}s", count, what);
    };
    text += fmt::format("to start {} on {}:\n  {}\n", each("worker", best.workers),
                        each("instance", best.instances), best.start);
  }
  return text;
}

// The best deployment of every system, cheapest first.
Table plan_table(const PlanRecord& plan) {
  Table table;
  table.columns = {{"system"},
                   {"instances", Align::kRight},
                   {"dtype"},
                   {"split"},
                   {"workers"},
                   {"engine"},
                   {"batch", Align::kRight},
                   {"usd_per_hour", Align::kRight},
                   {"usd_per_million", Align::kRight},
                   {"ttft_p99", Align::kRight},
                   {"tpot_p99", Align::kRight},
                   {"tokens_per_s", Align::kRight},
                   {"J/token", Align::kRight},
                   {"probability", Align::kRight},
                   {"front"},
                   {"binds"}};
  for (const PlannedDeployment* one : best_of_systems(plan)) {
    table.rows.push_back(
        {one->system, std::to_string(one->instances), one->dtype, split_of(*one), workers_of(*one),
         engine_of(*one), std::to_string(one->max_batch), plain_format(one->usd_per_hour, 4),
         plain_format(one->usd_per_million), si_format(one->ttft_s.p99, "s"),
         si_format(one->tpot_s.p99, "s"), plain_format(one->output_tokens_per_s),
         one->joules_per_token ? plain_format(*one->joules_per_token) : "-",
         plain_format(one->probability, 2), one->on_front ? "yes" : "", one->binds});
  }
  return table;
}

}  // namespace

std::string setting_text(const PlannedDeployment& one) {
  return fmt::format("{} x {}, {}, {}, {} worker{} each, {}, batch {}", one.instances, one.system,
                     one.dtype, split_of(one), workers_of(one), one.workers == 1 ? "" : "s",
                     engine_of(one), one.max_batch);
}

std::string plan_text(const PlanRecord& plan, int max_width) {
  const std::vector<const PlannedDeployment*> best = best_of_systems(plan);
  std::string text = question(plan) + "\n";
  if (best.empty()) {
    text += no_system(plan) + "\n" + nearest_promise(plan);
  } else {
    text += "cheapest: " + headline(*best.front()) + "\n\n";
    std::vector<std::string> spared;
    text += render_text(spared_until_fits(plan_table(plan),
                                          {"engine", "front", "usd_per_hour", "tokens_per_s",
                                           "batch", "J/token", "binds"},
                                          max_width, spared),
                        max_width);
    text += runner_up(plan);
  }
  const std::string fallen = fallen_out(plan);
  if (!fallen.empty()) text += "\nfell out:\n" + fallen;
  if (!best.empty()) text += commands_of(*best.front());
  return text;
}

std::string plan_energies_text(const PlanRecord& plan, int max_width) {
  Table table;
  table.columns = {{"system"},
                   {"J per token", Align::kRight},
                   {"J per request", Align::kRight},
                   {"boards", Align::kRight},
                   {"at the wall", Align::kRight},
                   {"USD per million", Align::kRight}};
  const auto cell = [](const std::optional<double>& value, const char* unit) {
    return value ? si_format(*value, unit) : std::string("-");
  };
  for (const PlannedDeployment* one : best_of_systems(plan)) {
    table.rows.push_back(
        {one->system, cell(one->joules_per_token, "J"), cell(one->joules_per_request, "J"),
         cell(one->watts, "W"), cell(one->wall_watts, "W"),
         one->energy_usd_per_million ? plain_format(*one->energy_usd_per_million) : "-"});
  }
  if (table.rows.empty()) return "";
  return "\nEnergy of the best of every system, all its instances\n\n" +
         render_text(table, max_width);
}

std::string plan_markdown(const PlanRecord& plan) {
  const std::vector<const PlannedDeployment*> best = best_of_systems(plan);
  std::string text = "# Plan\n\n" + markdown_text(question(plan)) + "\n\n";
  if (best.empty()) {
    text += no_system(plan) + ". " + markdown_text(nearest_promise(plan)) + "\n";
  } else {
    text += "Cheapest: " + markdown_text(headline(*best.front())) + ".\n\n";
    text += render_markdown(plan_table(plan));
    text += "\n```\n" + best.front()->simulate + "\n" + best.front()->start + "\n```\n";
  }
  for (const SystemPlan& system : plan.systems) {
    const RejectedDeployment* nearest = nearest_of(system);
    if (!system.deployments.empty() || nearest == nullptr) continue;
    text += fmt::format("\n* {} fell out: {}", markdown_text(system.system),
                        markdown_text(nearest->reason));
  }
  return text + "\n";
}

}  // namespace foretell
