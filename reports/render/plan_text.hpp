// A plan for people: what is cheapest, the best of every system, why others fell out, commands.
#pragma once

#include <string>

#include "reports/record/plan_record.hpp"
#include "reports/render/table.hpp"

namespace foretell {

// The best deployment of every system, cheapest first.
Table plan_table(const PlanRecord& plan);

// `max_width`: of tables; 0: any.
std::string plan_text(const PlanRecord& plan, int max_width);
std::string plan_markdown(const PlanRecord& plan);

}  // namespace foretell
