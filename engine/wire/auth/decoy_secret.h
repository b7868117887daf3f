// The secret from which decoys are derived: the salts and mechanisms that the server shows for
// users that do not exist. Whoever knew it could tell these users from existing ones.
//
// Decoys must stay the same when the daemon restarts, as the salts of users do. So the secret is a
// document of the store, {_id: "decoyUsers", purpose, key} in admin.system.keys. Who can read it:
// - No client that must log in: no role may read that collection, in which servers keep keys too.
// - Clients of the Unix socket, and everybody who may read the store's files. They own the store,
//   and may read the users themselves.
// - Clients of a server without log-ins. They may read the users as well, but such a server removes
//   the secret at its start and keeps none, so that they learn nothing about users made later.
// A copy of the store (`gridstore backup`) has the secret, as it has the users' credentials. A dump
// has neither the collection admin.system.keys nor the secret, because people pass dumps on more
// freely. A store that is restored from a dump gets a secret of its own. A client that asks both
// stores for a name can then tell a decoy from a user, because the salts of a decoy differ.
//
// A store without users has no secret, because there are no users to hide.
//
// Thread-safe.
#pragma once

#include <optional>
#include <string>

#include "engine/base/error.h"
#include "engine/base/thread_safety.h"
#include "engine/store.h"
#include "engine/wire/auth/user.h"

namespace gridmount::wire {

class DecoySecret {
 public:
  // Both must outlive this object. `is_kept` is false if clients need not log in.
  DecoySecret(engine::Store& store, const UserDirectory& users, bool is_kept);

  // Returns the same text for the lifetime of this object, and that of the store once it has users.
  std::string value() const GM_EXCLUDES(mutex_);
  // Stores the secret if the store has users and no secret yet. Must be called after each change of
  // users. A failure is logged. The secret then lasts only as long as this process.
  void keep() GM_EXCLUDES(mutex_);

 private:
  Result<std::optional<std::string>> stored() const;
  Status store_new(const std::string& secret);
  Status keep_stored() GM_EXCLUDES(mutex_);
  Status remove();

  engine::Store& store_;
  const UserDirectory& users_;
  const bool is_kept_;
  mutable Mutex mutex_;
  std::string value_ GM_GUARDED_BY(mutex_);
  bool is_stored_ GM_GUARDED_BY(mutex_) = false;
};

}  // namespace gridmount::wire
