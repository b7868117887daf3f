#include "engine/wire/auth/access_control.h"

#include <algorithm>
#include <utility>

#include "engine/base/log.h"
#include "engine/bson/json.h"
#include "engine/bson/value.h"
#include "engine/wire/auth/digest.h"

namespace gridmount::wire {
namespace {

constexpr ErrorCode kMechanismUnavailable{334};
constexpr ErrorCode kProtocolError{17};
constexpr std::string_view kExternal = "$external";
constexpr std::string_view kX509 = "MONGODB-X509";

// Names come from untrusted clients. The log shows them in quotes with line breaks escaped, so that
// no name can fake a line of the log.
std::string in_quotes(std::string_view text) {
  return bson::to_json(bson::Value(text).view(), bson::JsonForm::kRelaxed);
}

std::string shown(const UserName& name) {
  return in_quotes(account_of(name));
}

}  // namespace

AccessControl::AccessControl(engine::Store& store, bool required)
    : required_(required),
      nobody_(digest_of_user("").value_or(UserDigest{})),
      users_(store),
      decoy_secret_(store, users_, required) {}

AccessControl::~AccessControl() = default;

bool AccessControl::applies_to(const Client& client) const {
  return required_ && client.peer().kind == Peer::Kind::kTcp;
}

Result<std::optional<AccessControl::Login>> AccessControl::current_login(
    const Client& client) const {
  uint64_t version = 0;
  UserName name;
  {
    const MutexLock lock(mutex_);
    const auto found = logins_.find(client.id());
    if (found == logins_.end() || !found->second.identity) return std::optional<Login>();
    if (found->second.version == version_) return std::optional(found->second);
    version = version_;
    name = found->second.identity->user;
  }
  // Reads the store without the lock, because a read may wait for a disk.
  GM_ASSIGN(const std::optional<User> user, users_.find(name));
  const MutexLock lock(mutex_);
  const auto found = logins_.find(client.id());
  if (found == logins_.end()) return std::optional<Login>();
  Login& login = found->second;
  login.version = version;
  if (user) {
    login.identity = Identity{name, user->roles};
    login.permissions = Permissions(user->roles);
  } else {
    login.identity.reset();
    login.permissions = Permissions();
    return std::optional<Login>();
  }
  return std::optional(login);
}

Status AccessControl::may_make_first_user(const Client& client, const Command& command) const {
  const auto refused = [&] {
    return fail(ErrorCode::kUnauthorized,
                "Command " + std::string(command.name) + " requires authentication");
  };
  if (command.name != "createUser" || !client.peer().is_loopback) return refused();
  GM_ASSIGN(const bool is_first, users_.never_had_any());
  if (!is_first) return refused();
  return {};
}

Status AccessControl::check(const Client& client, const Command& command,
                            const std::vector<Privilege>& privileges) const {
  GM_ASSIGN(const std::optional<Login> login, current_login(client));
  if (!login) return may_make_first_user(client, command);
  for (const Privilege& privilege : privileges) {
    bool permitted = false;
    std::string where = "the cluster";
    switch (privilege.resource) {
      case Privilege::Resource::kCollection:
        where = privilege.database + "." + privilege.collection;
        permitted = login->permissions.on_collection(privilege.action, privilege.database,
                                                     privilege.collection);
        break;
      case Privilege::Resource::kDatabase:
        where = privilege.database;
        permitted = login->permissions.on_database(privilege.action, privilege.database);
        break;
      case Privilege::Resource::kAnyDatabase:
        where = "any database";
        permitted = login->permissions.on_any_database(privilege.action);
        break;
      case Privilege::Resource::kCluster:
        permitted = login->permissions.on_cluster(privilege.action);
        break;
    }
    if (!permitted) {
      return fail(ErrorCode::kUnauthorized, "not authorized on " + where + " to execute command " +
                                                std::string(command.name) +
                                                ", which requires the action " +
                                                std::string(privilege.action));
    }
  }
  return {};
}

Error AccessControl::refuse(const Client& client, std::string_view mechanism, const UserName& name,
                            const LoginThrottle::Attempt& attempt, const std::string& reason) {
  throttle_.failed(attempt, LoginThrottle::Clock::now());
  log::warn("failed log-in of {} from {} by {}: {}", shown(name), client.peer().address, mechanism,
            reason);
  return {ErrorCode::kAuthenticationFailed, "Authentication failed."};
}

Status AccessControl::check_brake(const Client& client, const UserName& name,
                                  const LoginThrottle::Attempt& attempt) const {
  const auto pause = throttle_.pause(attempt, LoginThrottle::Clock::now());
  if (pause <= LoginThrottle::Clock::duration::zero()) return {};
  log::warn("refused log-in of {} from {}: too many log-ins have failed", shown(name),
            client.peer().address);
  return fail(ErrorCode::kAuthenticationFailed, "Authentication failed.");
}

Result<SaslReply> AccessControl::start(const Client& client, const std::string& database,
                                       std::string_view mechanism_given, std::string_view payload,
                                       bool skip_empty_exchange, bool speculative) {
  const std::optional<ScramMechanism> mechanism = find_mechanism(mechanism_given);
  if (!mechanism) {
    return fail(kMechanismUnavailable,
                "Received authentication for mechanism " + in_quotes(mechanism_given) +
                    " which is unknown or not enabled; use SCRAM-SHA-1 or SCRAM-SHA-256");
  }
  ScramConversation scram(*mechanism);
  if (const Status begun = scram.first(payload); !begun) {
    const UserName nobody{{}, database};
    return fail(refuse(client, mechanism_given, nobody,
                       {host_of(client.peer().address), nobody.id(), false},
                       begun.error().message()));
  }
  const UserName name{scram.user(), database};
  GM_ASSIGN(const std::optional<User> user, users_.find(name));
  const LoginThrottle::Attempt attempt{host_of(client.peer().address), name.id(), user.has_value()};
  GM_TRY(check_brake(client, name, attempt));
  const std::vector<ScramMechanism> mechanisms = mechanisms_of(name, user);
  if (speculative &&
      std::find(mechanisms.begin(), mechanisms.end(), *mechanism) == mechanisms.end()) {
    // Drivers try SCRAM-SHA-256 in their first hello. Its reply names the user's mechanisms, and
    // the driver continues with one of these. Such a try is not a guess at a password, so it does
    // not count as a failure.
    return fail(ErrorCode::kAuthenticationFailed, "Authentication failed.");
  }
  ScramCredentials credentials = decoy_credentials(*mechanism, name.id(), decoy_secret_.value());
  if (user) {
    const auto found = user->credentials.find(*mechanism);
    if (found != user->credentials.end()) credentials = found->second;
  }
  GM_ASSIGN(const std::string nonce, make_nonce());
  GM_ASSIGN(const std::string challenge, scram.begin(std::move(credentials), nonce));

  const MutexLock lock(mutex_);
  Login& login = logins_[client.id()];
  const int32_t id = login.exchange ? login.exchange->id + 1 : 1;
  login.exchange.emplace(Exchange{id, std::move(scram), attempt, database, skip_empty_exchange});
  return SaslReply{id, false, challenge};
}

Result<std::string> AccessControl::prove(const Client& client, Exchange& exchange,
                                         std::string_view payload) {
  const UserName name{exchange.scram.user(), exchange.database};
  const MutexLock lock(guesses_);
  GM_TRY(check_brake(client, name, exchange.attempt));
  Result<std::string> answer = exchange.scram.finish(payload);
  if (answer) return answer;
  return fail(refuse(client, mechanism_name(exchange.scram.mechanism()), name, exchange.attempt,
                     answer.error().message()));
}

Result<SaslReply> AccessControl::proceed(const Client& client, int32_t conversation_id,
                                         std::string_view payload) {
  std::optional<Exchange> exchange;
  {
    const MutexLock lock(mutex_);
    const auto found = logins_.find(client.id());
    if (found != logins_.end()) std::swap(exchange, found->second.exchange);
  }
  if (!exchange) return fail(kProtocolError, "No SASL session state found");
  if (exchange->id != conversation_id) {
    return fail(kProtocolError, "sasl: Mismatched conversation id");
  }
  // Without skipEmptyExchange, the client acknowledges the server's proof with an empty message.
  if (exchange->scram.succeeded()) {
    if (!payload.empty()) return fail(ErrorCode::kAuthenticationFailed, "Authentication failed.");
    return SaslReply{conversation_id, true, {}};
  }
  const UserName name{exchange->scram.user(), exchange->database};
  const std::string_view mechanism = mechanism_name(exchange->scram.mechanism());
  GM_ASSIGN(const std::string answer, prove(client, *exchange, payload));
  GM_ASSIGN(const bool exists, log_in(client, name));
  if (!exists) {
    return fail(refuse(client, mechanism, name, exchange->attempt, "the user has been dropped"));
  }
  throttle_.succeeded(exchange->attempt);
  const bool done = exchange->skip_empty_exchange;
  if (!done) {
    const MutexLock lock(mutex_);
    logins_[client.id()].exchange = std::move(exchange);
  }
  return SaslReply{conversation_id, done, answer};
}

Result<UserName> AccessControl::log_in_by_certificate(const Client& client,
                                                      const std::string& given) {
  const std::string& subject = client.peer().certificate_subject;
  const UserName name{subject.empty() ? given : subject, std::string(kExternal)};
  const LoginThrottle::Attempt attempt{host_of(client.peer().address), name.id(), false};
  const auto refused = [&](const std::string& reason) {
    return fail(refuse(client, kX509, name, attempt, reason));
  };
  if (subject.empty()) return refused("the connection has shown no certificate");
  if (!given.empty() && given != subject) {
    return refused("the certificate is not that of " + in_quotes(given));
  }
  GM_ASSIGN(const bool exists, log_in(client, name));
  if (!exists) return refused("there is no such user");
  return name;
}

Result<bool> AccessControl::log_in(const Client& client, const UserName& name) {
  // Must come before the read. If users change after the read, the client's rights are read again.
  const uint64_t version = [&] {
    const MutexLock lock(mutex_);
    return version_;
  }();
  GM_ASSIGN(const std::optional<User> user, users_.find(name));
  if (!user) return false;
  log::info("log-in of {} from {}", shown(name), client.peer().address);
  const UserDigest digest = digest_of_user(account_of(name)).value_or(UserDigest{});
  const MutexLock lock(mutex_);
  Login& login = logins_[client.id()];
  login.identity = Identity{name, user->roles};
  login.digest = digest;
  login.permissions = Permissions(user->roles);
  login.version = version;
  return true;
}

void AccessControl::log_out(const Client& client) {
  const MutexLock lock(mutex_);
  logins_.erase(client.id());
}

std::optional<Identity> AccessControl::identity(const Client& client) const {
  const Result<std::optional<Login>> login = current_login(client);
  if (!login || !*login) return std::nullopt;
  return (*login)->identity;
}

bool AccessControl::may_have_sessions(const Client& client) const {
  if (!applies_to(client)) return true;
  const MutexLock lock(mutex_);
  const auto found = logins_.find(client.id());
  return found != logins_.end() && found->second.identity;
}

std::string AccessControl::account(const Client& client) const {
  {
    const MutexLock lock(mutex_);
    const auto found = logins_.find(client.id());
    if (found != logins_.end() && found->second.identity) {
      return account_of(found->second.identity->user);
    }
  }
  return host_of(client.peer().address);
}

SessionOwner AccessControl::session_owner(const Client& client) const {
  SessionOwner owner{account(client), nobody_};
  if (!required_) return owner;
  const MutexLock lock(mutex_);
  const auto found = logins_.find(client.id());
  if (found != logins_.end() && found->second.identity) owner.user = found->second.digest;
  return owner;
}

bool AccessControl::can_list(const Client& client, std::string_view database) const {
  if (!applies_to(client)) return true;
  const Result<std::optional<Login>> login = current_login(client);
  if (!login || !*login) return false;
  const Permissions& permissions = (*login)->permissions;
  return permissions.on_cluster("listDatabases") || permissions.any_on(database);
}

bool AccessControl::can_list(const Client& client, std::string_view database,
                             std::string_view collection) const {
  if (!applies_to(client)) return true;
  const Result<std::optional<Login>> login = current_login(client);
  return login && *login && (*login)->permissions.any_on_collection(database, collection);
}

Result<std::vector<ScramMechanism>> AccessControl::mechanisms_of(const UserName& name) const {
  GM_ASSIGN(const std::optional<User> user, users_.find(name));
  return mechanisms_of(name, user);
}

std::vector<ScramMechanism> AccessControl::mechanisms_of(const UserName& name,
                                                         const std::optional<User>& user) const {
  if (name.database == kExternal) return {};
  if (!user) return decoy_mechanisms(name.id(), decoy_secret_.value());
  std::vector<ScramMechanism> mechanisms;
  for (const auto& [mechanism, credentials] : user->credentials) mechanisms.push_back(mechanism);
  return mechanisms;
}

void AccessControl::users_changed() {
  {
    const MutexLock lock(mutex_);
    ++version_;
  }
  decoy_secret_.keep();
}

}  // namespace gridmount::wire
