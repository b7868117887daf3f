// Access checks of pipelines. A pipeline may read other collections by $lookup, $unionWith,
// $graphLookup or views, and may write. The user who runs it may lack the right to do so. What must
// be checked follows from the parsed pipeline, and from the pipelines of the views that it reads.
//
// A view is read with the rights of the user who reads it, not of the user who made it.
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
  virtual Status may_write(const engine::Namespace& ns, WriteKind kind, bool bypass_validation) = 0;
};

// While an AccessScope exists, check_access() on its thread asks `access`. Without a scope
// everything is allowed. Scopes must not be nested, and must be destroyed on the thread that made
// them.
class AccessScope {
 public:
  // `access` must outlive it.
  explicit AccessScope(Access& access);
  ~AccessScope();
  AccessScope(const AccessScope&) = delete;
  AccessScope& operator=(const AccessScope&) = delete;
};

// Checks everything that the pipeline over `ns` reads and writes except `ns` itself, whose check is
// the caller's task. Asks the Access of this thread's AccessScope, and succeeds without a scope.
// `view` is what `ns` resolves to.
Status check_access(const Databases& databases, engine::Snapshot& snapshot,
                    const engine::Namespace& ns, const ResolvedView& view,
                    const query::Pipeline& pipeline, bool bypass_validation);

}  // namespace gridmount::aggregation
