// Computes the statistics that collStats, dbStats, $collStats and $indexStats report.
// Source: MongoDB manual, "collStats", "dbStats", "$collStats (aggregation)", "$indexStats
// (aggregation)". The fields about WiredTiger and sharded clusters are missing.
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

// Returns {ns, size, count, avgObjSize, storageSize, capped, nindexes, indexSizes, ...}, with byte
// sizes divided by `scale` (1 or more). All values are 0 for a collection that does not exist.
// Fails with CommandNotSupportedOnView for a view. Sizes on disk are estimates, because collections
// share the store's pages.
Result<bson::Document> collection_stats(engine::Database& database, engine::Snapshot& snapshot,
                                        std::string_view collection, int64_t scale = 1);

// Returns {db, collections, views, objects, avgObjSize, dataSize, storageSize, indexes, indexSize,
// ...} for all collections of the database.
Result<bson::Document> database_stats(engine::Store& store, engine::Snapshot& snapshot,
                                      std::string_view database, int64_t scale = 1);

// Returns the document of the stage $collStats. The caller must have checked `options`. Fails with
// CommandNotSupported for latencyStats and queryExecStats, because no store counts them. The
// document has the field `host` unless `host` is empty.
Result<bson::Document> collection_stats_stage(engine::Database& database,
                                              engine::Snapshot& snapshot,
                                              std::string_view collection, bson::View options,
                                              std::string_view host);
// Returns {name, key, host, accesses: {ops, since}, spec} for each index, without `host` if it is
// empty.
Result<std::vector<bson::Document>> index_stats_stage(engine::Collection& collection,
                                                      engine::Snapshot& snapshot,
                                                      std::string_view host);

}  // namespace gridmount::aggregation
