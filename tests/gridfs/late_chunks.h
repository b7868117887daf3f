// Breaks GridFS on purpose: chunks are committed in a transaction of their own, after the
// transaction with their files document.
#pragma once

#include <memory>

#include "engine/store.h"

namespace gridmount::gridfs {

// Holds back inserts into collections whose names end in ".chunks" until the transaction is
// committed, and then inserts in another one. Everything else is passed on. `store` must outlive
// the result.
std::shared_ptr<engine::Database> with_late_chunks(engine::Store& store,
                                                   std::shared_ptr<engine::Database> database);

}  // namespace gridmount::gridfs
