// GridFS broken on purpose: chunks are committed in their own transaction after that of their files
// document.
#pragma once

#include <memory>

#include "engine/store.h"

namespace gridmount::gridfs {

// What is inserted into collections whose names end in ".chunks" is kept back until the transaction
// is committed, and then inserted in another; the rest is passed on. `store` outlives it.
std::shared_ptr<engine::Database> with_late_chunks(engine::Store& store,
                                                   std::shared_ptr<engine::Database> database);

}  // namespace gridmount::gridfs
