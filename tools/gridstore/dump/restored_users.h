// The users of a dump, which are gathered and become the store's at the end, all of them or none:
// what mongorestore asks _mergeAuthzCollections for.
//
// Thread-safety: one thread at a time.
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
  // `store` outlives it.
  explicit RestoredUsers(engine::Store& store) : directory_(store) {}

  // Whether documents of that collection are not to be inserted, but come here.
  static bool are_in(const engine::Namespace& ns);

  // An error says why the document cannot be restored; the others can.
  Status add(const engine::Namespace& ns, bson::View document);
  // Returns how many. `drops_others`: users that the dump does not have go, if it has any.
  Result<size_t> merge(bool drops_others);

 private:
  wire::UserDirectory directory_;
  std::vector<wire::User> users_;
  size_t bytes_ = 0;
  std::optional<int64_t> schema_version_;
};

}  // namespace gridmount::tools
