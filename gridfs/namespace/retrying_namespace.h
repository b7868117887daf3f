// A PathNamespace over a store with transient errors (Capabilities::retry_for): each operation
// except record_read() and close() is repeated as with_retry() says. An operation is one
// transaction, or only reads, so a failed operation has changed nothing. setattr_file() and
// start_revision() may be several transactions, whose repetition does no harm. Changes of one
// directory take turns, so a call may first wait for its turn (directory_turns.h).
//
// Thread-safe, as PathNamespace is.
#pragma once

#include <memory>

#include "gridfs/namespace/path_namespace.h"

namespace gridmount::gridfs {

// `store` must outlive the result.
std::unique_ptr<PathNamespace> make_retrying_namespace(engine::Store& store,
                                                       std::unique_ptr<PathNamespace> paths);

}  // namespace gridmount::gridfs
