// Copies a document and replaces one field, for $unwind and $lookup. Internal to engine/query.
// Thread-safety: a function without state.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "engine/bson/document.h"
#include "engine/query/output.h"
#include "engine/query/pipeline/stage.h"

namespace gridmount::query {

// Appends the elements of `document` to `output`. Sets the field at the path `parts` to `value`, or
// leaves this field out if `value` is nullopt. `parts` must not be empty. With a `value`, also
// replaces any value on the path that is not a document (an array too) by a new document. If
// `wanted` is not null, leaves out all other top-level fields that are not in `wanted`.
void append_with_field(bson::View document, const std::vector<std::string>& parts,
                       const std::optional<bson::ValueView>& value, const FieldDependencies* wanted,
                       DocumentOutput& output);

}  // namespace gridmount::query
