// The document in admin.system.version that states which features the files of a server may use:
// {_id: "featureCompatibilityVersion", version: "7.0"}. A server has this document from its first
// start. A store may never meet a driver, so it gets the document only when a client first asks for
// that collection. Clients can neither remove nor change it.
//
// Thread-safe.
#pragma once

#include <string_view>

#include "engine/base/error.h"
#include "engine/store.h"
#include "engine/wire/request.h"

namespace gridmount::wire {

inline constexpr std::string_view kFeatureVersion = "7.0";

// Returns true if the command names admin.system.version.
bool names_version_collection(const Request& request);

// Inserts the document if it is missing, and replaces one that an earlier version let clients
// spoil. Does nothing in a read-only store.
Status add_version_document(engine::Store& store);

// Must be called before the commit of a transaction that has written to the collection `ns`. Fails
// if the transaction has removed the document (40670) or made it invalid. Such a transaction must
// not be committed.
Status check_version_document(engine::Store& store, const engine::Namespace& ns,
                              engine::Transaction& transaction);

}  // namespace gridmount::wire
