// PROPFIND: the properties of one resource of a site, or of a directory and the resources in it.
// Source: RFC 4918, 9.1.
//
// Thread-safe: functions without state.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "engine/store.h"
#include "gridfs/namespace/path_namespace.h"
#include "http/lock_table.h"
#include "http/request_handler.h"
#include "http/target.h"

namespace gridmount::http {

// Both functions return a receiver that takes the body of a PROPFIND. The status of its reply is
// 207, 400 for an invalid body, 403 if the field Depth asks for a whole tree, or the status of
// another error (site_error.h). The functions fail with BadValue for an unknown Depth. `store` must
// outlive the reply.
//
// Finds the properties of the buckets at the root of the tree.
Result<Answer> find_bucket_properties(const Request& request, std::vector<std::string> buckets);
// Finds the properties of the target, which must lead into the bucket of `paths`. A name that is
// removed while the reply is sent may be missing in it. `locks` is null if nothing can be locked.
Result<Answer> find_properties(const Request& request, const Target& target,
                               const std::shared_ptr<gridfs::PathNamespace>& paths,
                               engine::Store& store, std::shared_ptr<const LockTable> locks);

}  // namespace gridmount::http
