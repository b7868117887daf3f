// getMore and killCursors.
// Source: MongoDB manual, "getMore", "killCursors"; for awaitData, "Tailable Cursors" and the
// drivers' specification.

#include <string>

#include "engine/base/hex.h"
#include "engine/wire/commands/command_groups.h"
#include "engine/wire/commands/cursor_reply.h"

namespace gridmount::wire {
namespace {

constexpr std::chrono::milliseconds kAwaitDefault{1000};
constexpr ErrorCode kSessionMissing{50737};
constexpr ErrorCode kNoSession{50736};
constexpr ErrorCode kOtherSession{50738};

struct GetMore {
  int64_t id = 0;
  engine::Namespace ns;
  std::optional<int64_t> batch_size;
};

Result<GetMore> read_get_more(Arguments& arguments) {
  GetMore get_more;
  GM_ASSIGN(const bson::ValueView id, arguments.required("getMore"));
  if (id.type() != bson::Type::kInt64) {
    return arguments.wrong_type("getMore", id, "type 'long'");
  }
  get_more.id = id.as_int64();
  GM_ASSIGN(get_more.ns.database, arguments.database());
  GM_ASSIGN(const std::string_view collection, arguments.required_string("collection"));
  get_more.ns.collection = collection;
  if (collection.empty() || collection.find('\0') != std::string_view::npos) {
    return fail(ErrorCode::kInvalidNamespace,
                "Invalid namespace for getMore: " + get_more.ns.full());
  }
  GM_ASSIGN(get_more.batch_size, arguments.integer_from("batchSize", 0));
  // Only reads of a replica set's oplog use these arguments.
  arguments.ignore("term");
  arguments.ignore("lastKnownCommittedOpTime");
  GM_TRY(arguments.finish());
  if (get_more.batch_size == 0) get_more.batch_size.reset();
  return get_more;
}

std::string shown(const SessionId& session) {
  std::string text;
  for (size_t i = 0; i < session.size(); ++i) {
    if (i == 4 || i == 6 || i == 8 || i == 10) text += '-';
    append_hex(text, session[i]);
  }
  return text;
}

Status check_session(Call& call, int64_t id, const ClientCursor& cursor) {
  const std::optional<SessionId>& session = call.generic().session;
  if (session == cursor.session) return {};
  const std::string which = "Cannot run getMore on cursor " + std::to_string(id);
  if (!cursor.session) {
    return fail(kNoSession,
                which + ", which was not created in a session, in session " + shown(*session));
  }
  const std::string created = which + ", which was created in session " + shown(*cursor.session);
  if (!session) return fail(kSessionMissing, created + ", without an lsid");
  return fail(kOtherSession, created + ", in session " + shown(*session));
}

// Returns true if the client owns the cursor. A client that need not log in may use every cursor.
bool is_owned(Call& call, const ClientCursor& cursor) {
  const AccessControl& access = call.state().access();
  if (!access.applies_to(call.client())) return true;
  const std::optional<Identity> identity = access.identity(call.client());
  return identity && cursor.owner == identity->user;
}

// Fails unless the client's user has created the cursor and still has the privileges that the
// cursor's command needed. The privileges may have been revoked in the meantime.
Status check_owner(Call& call, int64_t id, const ClientCursor& cursor) {
  if (!is_owned(call, cursor)) {
    return fail(ErrorCode::kUnauthorized,
                "cursor id " + std::to_string(id) + " was not created by the authenticated user");
  }
  const AccessControl& access = call.state().access();
  if (access.applies_to(call.client()) &&
      !access.check(call.client(), call.command(), cursor.privileges)) {
    return fail(ErrorCode::kUnauthorized,
                "not authorized for getMore with cursor id " + std::to_string(id));
  }
  return {};
}

// Returns the counts of one batch, because a cursor's observer counts from the start of the cursor.
engine::ReadObserver difference(const engine::ReadObserver& after,
                                const engine::ReadObserver& before) {
  return {after.keys_examined - before.keys_examined,
          after.documents_examined - before.documents_examined, after.plan_summary};
}

// Marks the cursor as being read by this call. The cursor registry also allows only one reader.
class SoleReader {
 public:
  explicit SoleReader(ClientCursor& cursor)
      : cursor_(cursor), is_sole_(!cursor.being_read.exchange(true)) {}
  ~SoleReader() {
    if (is_sole_) cursor_.being_read = false;
  }
  SoleReader(const SoleReader&) = delete;
  SoleReader& operator=(const SoleReader&) = delete;

