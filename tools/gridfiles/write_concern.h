// --writeConcern, as mongofiles reads it: a JSON document ({w: 1, j: true}, bare and single-quoted
// names allowed), a number or a tag.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "engine/base/error.h"
#include "engine/store.h"

namespace gridmount::tools {

struct WriteConcern {
  std::optional<int64_t> w;  // nullopt: `mode` counts
  std::string mode = "majority";
  bool journal = false;  // j or fsync: each write is durable before it is reported
  std::optional<int64_t> timeout_ms;

  // FailedToParse. Fields that are not known are refused.
  static Result<WriteConcern> parse(std::string_view text);

  // What one embedded store cannot give is refused with the server's words for a standalone: more
  // than one member, a tag, an unacknowledged write that is to be journaled (BadValue).
  Status check_for_one_member() const;

  engine::Durability durability() const {
    return journal ? engine::Durability::kDurable : engine::Durability::kCommitted;
  }

  // {w: "majority", j: true}, for the log.
  std::string text() const;
};

}  // namespace gridmount::tools
