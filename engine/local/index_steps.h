// Makes an index in transactions of bounded size.
//
// Thread-safe, if no other thread changes the collection meanwhile.
#pragma once

#include "engine/base/error.h"
#include "engine/store.h"

namespace gridmount::local {

// Does what Collection::create_index() does, but in transactions of bounded size. Until this
// function returns, no other thread may change the collection. Fails as create_index() does, with
// IllegalOperation if `store` is not a LocalStore, and with StoreReadOnly if the store is open
// read-only. After an error, or if the process ends early, the collection does not have the index.
// Entries that were already written are then removed in the background: by this process, or after
// the next opening for writing.
Status make_index_in_steps(engine::Store& store, const engine::Namespace& ns,
                           const query::IndexDefinition& definition);

}  // namespace gridmount::local
