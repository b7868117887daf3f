// The secret from which decoys are derived. Decoys are the salts and mechanisms that the server
// shows for users that do not exist. Anybody who knows the secret can find out whether a user
// exists.
//
// Decoys must not change when the daemon is restarted, because the salts of users do not change. So
// the secret is in a document of the store, {_id: "decoyUsers", purpose, key} in admin.system.keys.
// The following clients can or cannot read it:
// - Clients that must log in cannot: no role may read this collection, in which servers keep keys
//   too.
// - Clients of the Unix socket can, and so can everybody who may read the store's files. They own
//   the store, and may also read the users.
// - Clients of a server without log-ins could, and they may read the users too. But such a server
//   removes the secret at its start and stores none, so that its clients learn nothing about users
//   that are made later.
// A copy of the store (`gridstore backup`) has the secret, and the users' credentials. A dump has
// neither the collection admin.system.keys nor the secret, because people give dumps to others more
// readily. A store that is restored from a dump gets a new secret. A client that asks both stores
// for the same name can then find out whether the user exists, because the salts of a decoy differ.
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
  // `store` and `users` must outlive this object. `is_kept` must be false if clients need not log
  // in.
  DecoySecret(engine::Store& store, const UserDirectory& users, bool is_kept);

  // Returns the secret. It does not change during the lifetime of this object, unless the
  // constructor could not read the stored secret and keep() has read it later. When keep() has
  // stored it, it does not change during the lifetime of the store.
  std::string value() const GM_EXCLUDES(mutex_);
  // Stores the secret if the store has users and no secret yet. Must be called after each change of
  // users. Logs a failure. The secret then changes when the process is restarted.
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
