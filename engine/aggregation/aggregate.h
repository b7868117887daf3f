// Running pipelines over the collections of a store, whatever store it is: an implementation of
// engine/store.h hands its reads of views and its aggregations to these functions, which come back
// to it by find(), insert() and the like.
//
// Thread-safety: none of its own; a cursor belongs to the snapshot it reads.
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

// How other collections are reached. May be called as long as a cursor made with it lives.
using Databases = std::function<std::shared_ptr<engine::Database>(std::string_view name)>;

// engine::Collection::aggregate(). `ns` may be a view.
Result<std::unique_ptr<engine::Cursor>> aggregate(const Databases& databases,
                                                  engine::Snapshot& snapshot,
                                                  const engine::Namespace& ns, bson::View stages,
                                                  const engine::AggregateOptions& options);

// engine::Collection::find() and count() of a view.
Result<std::unique_ptr<engine::Cursor>> find_in_view(const Databases& databases,
                                                     engine::Snapshot& snapshot,
                                                     const engine::Namespace& ns, bson::View filter,
                                                     const engine::FindOptions& options);
// find() among documents that are no collection's.
Result<std::unique_ptr<engine::Cursor>> find_among(std::vector<bson::Document> documents,
                                                   const Databases& databases,
                                                   engine::Snapshot& snapshot,
                                                   const engine::Namespace& ns, bson::View filter,
                                                   const engine::FindOptions& options);
Result<int64_t> count_in_view(const Databases& databases, engine::Snapshot& snapshot,
                              const engine::Namespace& ns, bson::View filter,
                              const engine::CountOptions& options);

// engine::Collection::explain() of a view, and explain_aggregate(): {stages: [{$cursor: {what the
// collection below says of the first stages}}, {$group: ...}, ...]}.
Result<bson::Document> explain_view(const Databases& databases, engine::Snapshot& snapshot,
                                    const engine::Namespace& ns, bson::View filter,
                                    const engine::FindOptions& options,
                                    engine::Verbosity verbosity);
Result<bson::Document> explain_aggregate(const Databases& databases, engine::Snapshot& snapshot,
                                         const engine::Namespace& ns, bson::View stages,
                                         const engine::AggregateOptions& options,
                                         engine::Verbosity verbosity);

// engine::Collection::distinct(): the values of what the cursor gives.
Result<std::vector<bson::Value>> distinct_values(engine::Cursor& cursor, std::string_view path);

}  // namespace gridmount::aggregation
