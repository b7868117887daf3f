// MongoDB's views: a view is a name for the result of a pipeline over another collection.
// Source: MongoDB manual, "Views".
//
// Thread-safety: functions without state.
#pragma once

#include <string_view>

#include "engine/aggregation/aggregate.h"
#include "engine/base/error.h"
#include "engine/bson/document.h"
#include "engine/query/collation/collator.h"
#include "engine/query/pipeline/pipeline.h"
#include "engine/store.h"

namespace gridmount::aggregation {

struct ResolvedView {
  // The collection below all views. It need not exist.
  engine::Namespace ns;
  // The stages of all views, as the elements of an array. The stages of the view directly above the
  // collection come first. Empty if the name that resolve_view() got is not the name of a view.
  bson::Document stages;
  // The collation of the collection or view whose name resolve_view() got, as
  // query::Collation::document() returns it. Empty if this collection or view has no collation, or
  // does not exist.
  bson::Document collation = {};
};

// Resolves `ns`, which may be a collection, a view, or a view of other views. Fails with
// ViewDepthLimitExceeded (165) for more than 20 views.
Result<ResolvedView> resolve_view(const Databases& databases, engine::Snapshot& snapshot,
                                  const engine::Namespace& ns);

// Succeeds if a view with this name and definition may be made. Fails with the errors of
// query::Pipeline::parse() if the pipeline `stages` is not valid or writes. The sources of the view
// are `view_on` and the collections of the same database that the pipeline reads by $lookup,
// $graphLookup and $unionWith, also inside $facet. No source may lead back to the view
// (GraphContainsCycle, 5). No source may be a system collection except system.js
// (InvalidNamespace), because a view must not show users' credentials or the profiler's data. Fails
// with ViewDepthLimitExceeded (165) if `view_on` leads through 20 views or more, and with
// OptionNotSupportedOnView (167) if a source is a view with another collation than `collation`.
// `collation` must be empty if the new view has no collation.
Status check_view(engine::Database& database, engine::Snapshot& snapshot, std::string_view name,
                  std::string_view view_on, bson::View stages, bson::View collation);

// Returns the collation for all reads of a command, as query::Collator::parse() reads it. `view`
// must be the result of resolve_view() for `ns`. Returns `given` if it is not empty. Otherwise
// returns the collation of `ns`, or {locale: "simple"} if `ns` has none. Fails with
// OptionNotSupportedOnView (167) if `ns` is a view and `given` is another collation than that of
// the view, and as query::Collation::parse() does.
Result<bson::Document> effective_collation(const engine::Namespace& ns, const ResolvedView& view,
                                           bson::View given);

// Fails with OptionNotSupportedOnView (167) if the pipeline over `ns` reads, beside its source, a
// view that has another collation. `collator` is the command's collator. If it is null, the command
// compares strings as bytes. Also fails as resolve_view() does for a view that the pipeline reads.
Status check_views_collation(const Databases& databases, engine::Snapshot& snapshot,
                             const engine::Namespace& ns, const query::Pipeline& pipeline,
                             const query::Collator* collator);

}  // namespace gridmount::aggregation
