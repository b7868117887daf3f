// Decides what a client may do. The service asks before it runs a command. A command asks again if
// it finds out only while it runs which privileges it needs. A getMore asks for the privileges that
// the command of its cursor needed (privilege_check.h, commands/cursors.cc).
//
// Thread-safe: implementations must be.
#pragma once

#include <vector>

#include "engine/base/error.h"
#include "engine/wire/client.h"
#include "engine/wire/command.h"

namespace gridmount::wire {

class Authorizer {
 public:
  virtual ~Authorizer() = default;
  // Returns false if the client may do everything. check() is not called for such a client.
  virtual bool applies_to(const Client& client) const = 0;
  // Fails with Unauthorized (13) unless the client has all of the privileges. An implementation may
  // permit more: AccessControl permits the first createUser without a log-in. check() is not called
  // for commands that a client may run before its log-in (Command::before_login).
  virtual Status check(const Client& client, const Command& command,
                       const std::vector<Privilege>& privileges) const = 0;
};

}  // namespace gridmount::wire