  bool is_sole() const { return is_sole_; }

 private:
  ClientCursor& cursor_;
  const bool is_sole_;
};

// Lets the operation use the cursor's interrupt. While a Resumed exists, the deadline of the
// interrupt is the time that the cursor has left.
class Resumed {
 public:
  Resumed(Call& call, std::shared_ptr<ClientCursor> cursor)
      : call_(call), cursor_(std::move(cursor)) {
    call_.state().operations().set_interrupt(call_.operation(), cursor_->interrupt);
    const int64_t left = cursor_->microseconds_left.load();
    if (left >= 0) {
      cursor_->interrupt->set(call_.operation().begin + std::chrono::microseconds(left));
    }
  }
  ~Resumed() {
    cursor_->interrupt->set(engine::Interrupt::Time::max());
    if (cursor_->microseconds_left.load() < 0) return;
    const auto spent = std::chrono::duration_cast<std::chrono::microseconds>(
        std::chrono::steady_clock::now() - call_.operation().begin);
    cursor_->microseconds_left =
        std::max<int64_t>(0, cursor_->microseconds_left.load() - spent.count());
  }
  Resumed(const Resumed&) = delete;
  Resumed& operator=(const Resumed&) = delete;

 private:
  Call& call_;
  const std::shared_ptr<ClientCursor> cursor_;
};

// For a cursor that awaits data and has an empty batch. Returns the time until which the request
// should wait, or nothing if the empty batch should be returned now.
std::optional<std::chrono::steady_clock::time_point> awaits(const Call& call,
                                                            ClientCursor& cursor) {
  constexpr auto kNone = std::chrono::steady_clock::time_point::min();
  const auto now = std::chrono::steady_clock::now();
  const auto until = cursor.awaited_until.load();
  if (until == kNone) {
    const auto patience = call.generic().max_time.value_or(kAwaitDefault);
    cursor.awaited_until = now + patience;
    return now + patience;
  }
  if (now < until) return until;
  cursor.awaited_until = kNone;
  return std::nullopt;
}

Status run_get_more(Call& call, bson::Builder& reply) {
  GM_ASSIGN(const GetMore get_more, read_get_more(call.arguments()));
  call.set_ns(get_more.ns);
  cursors::CursorRegistry& cursors = call.state().cursors();
  const std::optional<cursors::CursorInfo> info = cursors.info(get_more.id);
  if (!info) {
    return fail(ErrorCode::kCursorNotFound,
                "cursor id " + std::to_string(get_more.id) + " not found");
  }
  const auto cursor = std::static_pointer_cast<ClientCursor>(info->options.note);
  GM_TRY(check_owner(call, get_more.id, *cursor));
  GM_TRY(check_session(call, get_more.id, *cursor));
  // The check also refuses 0, which means "no limit" in other commands.
  if (call.request().body.find("maxTimeMS") && !cursor->await_data) {
    return fail(ErrorCode::kBadValue,
                "cannot set maxTimeMS on getMore command for a non-awaitData cursor");
  }
  // The maxTimeMS of a getMore limits the waiting for data and not the reading.
  call.operation().interrupt->set(engine::Interrupt::Time::max());

  const SoleReader reader(*cursor);
  if (!reader.is_sole()) {
    return fail(ErrorCode::kCursorInUse,
                "cursor id " + std::to_string(get_more.id) + " is already in use");
  }
  engine::ReadObserver before;
  if (cursor->observer) before = *cursor->observer;
  GM_ASSIGN(const cursors::BatchLimits limits, batch_limits(call, get_more.batch_size));
  BatchWriter writer(call, reply.open_document("cursor").open_array("nextBatch"), limits.bytes);
  int64_t id = 0;
  {
    const Resumed resumed(call, cursor);
    GM_ASSIGN(id, cursors.get_more(get_more.id, get_more.ns, limits,
                                   [&](bson::View document) { writer.push(document); }));
  }
  if (!writer.status()) {
    cursors.kill(get_more.id);
    return writer.status();
  }
  const int64_t returned = writer.documents();
  if (cursor->observer) call.set_examined(difference(*cursor->observer, before));
  if (returned > 0) {
    cursor->awaited_until = std::chrono::steady_clock::time_point::min();
  } else if (id != 0 && cursor->await_data) {
    if (const auto until = awaits(call, *cursor)) {
      call.defer(*until);
      return {};
    }
  }
  reply.close().append("id", id).append("ns", get_more.ns.full());
  if (call.request().is_legacy_cursor) reply.append("startingFrom", cursor->returned);
  reply.close();
  cursor->returned += returned;
  call.counts().append("nreturned", returned).append("cursorid", get_more.id);
  call.counts().append("originatingCommand", cursor->command);
  call.counts().append("cursorExhausted", id == 0);
  return {};
}

Status check_may_kill(Call& call, int64_t id) {
  const std::optional<cursors::CursorInfo> info = call.state().cursors().info(id);
  if (!info) return {};
  const engine::Namespace& ns = info->ns;
  if (is_owned(call, static_cast<const ClientCursor&>(*info->options.note))) return {};
  const AccessControl& access = call.state().access();
  const auto has = [&](const Privilege& privilege) {
    return access.check(call.client(), call.command(), {privilege}).has_value();
  };
  if (has({Privilege::Resource::kCluster, "killAnyCursor"}) ||
      has({Privilege::Resource::kCollection, "killAnyCursor", ns.database, ns.collection})) {
    return {};
  }
  return fail(ErrorCode::kUnauthorized, "not authorized to kill cursor on " + ns.full());
}

Status run_kill_cursors(Call& call, bson::Builder& reply) {
  Arguments& arguments = call.arguments();
  GM_ASSIGN(const bson::ValueView name, arguments.required("killCursors"));
  if (name.type() != bson::Type::kString) {
    return fail(ErrorCode::kInvalidNamespace,
                "collection name has invalid type " + std::string(type_name(name)));
  }
  // As on servers, a cursor is found by its id alone, whatever its collection is.
  GM_TRY(arguments.database());
  GM_ASSIGN(const std::optional<bson::View> ids, arguments.array("cursors"));
  if (!ids) return arguments.missing("cursors");
  for (const bson::Element element : *ids) {
    if (element.value.type() != bson::Type::kInt64) {
      return arguments.wrong_type("cursors." + std::string(element.key), element.value,
                                  "type 'long'");
    }
  }
  GM_TRY(arguments.finish());

  for (const bson::Element element : *ids) {
    GM_TRY(check_may_kill(call, element.value.as_int64()));
  }

  bson::Builder killed;
  bson::Builder missing;
  size_t killed_count = 0;
  size_t missing_count = 0;
  for (const bson::Element element : *ids) {
    const int64_t id = element.value.as_int64();
    const std::optional<cursors::CursorInfo> info = call.state().cursors().info(id);
    const bool found = info && call.state().cursors().kill(id);
    if (found && info->in_use) {
      static_cast<const ClientCursor&>(*info->options.note)
          .interrupt->kill(ErrorCode::kInterrupted);
    }
    if (found) {
      killed.append(std::to_string(killed_count++), id);
    } else {
      missing.append(std::to_string(missing_count++), id);
    }
  }
  // Wakes the getMores that wait for data of these cursors. They then find that their cursor is
  // gone.
  if (killed_count > 0) call.state().record_change();
  reply.append_array("cursorsKilled", std::move(killed).finish());
  reply.append_array("cursorsNotFound", std::move(missing).finish());
  reply.open_array("cursorsAlive").close().open_array("cursorsUnknown").close();
  return {};
}

}  // namespace

// The commands need no privilege in advance: check_owner() and check_may_kill() decide.
Commands cursor_commands() {
  Command get_more{.name = "getMore", .run = run_get_more};
  get_more.rules = {.in_api_version_1 = true};
  get_more.kind = OperationKind::kGetMore;
  get_more.about = "returns the next batch of a cursor";

  Command kill_cursors{.name = "killCursors", .run = run_kill_cursors};
  kill_cursors.rules = {.in_api_version_1 = true};
  kill_cursors.about = "ends cursors";
  return {get_more, kill_cursors};
}

}  // namespace gridmount::wire
