// fsync and fsyncUnlock. Source: MongoDB manual, "fsync", "fsyncUnlock".

#include <string_view>

#include "engine/wire/call.h"
#include "engine/wire/commands/command_groups.h"

namespace gridmount::wire {
namespace {

Status run_fsync(Call& call, bson::Builder& reply) {
  call.arguments().ignore("fsync");
  GM_ASSIGN(const bool lock, call.arguments().boolean("lock"));
  GM_TRY(call.arguments().boolean("async"));
  call.arguments().ignore("fsyncLockAcquisitionTimeoutMillis");
  GM_TRY(call.arguments().finish());
  if (lock) {
    // The mount writes to the same store. A locked store would make the file system hang.
    return fail(ErrorCode::kCommandNotSupported,
                "fsync: the option 'lock' is not supported; to copy the files of a store in use, "
                "take a snapshot of their file system, or use 'gridstore backup'");
  }
  GM_TRY(call.store().make_durable());
  reply.append("numFiles", int32_t{1});
  return {};
}

Status run_fsync_unlock(Call& call, bson::Builder&) {
  call.arguments().ignore(call.arguments().path());
  GM_TRY(call.arguments().finish());
  return fail(ErrorCode::kIllegalOperation, "fsyncUnlock called when not locked");
}

}  // namespace

Commands fsync_commands() {
  return {cluster_command("fsync", run_fsync, "fsync", "makes all commits durable"),
          cluster_command("fsyncUnlock", run_fsync_unlock, "unlock", "ends fsync's lock")};
}

}  // namespace gridmount::wire
