// Runs pipelines over the collections of any store. An implementation of engine/store.h passes its
// reads of views and its aggregations to these functions. These functions call the implementation
// back through find(), insert() and so on.
//
// Thread-safety: functions without state. A cursor belongs to its snapshot.
#pragma once

#include <functional>
#include <memory>
#include <string_view>
#include <vector>

#include "engine/base/error.h"
#include "engine/bson/document.h"
#include "engine/bson/value.h"
#include "engine/store.h"

namespace gridmount::aggregation {

// Returns databases by name. It may be called for as long as a cursor made with it exists.
using Databases = std::function<std::shared_ptr<engine::Database>(std::string_view name)>;

// Implements engine::Collection::aggregate(). `ns` may be a view.
Result<std::unique_ptr<engine::Cursor>> aggregate(const Databases& databases,
                                                  engine::Snapshot& snapshot,
                                                  const engine::Namespace& ns, bson::View stages,
                                                  const engine::AggregateOptions& options);

// Implements engine::Collection::find() for a view.
Result<std::unique_ptr<engine::Cursor>> find_in_view(const Databases& databases,
                                                     engine::Snapshot& snapshot,
                                                     const engine::Namespace& ns, bson::View filter,
                                                     const engine::FindOptions& options);
// Does what find() does, but over these documents instead of a collection.
Result<std::unique_ptr<engine::Cursor>> find_among(std::vector<bson::Document> documents,
                                                   const Databases& databases,
                                                   engine::Snapshot& snapshot,
                                                   const engine::Namespace& ns, bson::View filter,
                                                   const engine::FindOptions& options);
// Implements engine::Collection::count() for a view.
Result<int64_t> count_in_view(const Databases& databases, engine::Snapshot& snapshot,
                              const engine::Namespace& ns, bson::View filter,
                              const engine::CountOptions& options);

// Implements engine::Collection::explain() for a view, and explain_aggregate(). Returns {stages:
// [{$cursor: {how the collection under the view answers the first stages}}, {$group: ...}, ...]}.
Result<bson::Document> explain_view(const Databases& databases, engine::Snapshot& snapshot,
                                    const engine::Namespace& ns, bson::View filter,
                                    const engine::FindOptions& options,
                                    engine::Verbosity verbosity);
Result<bson::Document> explain_aggregate(const Databases& databases, engine::Snapshot& snapshot,
                                         const engine::Namespace& ns, bson::View stages,
                                         const engine::AggregateOptions& options,
                                         engine::Verbosity verbosity);

// Implements engine::Collection::distinct(): the values of the cursor's documents at the path.
Result<std::vector<bson::Value>> distinct_values(engine::Cursor& cursor, std::string_view path);

}  // namespace gridmount::aggregation
