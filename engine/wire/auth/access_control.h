// The log-ins of clients, and what each client may do.
// Source: MongoDB manual, "Authentication", "Localhost Exception"; drivers' specification
// "Authentication".
//
// Every failed log-in gets the same answer (AuthenticationFailed, 18). The program's log has the
// reason. A client on this machine may run createUser without a log-in as long as the store has
// never had a user.
//
// Thread-safe.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "engine/base/error.h"
#include "engine/base/thread_safety.h"
#include "engine/store.h"
#include "engine/wire/auth/decoy_secret.h"
#include "engine/wire/auth/login_throttle.h"
#include "engine/wire/auth/role.h"
#include "engine/wire/auth/scram.h"
#include "engine/wire/auth/user.h"
#include "engine/wire/authorizer.h"
#include "engine/wire/session_pattern.h"

namespace gridmount::wire {

struct SaslReply {
  int32_t conversation_id = 0;
  bool done = false;
  std::string payload;
};

// The user that a client has logged in as.
struct Identity {
  UserName user;
  std::vector<Role> roles;
};

class AccessControl : public Authorizer {
 public:
  // `store` must outlive this object. If `required` is false, everybody may do everything. Clients
  // can still log in.
  AccessControl(engine::Store& store, bool required);
  ~AccessControl() override;

  // True for clients over TCP if log-ins are required. Clients of the Unix socket own the store's
  // folder and need no log-in.
  bool applies_to(const Client& client) const override;
  Status check(const Client& client, const Command& command,
               const std::vector<Privilege>& privileges) const override;

  // start() implements saslStart, and proceed() implements saslContinue. With `skip_empty_exchange`
  // the reply to the client's proof ends the exchange. Otherwise the client sends one more, empty
  // message. start() fails with MechanismUnavailable (334) for a mechanism that is not SCRAM, and
  // proceed() with ProtocolError (17) if the client has no exchange with this id. Each call of
  // proceed() ends the exchange, unless the call succeeds and the client must still send the empty
  // message. A speculative start, inside hello, fails if the user has no credentials for the
  // mechanism, but does not count as a failed log-in. The driver then uses another mechanism, which
  // hello's saslSupportedMechs names.
  Result<SaslReply> start(const Client& client, const std::string& database,
                          std::string_view mechanism, std::string_view payload,
                          bool skip_empty_exchange, bool speculative) GM_EXCLUDES(mutex_);
  Result<SaslReply> proceed(const Client& client, int32_t conversation_id, std::string_view payload)
      GM_EXCLUDES(mutex_);
  // MONGODB-X509: logs in with the certificate that the connection has shown. If `user` is not
  // empty, it must be the certificate's subject.
  Result<UserName> log_in_by_certificate(const Client& client, const std::string& user)
      GM_EXCLUDES(mutex_);
  void log_out(const Client& client) GM_EXCLUDES(mutex_);
  // Must be called when the client's connection has closed.
  void forget(const Client& client) GM_EXCLUDES(mutex_) { log_out(client); }

  // Returns nothing if the client has not logged in, if its user was dropped since, or if the users
  // cannot be read.
  std::optional<Identity> identity(const Client& client) const GM_EXCLUDES(mutex_);
  // Returns false for a client that must still log in.
  bool may_have_sessions(const Client& client) const GM_EXCLUDES(mutex_);
  // Returns the owner of the client's sessions: the client's account(), and the user that the
  // client has logged in as. If log-ins are not required or the client has not logged in, the
  // sessions have no user, as on a MongoDB server without access control.
  SessionOwner session_owner(const Client& client) const GM_EXCLUDES(mutex_);
  // Returns "user@database" if the client has logged in, otherwise the host that it comes from.
  std::string account(const Client& client) const GM_EXCLUDES(mutex_);
  // Returns true if listDatabases shows the database to the client.
  bool can_list(const Client& client, std::string_view database) const GM_EXCLUDES(mutex_);
  // Returns true if listCollections with authorizedCollections shows the collection to the client.
  bool can_list(const Client& client, std::string_view database, std::string_view collection) const
      GM_EXCLUDES(mutex_);
  // Returns the mechanisms with which the user can log in with a password. For a name without a
  // user, returns mechanisms that depend only on the name and the DecoySecret, so that the reply
  // does not reveal whether the user exists. Returns none for users of $external, who have no
  // passwords.
  Result<std::vector<ScramMechanism>> mechanisms_of(const UserName& name) const;

  UserDirectory& users() { return users_; }
  // Must be called after each change of users. The rights of logged-in clients are then read again
  // from the store.
  void users_changed() GM_EXCLUDES(mutex_);

 private:
  struct Exchange {
    int32_t id;
    ScramConversation scram;
    LoginThrottle::Attempt attempt;
    std::string database;
    bool skip_empty_exchange;
  };
  struct Login {
    std::optional<Exchange> exchange;
    std::optional<Identity> identity;
    UserDigest digest{};  // the digest of the identity's user
    Permissions permissions;
    uint64_t version = 0;  // version_ before the permissions were read
  };

  std::vector<ScramMechanism> mechanisms_of(const UserName& name,
                                            const std::optional<User>& user) const;
  // Returns the client's log-in and rights. Reads them from the store again if users have changed.
  Result<std::optional<Login>> current_login(const Client& client) const GM_EXCLUDES(mutex_);
  Status may_make_first_user(const Client& client, const Command& command) const;
  // Reads the user from the store and logs the client in. Returns false if there is no such user.
  Result<bool> log_in(const Client& client, const UserName& name) GM_EXCLUDES(mutex_);
  // Logs and counts a failed log-in, and returns the error for the client.
  Error refuse(const Client& client, std::string_view mechanism, const UserName& name,
               const LoginThrottle::Attempt& attempt, const std::string& reason);
  // Fails with AuthenticationFailed if too many log-ins have failed, so that this one must wait.
  // The refusal does not count as a failed log-in.
  Status check_brake(const Client& client, const UserName& name,
                     const LoginThrottle::Attempt& attempt) const;
  // Evaluates a proof. Only one call runs at a time, so that each guess is counted before the next
  // one is evaluated, however many exchanges have been started before.
  Result<std::string> prove(const Client& client, Exchange& exchange, std::string_view payload)
      GM_EXCLUDES(guesses_);

  const bool required_;
  const UserDigest nobody_;
  UserDirectory users_;
  DecoySecret decoy_secret_;
  LoginThrottle throttle_;
  Mutex guesses_;  // held while a proof is evaluated; taken before the throttle's lock
  mutable Mutex mutex_;
  mutable std::unordered_map<int32_t, Login> logins_ GM_GUARDED_BY(mutex_);  // by the client's id
  uint64_t version_ GM_GUARDED_BY(mutex_) = 0;
};

}  // namespace gridmount::wire
