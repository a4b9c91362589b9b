// A plan for people: what is cheapest, the best of every system, why others fell out, commands.
#pragma once

#include <string>

#include "reports/record/plan_record.hpp"
#include "reports/render/table.hpp"

namespace foretell {

// "2 x p5.48xlarge, fp8, tp 4, 2 workers each, vllm-0.14, batch 64".
std::string setting_text(const PlannedDeployment& one);

// `max_width`: of tables; 0: any.
std::string plan_text(const PlanRecord& plan, int max_width);
std::string plan_markdown(const PlanRecord& plan);
// Joules, watts and the cost of energy of the best deployment of every system; "" without one.
std::string plan_energies_text(const PlanRecord& plan, int max_width);

}  // namespace foretell
