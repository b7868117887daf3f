// Collects the users of a dump and adds all of them to the store at the end, or none. mongorestore
// uses _mergeAuthzCollections for this.
//
// Not thread-safe.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "engine/base/error.h"
#include "engine/bson/document.h"
#include "engine/store.h"
#include "engine/wire/auth/user.h"

namespace gridmount::tools {

class RestoredUsers {
 public:
  // `store` must outlive this object.
  explicit RestoredUsers(engine::Store& store) : directory_(store) {}

  // Returns true if documents of that collection must not be inserted but passed to add().
  static bool are_in(const engine::Namespace& ns);

  // Fails if the document cannot be restored. The other users can still be restored.
  Status add(const engine::Namespace& ns, bson::View document);
  // Adds the users and returns their number. With `drops_others`, also removes users that are not
  // in the dump. Does nothing if the dump has no users.
  Result<size_t> merge(bool drops_others);

 private:
  wire::UserDirectory directory_;
  std::vector<wire::User> users_;
  size_t bytes_ = 0;
  std::optional<int64_t> schema_version_;
};

}  // namespace gridmount::tools
