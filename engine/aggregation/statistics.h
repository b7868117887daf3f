// Computes the statistics that collStats, dbStats, $collStats and $indexStats report.
// Source: MongoDB manual, "collStats", "dbStats", "$collStats (aggregation)", "$indexStats
// (aggregation)". The functions leave out the fields about WiredTiger and sharded clusters.
//
// Thread-safety: functions without state.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "engine/base/error.h"
#include "engine/bson/document.h"
#include "engine/store.h"

namespace gridmount::aggregation {

// Returns {ns, size, count, avgObjSize, storageSize, capped, nindexes, indexSizes, ...}. All sizes
// in bytes except avgObjSize are divided by `scale` (1 or more). For a collection that does not
// exist, all counts and sizes are 0. Fails with CommandNotSupportedOnView for a view. Sizes on disk
// are estimates, because collections share the store's pages.
Result<bson::Document> collection_stats(engine::Database& database, engine::Snapshot& snapshot,
                                        std::string_view collection, int64_t scale = 1);

// Returns one document {db, collections, views, objects, avgObjSize, dataSize, storageSize,
// indexes, indexSize, ...} with the totals of the database's collections. Divides the sizes by
// `scale` as collection_stats() does.
Result<bson::Document> database_stats(engine::Store& store, engine::Snapshot& snapshot,
                                      std::string_view database, int64_t scale = 1);

// Returns the document of the stage $collStats. The stage's parser must have checked the names and
// the types in `options`. Fails with CommandNotSupported for the options latencyStats and
// queryExecStats, because no store counts these values. With the option storageStats or count,
// fails with CommandNotSupportedOnView for a view. With the option count, fails with
// NamespaceNotFound if the collection does not exist. The document has the field `host` only if the
// argument `host` is not empty.
Result<bson::Document> collection_stats_stage(engine::Database& database,
                                              engine::Snapshot& snapshot,
                                              std::string_view collection, bson::View options,
                                              std::string_view host);
// Returns {name, key, host, accesses: {ops, since}, spec} for each index. The documents have the
// field `host` only if the argument `host` is not empty.
Result<std::vector<bson::Document>> index_stats_stage(engine::Collection& collection,
                                                      engine::Snapshot& snapshot,
                                                      std::string_view host);

}  // namespace gridmount::aggregation
