// Decides what a client may do. The service asks before each command runs. A command asks again for
// privileges that become known only while it runs, and a getMore asks for those that its cursor has
// needed (privilege_check.h, commands/cursors.cc). Clients for which applies_to() is false may do
// everything, and are not checked.
//
// Thread-safe.
#pragma once

#include <vector>

#include "engine/base/error.h"
#include "engine/wire/client.h"
#include "engine/wire/command.h"

namespace gridmount::wire {

class Authorizer {
 public:
  virtual ~Authorizer() = default;
  // Returns false for clients that may do everything.
  virtual bool applies_to(const Client& client) const = 0;
  // Fails with Unauthorized (13) unless the client has all of the privileges. An implementation may
  // permit more: AccessControl permits the first createUser without a log-in. Not called for
  // commands that a client may run without having logged in.
  virtual Status check(const Client& client, const Command& command,
                       const std::vector<Privilege>& privileges) const = 0;
};

}  // namespace gridmount::wire
