// Copies a document with one field set, as $unwind and $lookup do. Internal to engine/query.
// Thread-safety: a pure function.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "engine/bson/document.h"
#include "engine/query/output.h"
#include "engine/query/pipeline/stage.h"

namespace gridmount::query {

// Appends the elements of `document` to `output`. The field at `parts` is replaced by `value`, or
// left out if there is no value. If there is a value, a value on the path that is not a document is
// replaced by one. This includes arrays, whose elements are not entered. If `wanted` is not null,
// other top-level fields that are not in it are left out.
void append_with_field(bson::View document, const std::vector<std::string>& parts,
                       const std::optional<bson::ValueView>& value, const FieldDependencies* wanted,
                       DocumentOutput& output);

}  // namespace gridmount::query
