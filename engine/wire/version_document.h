// The document in admin.system.version that says which features a server's files may use: {_id:
// "featureCompatibilityVersion", version: "7.0"}. A server has this document from its first start.
// A store gets the document only when a client first uses this collection, because many stores are
// never used by a driver. Clients can neither remove nor change the document.
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

// Inserts the document if it is missing, and replaces an invalid one: an earlier version let
// clients change it. Does nothing in a read-only store.
Status add_version_document(engine::Store& store);

// Must be called before the commit of a transaction that has written to the collection `ns`. Fails
// with 40670 if the transaction has removed the document. If the transaction has made it invalid,
// fails with 4926900 for another version, and with the errors of Arguments for other or missing
// fields. The transaction must then not be committed.
Status check_version_document(engine::Store& store, const engine::Namespace& ns,
                              engine::Transaction& transaction);

}  // namespace gridmount::wire
