#include "engine/wire/commands/current_operations.h"

#include <string>
#include <string_view>

#include "engine/bson/text.h"
#include "engine/wire/commands/host_name.h"

namespace gridmount::wire {
namespace {

// For a command above the limit, only the beginning of its text and its comment are shown. The
// first limit applies to currentOp and to `truncateOps`, as on servers. Otherwise the second limit
// applies, so that the reply has room for many commands.
constexpr uint32_t kTruncatedCommandBytes = 1000;
constexpr uint32_t kCommandBytesMax = 256 * 1024;

std::string_view kind_of(std::string_view command) {
  if (command == "insert" || command == "update" || command == "getMore") {
    return command == "getMore" ? "getmore" : command;
  }
  if (command == "find") return "query";
  return command == "delete" ? "remove" : "command";
}

std::string ns_of(const Operation& operation) {
  const bson::Element first = *operation.command.begin();
  if (const auto collection = operation.command.find("collection");
      first.key == "getMore" && collection && collection->type() == bson::Type::kString) {
    return std::string(operation.database) + "." + std::string(collection->as_string());
  }
  if (first.value.type() != bson::Type::kString) return std::string(operation.database) + ".$cmd";
  return std::string(operation.database) + "." + std::string(first.value.as_string());
}

void append_command(bson::Builder& out, std::string_view key, bson::View command,
                    uint32_t bytes_max) {
  if (command.size() <= bytes_max) {
    out.append(key, command);
    return;
  }
  constexpr std::string_view kDots = "...";
  const std::string text = bson::to_text(command).substr(0, kTruncatedCommandBytes - kDots.size());
  out.open_document(key).append("$truncated", bson::valid_text(text).append(kDots));
  if (const auto comment = command.find("comment")) out.append("comment", *comment);
  out.close();
}

bson::Document shown(const Operation& operation, const std::string& host,
                     uint32_t command_bytes_max) {
  bson::Builder out;
  out.append("type", "op")
      .append("host", host)
      .append("desc", "conn" + std::to_string(operation.client->id()));
  // Uses only fields of the client that never change. The other fields belong to the client's own
  // thread.
  out.append("connectionId", operation.client->id());
  out.append("client", operation.client->peer().address);
  out.append("active", true);
  const auto running = std::chrono::duration_cast<std::chrono::microseconds>(
      std::chrono::steady_clock::now() - operation.begin);
  out.append("opid", operation.id);
  if (operation.session) {
    out.open_document("lsid").append("id", binary_of(*operation.session)).close();
  }
  out.append("secs_running", static_cast<int64_t>(running.count() / 1'000'000));
  out.append("microsecs_running", static_cast<int64_t>(running.count()));
  out.append("op", kind_of((*operation.command.begin()).key));
  out.append("ns", ns_of(operation));
  append_command(out, "command", operation.command, command_bytes_max);
  if (operation.interrupt->reason()) out.append("killPending", true);
  out.append("numYields", int32_t{0}).append("waitingForLock", false);
  return std::move(out).finish();
}

bson::Document shown(const cursors::CursorInfo& info, const std::string& host,
                     uint32_t command_bytes_max) {
  bson::Builder out;
  out.append("type", "idleCursor").append("host", host).append("ns", info.ns.full());
  const auto* const cursor = static_cast<const ClientCursor*>(info.options.note.get());
  if (cursor != nullptr && cursor->session) {
    out.open_document("lsid").append("id", binary_of(*cursor->session)).close();
  }
  out.open_document("cursor").append("cursorId", info.id);
  out.append("noCursorTimeout", info.options.no_timeout);
  out.append("tailable", info.options.tailable);
  out.append("awaitData", cursor != nullptr && cursor->await_data);
  if (cursor != nullptr) {
    append_command(out, "originatingCommand", cursor->command, command_bytes_max);
  }
  out.close();
  return std::move(out).finish();
}

}  // namespace

Result<std::vector<bson::Document>> current_operations(Call& call, bson::View options) {
  GM_ASSIGN(Arguments fields, Arguments::of("$currentOp", options));
  // These options have no effect. Every client that may run $currentOp sees all operations, and
  // there are no idle connections or backtraces to show.
  for (const char* const name :
       {"allUsers", "idleConnections", "idleSessions", "localOps", "backtrace", "targetAllNodes"}) {
    GM_TRY(fields.strict_boolean(name));
  }
  GM_ASSIGN(const std::optional<bool> idle_cursors, fields.strict_boolean("idleCursors"));
  GM_ASSIGN(const std::optional<bool> truncates, fields.strict_boolean("truncateOps"));
  const uint32_t command_bytes_max =
      truncates.value_or(false) ? kTruncatedCommandBytes : kCommandBytesMax;
  for (const bson::Element unknown : fields.rest()) {
    return fail(ErrorCode::kFailedToParse,
                "Unrecognized option '" + std::string(unknown.key) + "' in $currentOp stage.");
  }
  const std::string host = host_name();
  std::vector<bson::Document> documents;
  call.state().operations().visit([&](const Operation& operation) {
    documents.push_back(shown(operation, host, command_bytes_max));
  });
  if (idle_cursors.value_or(false)) {
    for (const cursors::CursorInfo& info : call.state().cursors().list()) {
      if (!info.in_use) documents.push_back(shown(info, host, command_bytes_max));
    }
  }
  return documents;
}

Result<std::vector<bson::Document>> local_sessions(Call& call, bson::View options) {
  GM_ASSIGN(Arguments fields, Arguments::of("$listLocalSessions", options));
  GM_TRY(fields.strict_boolean("allUsers"));
  GM_TRY(fields.finish());
  std::vector<bson::Document> documents;
  for (const SessionId& session : call.state().sessions().list()) {
    bson::Builder out;
    out.open_document("_id").append("id", binary_of(session)).close();
    documents.push_back(std::move(out).finish());
  }
  return documents;
}

}  // namespace gridmount::wire
