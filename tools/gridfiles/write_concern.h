// --writeConcern, as mongofiles reads it: a JSON document ({w: 1, j: true}, bare and single-quoted
// names allowed), a number or a tag.
//
// Thread-safe: functions without state.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "engine/base/error.h"
#include "engine/store.h"

namespace gridmount::tools {

struct WriteConcern {
  std::optional<int64_t> w;  // nullopt: `mode` applies
  std::string mode = "majority";
  bool journal = false;  // j or fsync: each write must be durable before it is reported
  std::optional<int64_t> timeout_ms;

  // Fails with FailedToParse, also for unknown fields.
  static Result<WriteConcern> parse(std::string_view text);

  // Fails with BadValue, and with the message of a standalone server, if this write concern needs
  // more than one member, has a tag, or has w: 0 together with j: true. A store in a folder has
  // only one member.
  Status check_for_one_member() const;

  engine::Durability durability() const {
    return journal ? engine::Durability::kDurable : engine::Durability::kCommitted;
  }

  // Returns the text of the write concern for the log, for example {w: "majority", j: true}.
  std::string text() const;
};

}  // namespace gridmount::tools
