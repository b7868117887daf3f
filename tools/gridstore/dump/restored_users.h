// Collects the users of a dump. At the end, merge() adds all of them to the store, or none of them.
// mongorestore uses the command _mergeAuthzCollections for this.
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

  // Returns true if the caller must pass the documents of the collection `ns` to add(), and must
  // not insert them into the store.
  static bool are_in(const engine::Namespace& ns);

  // Adds a document of a collection for which are_in() returns true. Fails with CommandNotSupported
  // for a role, with BSONObjectTooLarge if the users have more than 64 MiB, and with the errors of
  // wire::restored_user(). After an error, merge() can still restore the users that were added.
  Status add(const engine::Namespace& ns, bson::View document);
  // Adds the users to the store, or replaces them, and returns their number. With `drops_others`,
  // also removes users that are not in the dump. Does nothing if add() has accepted no user. Fails
  // with UnsupportedFormat if the dump's document `authSchema` names a version other than 3 and 5,
  // and as UserDirectory::merge() does.
  Result<size_t> merge(bool drops_others);

 private:
  wire::UserDirectory directory_;
  std::vector<wire::User> users_;
  size_t bytes_ = 0;
  std::optional<int64_t> schema_version_;
};

}  // namespace gridmount::tools
