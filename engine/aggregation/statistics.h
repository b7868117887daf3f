// What collStats, dbStats, $collStats and $indexStats report.
// Source: MongoDB manual, "collStats", "dbStats", "$collStats (aggregation)", "$indexStats
// (aggregation)". Fields of WiredTiger and of clusters are left out.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "engine/base/error.h"
#include "engine/bson/document.h"
#include "engine/store.h"

namespace gridmount::aggregation {

// {ns, size, count, avgObjSize, storageSize, capped, nindexes, indexSizes, ...}, byte sizes divided
// by `scale` (1 or more). All 0 for a collection that does not exist; CommandNotSupportedOnView for
// a view. Sizes on disk are estimates: collections share the store's pages.
Result<bson::Document> collection_stats(engine::Database& database, engine::Snapshot& snapshot,
                                        std::string_view collection, int64_t scale = 1);

// {db, collections, views, objects, avgObjSize, dataSize, storageSize, indexes, indexSize, ...} of
// all collections of the database.
Result<bson::Document> database_stats(engine::Store& store, engine::Snapshot& snapshot,
                                      std::string_view database, int64_t scale = 1);

// A stage's document. `options` have been checked; latencyStats and queryExecStats, of which
// nothing is kept, are CommandNotSupported. Says what the host is, if that is not empty.
Result<bson::Document> collection_stats_stage(engine::Database& database,
                                              engine::Snapshot& snapshot,
                                              std::string_view collection, bson::View options,
                                              std::string_view host);
// {name, key, host, accesses: {ops, since}, spec} per index.
Result<std::vector<bson::Document>> index_stats_stage(engine::Collection& collection,
                                                      engine::Snapshot& snapshot,
                                                      std::string_view host);

}  // namespace gridmount::aggregation
