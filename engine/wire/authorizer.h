// Decides what a client may do. The service asks the Authorizer before it runs a command. A running
// command asks again for privileges that were not known before. A getMore asks for the privileges
// that the cursor's first command needed (privilege_check.h, commands/cursors.cc).
//
// Implementations must be thread-safe.
#pragma once

#include <vector>

#include "engine/base/error.h"
#include "engine/wire/client.h"
#include "engine/wire/command.h"

namespace gridmount::wire {

class Authorizer {
 public:
  virtual ~Authorizer() = default;
  // Returns false if the client may do everything. check() is not called for this client.
  virtual bool applies_to(const Client& client) const = 0;
  // Fails with Unauthorized (13) unless the client has all of the privileges, and with another
  // error if the client's rights cannot be read from the store. An implementation may permit more:
  // AccessControl permits the first createUser without a log-in. check() is not called for commands
  // that a client may run before its log-in (Command::before_login).
  virtual Status check(const Client& client, const Command& command,
                       const std::vector<Privilege>& privileges) const = 0;
};

}  // namespace gridmount::wire
