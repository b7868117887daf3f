// The commands find and aggregate are in API version 1, but some of their fields and stages are
// not. The functions fail with APIStrictError (323) for such fields and stages. Call the functions
// only for a command with {apiStrict: true}.
// Source: MongoDB manual, "Stable API"; MongoDB 7.0, `stability: unstable` in
// src/mongo/db/query/find_command.idl.
//
// Thread-safe: functions without state.
#pragma once

#include "engine/base/error.h"
#include "engine/bson/document.h"

namespace gridmount::wire {

// Checks the fields of a find.
Status check_find_is_stable(bson::View command);

// Checks the stages of a pipeline and of the pipelines nested in it. Accepts a value that is not a
// valid pipeline, because the pipeline's parser reports that error.
Status check_pipeline_is_stable(bson::View stages);

}  // namespace gridmount::wire
