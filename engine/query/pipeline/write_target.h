// The collection that $out or $merge writes to. Internal to this folder.
#pragma once

#include <string_view>

#include "engine/query/pipeline/stage.h"

namespace gridmount::query {

// "name" or {db: "d", coll: "name"}, which is what `value` is. `field` is where it stands in the
// stage, empty for the stage itself.
Result<CollectionName> parse_target(std::string_view stage, std::string_view field,
                                    bson::ValueView value);

// Refuses what is no name, and collections and databases of the server's own.
Status check_target(std::string_view stage, const CollectionName& target, ErrorCode special,
                    ErrorCode internal);

}  // namespace gridmount::query
