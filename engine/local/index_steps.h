// Makes an index in transactions of bounded size.
//
// Thread-safe, except that nobody else may change the collection meanwhile.
#pragma once

#include "engine/base/error.h"
#include "engine/store.h"

namespace gridmount::local {

// Does what Collection::create_index() does, but in transactions of bounded size. Nobody else may
// change the collection meanwhile. Fails with IllegalOperation if `store` is not a LocalStore, and
// with StoreReadOnly if it is open read-only. After an error, or an interruption at any time, the
// collection does not have the index. The entries that were already written are then removed in the
// background, now or when the store is next opened.
Status make_index_in_steps(engine::Store& store, const engine::Namespace& ns,
                           const query::IndexDefinition& definition);

}  // namespace gridmount::local
