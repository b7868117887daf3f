// Access checks of pipelines. A pipeline may read other collections by $lookup, $unionWith,
// $graphLookup or views, and may write. The user who runs the pipeline may lack the right to do so.
// The parsed pipeline, and the pipelines of the views that it reads, show which collections must be
// checked.
//
// A view is read with the rights of the user who reads it, not of the user who made it.
//
// Thread-safety: check_access() is thread-safe. An AccessScope has an effect on its thread only.
#pragma once

#include "engine/aggregation/aggregate.h"
#include "engine/aggregation/view.h"
#include "engine/base/error.h"
#include "engine/query/pipeline/pipeline.h"
#include "engine/store.h"

namespace gridmount::aggregation {

enum class WriteKind {
  kMerge,    // $merge
  kReplace,  // $out
};

// Thread-safety: used only by the thread of its AccessScope.
class Access {
 public:
  virtual ~Access() = default;
  // Succeeds if the user may read the namespace. Otherwise returns the error with which the
  // pipeline must fail.
  virtual Status may_read(const engine::Namespace& ns) = 0;
  // Succeeds if the user may write to the namespace with a stage of this kind. Otherwise returns
  // the error with which the pipeline must fail. `bypass_validation` says whether the writes skip
  // the collection's validator. The user may need a further right for that.
  virtual Status may_write(const engine::Namespace& ns, WriteKind kind, bool bypass_validation) = 0;
};

// While an AccessScope exists, check_access() on its thread asks `access`. Without a scope
// everything is allowed. Scopes must not be nested, and must be destroyed on the thread that made
// them.
class AccessScope {
 public:
  // `access` must outlive the scope.
  explicit AccessScope(Access& access);
  ~AccessScope();
  AccessScope(const AccessScope&) = delete;
  AccessScope& operator=(const AccessScope&) = delete;
};

// Asks the Access of this thread's AccessScope for every collection and view that the pipeline over
// `ns` reads, and for the collection that it writes. If a view reads a collection through other
// views, does not ask for these other views. Returns the first error. Succeeds without a scope. The
// caller must check `ns` itself. `view` is the result of resolve_view() for `ns`. Also fails as
// resolve_view() does for a view that the pipeline reads, and as query::Pipeline::parse() does for
// the pipeline of such a view.
Status check_access(const Databases& databases, engine::Snapshot& snapshot,
                    const engine::Namespace& ns, const ResolvedView& view,
                    const query::Pipeline& pipeline, bool bypass_validation);

}  // namespace gridmount::aggregation
