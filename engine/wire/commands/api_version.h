// What of commands in API version 1 is not in it: refused with APIStrictError (323) to clients that
// say `apiStrict`. Source: MongoDB manual, "Stable API"; MongoDB 7.0, `stability: unstable` in
// src/mongo/db/query/find_command.idl.
//
// Thread-safety: functions without state.
#pragma once

#include "engine/base/error.h"
#include "engine/bson/document.h"

namespace gridmount::wire {

// The fields of a find.
Status check_find_is_stable(bson::View command);

// The stages of a pipeline and of those within it. What is no pipeline is let through: its parser
// says what is wrong.
Status check_pipeline_is_stable(bson::View stages);

}  // namespace gridmount::wire
