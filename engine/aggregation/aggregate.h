// Runs pipelines over the collections of any store. An implementation of engine/store.h calls these
// functions for its reads of views and for its aggregations. The functions call find(), insert()
// and other functions of the implementation.
//
// Thread-safety: the functions have no state. A call of a function, and the cursor that it returns,
// are bound to the thread that uses the snapshot. A cursor must not outlive its snapshot.
#pragma once

#include <functional>
#include <memory>
#include <string_view>
#include <vector>

#include "engine/base/error.h"
#include "engine/bson/document.h"
#include "engine/bson/string_order.h"
#include "engine/bson/value.h"
#include "engine/store.h"

namespace gridmount::aggregation {

// Returns the database with this name. A cursor may call it for as long as the cursor exists.
using Databases = std::function<std::shared_ptr<engine::Database>(std::string_view name)>;

// Implements engine::Collection::aggregate(), and fails with the errors of that function. `ns` may
// be a view.
Result<std::unique_ptr<engine::Cursor>> aggregate(const Databases& databases,
                                                  engine::Snapshot& snapshot,
                                                  const engine::Namespace& ns, bson::View stages,
                                                  const engine::AggregateOptions& options);

// Implements engine::Collection::find() for a view. Ignores the options that an aggregation does
// not have, such as min, max, return_key and tailable. The caller must refuse these options.
Result<std::unique_ptr<engine::Cursor>> find_in_view(const Databases& databases,
                                                     engine::Snapshot& snapshot,
                                                     const engine::Namespace& ns, bson::View filter,
                                                     const engine::FindOptions& options);
// Does what engine::Collection::find() does, but over `documents` instead of a collection. Uses
// only these options: sort, skip, limit, projection, variables, collation, deadline and
// sort_bytes_max. Ignores all others.
Result<std::unique_ptr<engine::Cursor>> find_among(std::vector<bson::Document> documents,
                                                   const Databases& databases,
                                                   engine::Snapshot& snapshot,
                                                   const engine::Namespace& ns, bson::View filter,
                                                   const engine::FindOptions& options);
// Implements engine::Collection::count() for a view.
Result<int64_t> count_in_view(const Databases& databases, engine::Snapshot& snapshot,
                              const engine::Namespace& ns, bson::View filter,
                              const engine::CountOptions& options);

// explain_view() implements engine::Collection::explain() for a view, and explain_aggregate()
// implements engine::Collection::explain_aggregate(). Both return {stages: [{$cursor: {the plan for
// the stages that the collection runs}}, {$group: ...}, ...]}. If the collection runs all stages,
// they return the plan of the find() instead. They write nothing.
Result<bson::Document> explain_view(const Databases& databases, engine::Snapshot& snapshot,
                                    const engine::Namespace& ns, bson::View filter,
                                    const engine::FindOptions& options,
                                    engine::Verbosity verbosity);
Result<bson::Document> explain_aggregate(const Databases& databases, engine::Snapshot& snapshot,
                                         const engine::Namespace& ns, bson::View stages,
                                         const engine::AggregateOptions& options,
                                         engine::Verbosity verbosity);

// Implements engine::Collection::distinct(). Returns the different values that the cursor's
// documents have at the path, in ascending order. Every element of an array is a value of its own.
// Strings that `strings` orders as equal count as one value, of which only the first is returned.
// If `strings` is null, strings are compared as bytes. Fails with 17217 if the values take more
// than 16 MiB.
Result<std::vector<bson::Value>> distinct_values(engine::Cursor& cursor, std::string_view path,
                                                 const bson::StringOrder* strings);

}  // namespace gridmount::aggregation
