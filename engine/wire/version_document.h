// The document in admin.system.version that says which features a server's files may use: {_id:
// "featureCompatibilityVersion", version: "7.0"}. A MongoDB server has this document from its first
// start. A store gets the document only when a client first uses this collection, because many
// stores are never used by a driver. Clients can neither remove nor change the document.
//
// Thread-safe: functions without state.
#pragma once

#include <string_view>

#include "engine/base/error.h"
#include "engine/store.h"
#include "engine/wire/request.h"

namespace gridmount::wire {

inline constexpr std::string_view kFeatureVersion = "7.0";

// Returns true if admin.system.version is the collection of the command: the database is admin, and
// the first field of the command is the string "system.version".
bool names_version_collection(const Request& request);

// Inserts the document if it is missing. Replaces an invalid document, because earlier versions of
// gridmount let clients change it. Commits a transaction of its own, and does not wait until this
// transaction is durable. Does nothing in a read-only store.
Status add_version_document(engine::Store& store);

// Must be called before the commit of a transaction in which a client has written to the collection
// `ns`. Does nothing for other collections than admin.system.version. Fails with 40670 if the
// document is missing, with 4926900 if it has another version, and with the errors of Arguments if
// it has an unknown field, or if `version` is missing or not a string. After a failure, the
// transaction must not be committed.
Status check_version_document(engine::Store& store, const engine::Namespace& ns,
                              engine::Transaction& transaction);

}  // namespace gridmount::wire
