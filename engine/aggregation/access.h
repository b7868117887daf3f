// Whose rights pipelines run with: who asks for one may be somebody who may not read all that it
// reaches, by $lookup, $unionWith and $graphLookup, by what it writes, or by the views it reads.
// What is asked for follows from the parsed pipeline, the views' own included, and from nothing
// else.
//
// A view is read with the rights of whoever reads it, not of whoever made it.
#pragma once

#include "engine/aggregation/aggregate.h"
#include "engine/aggregation/view.h"
#include "engine/base/error.h"
#include "engine/query/pipeline/pipeline.h"
#include "engine/store.h"

namespace gridmount::aggregation {

enum class WriteKind { kMerge, kReplace };

// Thread-safety: of the thread whose scope it is in.
class Access {
 public:
  virtual ~Access() = default;
  // The error to end with, unless the namespace may be read.
  virtual Status may_read(const engine::Namespace& ns) = 0;
  virtual Status may_write(const engine::Namespace& ns, WriteKind kind, bool bypass_validation) = 0;
};

// While it lives, pipelines that this thread begins ask it. Without one everything is allowed.
// Scopes are not nested.
class AccessScope {
 public:
  // `access` outlives it.
  explicit AccessScope(Access& access);
  ~AccessScope();
  AccessScope(const AccessScope&) = delete;
  AccessScope& operator=(const AccessScope&) = delete;
};

// Asks about everything that the pipeline over `ns`, which `view` is resolved from, reads and
// writes beside `ns` itself: whoever begins a pipeline has asked about that.
Status check_access(const Databases& databases, engine::Snapshot& snapshot,
                    const engine::Namespace& ns, const ResolvedView& view,
                    const query::Pipeline& pipeline, bool bypass_validation);

}  // namespace gridmount::aggregation
