// Who may do what. The service asks it once per request, before the command runs; without one, and
// for clients that need not log in, everything is allowed.
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
  // False for clients that may do everything.
  virtual bool applies_to(const Client& client) const = 0;
  // Unauthorized (13) unless the client has all of the privileges; commands that are open before
  // the log-in are not asked about.
  virtual Status check(const Client& client, const Command& command,
                       const std::vector<Privilege>& privileges) const = 0;
};

}  // namespace gridmount::wire
