// Views: names for what a pipeline makes of another collection.
// Source: MongoDB manual, "Views".
#pragma once

#include <string_view>

#include "engine/aggregation/aggregate.h"
#include "engine/base/error.h"
#include "engine/bson/document.h"
#include "engine/store.h"

namespace gridmount::aggregation {

struct ResolvedView {
  engine::Namespace ns;   // of the collection that is no view, which may not exist
  bson::Document stages;  // what makes the view of it, an array's elements; empty if `ns` was none
};

// Follows views on views. ViewDepthLimitExceeded (165) beyond 20 of them.
Result<ResolvedView> resolve_view(const Databases& databases, engine::Snapshot& snapshot,
                                  const engine::Namespace& ns);

// Whether a view of this name and definition may be made: its pipeline is one, does not write, and
// neither what the view is on nor what it reads beside that, by $lookup, $unionWith or $facet,
// leads back to the view itself (GraphContainsCycle, 5). None of them is one of the server's own
// collections but system.js (InvalidNamespace): users' passwords and what the profiler keeps are
// not for whoever may read a view.
Status check_view(engine::Database& database, engine::Snapshot& snapshot, std::string_view name,
                  std::string_view view_on, bson::View stages);

}  // namespace gridmount::aggregation
