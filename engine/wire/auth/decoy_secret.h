// The secret from which decoys are derived. Decoys are the salts and mechanisms that the server
// shows for users that do not exist. Anybody who knows the secret can find out whether a user
// exists.
//
// Decoys must not change when the daemon is restarted, because the salts of users do not change. So
// the store keeps the secret in the document {_id: "decoyUsers", purpose, key} of the collection
// admin.system.keys. Who can read this document:
// - Clients that must log in cannot read it: no role permits reads of this collection. MongoDB
//   servers keep keys in the same collection.
// - Clients of the Unix socket, and everybody who may read the store's files, can read it. They can
//   also read the users, so the secret tells them nothing new.
// - Clients of a server without log-ins could read it, and they can read the users too. But such a
//   server removes the secret when it starts, unless the store is read-only, and stores none. So
//   its clients learn nothing about users that are created later.
// A copy of the store (`gridstore backup`) has the secret, and the users' credentials. A dump does
// not have the secret, because people often give dumps to others: `gridstore dump` leaves out
// admin.system.keys, unless the command line names this collection. A store that is restored from a
// dump gets a new secret. A client that asks both stores for the same user name can then find out
// whether the user exists: only the salts of a decoy differ.
//
// A store that has never had a user gets no secret, because there are no users to hide.
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

  // Returns the secret, which does not change while this object exists. Exception: the secret
  // changes when keep() finds a stored secret that the constructor could not read, or that another
  // server of the deployment has stored in the meantime. After keep() has stored the secret, later
  // processes use the same secret, until a server without log-ins removes it.
  std::string value() const GM_EXCLUDES(mutex_);
  // Stores the secret, unless the store already has one, has never had a user, or is read-only, or
  // `is_kept` is false. Replaces a stored secret that is not binary, and logs this. Must be called
  // after each change of users. Logs a failure. If no later call succeeds, the secret changes when
  // the process is restarted.
  void keep() GM_EXCLUDES(mutex_);

 private:
  // Returns nothing if there is no secret, or if it is not binary.
  Result<std::optional<std::string>> stored() const;
  Result<std::optional<std::string>> stored(engine::Snapshot& snapshot) const;
  // Stores the secret, unless somebody else has stored one in the meantime. Returns the secret that
  // is stored.
  Result<std::string> store_new(const std::string& secret);
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
