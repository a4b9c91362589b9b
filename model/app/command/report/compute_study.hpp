// A report of a study that is not stored: its points are predicted first.
#pragma once

#include "model/app/study/study.hpp"
#include "model/app/terminal/session.hpp"
#include "reports/record/study_store.hpp"

namespace foretell {

// Predicts every point into the store. UserError for a study that is wrong, or that searches.
StudyHead compute_study(const Study& study, int jobs, const Session& session, StudyStore& store);

}  // namespace foretell
