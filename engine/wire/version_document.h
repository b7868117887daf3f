// The document of admin.system.version that says which features a server's files may hold:
// {_id: "featureCompatibilityVersion", version: "7.0"}. Servers have it from their first start. A
// store, which may never meet a driver, has it once one has asked for that collection.
#pragma once

#include <string_view>

#include "engine/base/error.h"
#include "engine/store.h"
#include "engine/wire/request.h"

namespace gridmount::wire {

inline constexpr std::string_view kFeatureVersion = "7.0";

// Whether the command names admin.system.version.
bool names_version_collection(const Request& request);

// Inserts the document if it is not there. Nothing in a store that is only read. Thread-safe.
Status add_version_document(engine::Store& store);

}  // namespace gridmount::wire
