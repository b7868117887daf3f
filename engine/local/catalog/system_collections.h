// Collections that show the catalog as documents: system.namespaces and system.indexes, which
// servers had until 3.0, and system.views. They can be read like any other collection, but not
// written.
// Source: MongoDB 2.4 manual, "System Collections"; MongoDB manual, "Views".
//
// Thread-safety: that of the Catalog passed in, which belongs to one Snapshot or Transaction.
#pragma once

#include <vector>

#include "engine/base/error.h"
#include "engine/bson/document.h"
#include "engine/local/catalog/catalog.h"
#include "engine/store.h"

namespace gridmount::local {

bool is_catalog_collection(const engine::Namespace& ns);

// Returns the documents of a catalog collection. system.namespaces has one document for each
// collection or view, {name: "db.c", options: {...}}, which lacks `options` if there are none, and
// one for each index, {name: "db.c.$_id_"}. system.indexes has {v, key, ns, name, ...} for each
// index. system.views has {_id: "db.v", viewOn, pipeline} for each view.
Result<std::vector<bson::Document>> catalog_documents(Catalog& catalog,
                                                      const engine::Namespace& ns);

}  // namespace gridmount::local
