// A document with one field set: what $unwind and $lookup make of their input. Internal to this
// folder.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "engine/bson/document.h"
#include "engine/query/output.h"
#include "engine/query/pipeline/stage.h"

namespace gridmount::query {

// Appends the elements of `document` with the field at `parts` replaced by `value`, or left out if
// there is none. What is no document on the way becomes one (arrays too: their elements are not
// entered); with `wanted` top-level fields that nobody looks at are left out.
void append_with_field(bson::View document, const std::vector<std::string>& parts,
                       const std::optional<bson::ValueView>& value, const Needs* wanted,
                       Output& output);

}  // namespace gridmount::query
