#include "engine/wire/service.h"

#include <exception>
#include <utility>

#include "engine/base/log.h"
#include "engine/bson/json.h"
#include "engine/query/filter/filter_budget.h"
#include "engine/query/interruption.h"
#include "engine/wire/call.h"
#include "engine/wire/error_reply.h"
#include "engine/wire/privilege_check.h"
#include "engine/wire/service_state.h"
#include "engine/wire/version_document.h"

namespace gridmount::wire {
namespace {

constexpr ErrorCode kCommandNotFound{59};
constexpr size_t kLoggedBytesMax = 1000;

// Removes an operation from the table when it ends, on every path.
class Running {
 public:
  Running(OperationTable& table, const Client& client, const Request& request,
          bson::View shown_command)
      : table_(table), operation_(table.begin(client, request, shown_command)) {}
  ~Running() { table_.end(*operation_); }
  Running(const Running&) = delete;
  Running& operator=(const Running&) = delete;

  const std::shared_ptr<Operation>& operation() const { return operation_; }

 private:
  OperationTable& table_;
  const std::shared_ptr<Operation> operation_;
};

// Performs all checks between finding the command and running it.
Status prepare(Call& call) {
  const Command& command = call.command();
  if (call.state().stopping()) {
    return fail(ErrorCode::kInterruptedAtShutdown, "interrupted at shutdown");
  }
  GM_TRY(check_privileges(call));
  if (command.admin_only && call.request().database != "admin") {
    return fail(ErrorCode::kUnauthorized,
                std::string(command.name) + " may only be run against the admin database.");
  }
  if (names_version_collection(call.request())) {
    if (const Status added = add_version_document(call.store()); !added) {
      log::warn("cannot add the version document to admin.system.version: {}",
                added.error().message());
    }
  }
  GM_ASSIGN(const GenericArguments generic,
            read_generic_arguments(call.arguments(), command.rules));
  call.set_generic(generic);
  if (const std::optional<SessionId>& session = call.generic().session) {
    const AccessControl& access = call.state().access();
    call.touch_session(*session);
    call.state().operations().set_session(call.operation(), *session,
                                          access.session_owner(call.client()).user);
  }
  if (call.generic().max_time) {
    call.operation().interrupt->set(call.operation().begin + *call.generic().max_time);
  }
  return {};
}

// Interrupts evaluations after the deadline of the call, and when the client's connection has
// closed, because nobody then waits for the result.
class CallInterruption final : public query::Interruption {
 public:
  explicit CallInterruption(Call& call) : call_(call) {}
  Status check() override {
    if (call_.client().gone()) return fail(ErrorCode::kInterrupted, "operation was interrupted");
    return call_.check_interrupt();
  }

 private:
  Call& call_;
};

// A kill of the operation makes its deadline pass, so the error is then MaxTimeMSExpired too. If
// there was a kill, returns its reason instead.
Error with_reason(Error error, const Operation& operation) {
  if (error.code() != ErrorCode::kMaxTimeMsExpired) return error;
  const std::optional<ErrorCode> reason = operation.interrupt->reason();
  if (!reason) return error;
  return {*reason, *reason == ErrorCode::kInterruptedAtShutdown ? "interrupted at shutdown"
                                                                : "operation was interrupted"};
}

std::string_view profiled_as(OperationKind kind) {
  switch (kind) {
    case OperationKind::kQuery:
      return "query";
    case OperationKind::kInsert:
      return "insert";
    case OperationKind::kUpdate:
      return "update";
    case OperationKind::kRemove:
      return "remove";
    case OperationKind::kGetMore:
      return "getmore";
    case OperationKind::kCommand:
      break;
  }
  return "command";
}

std::string_view application_of(const Client& client) {
  const std::optional<bson::ValueView> application = client.metadata().find("application");
  if (!application || application->type() != bson::Type::kDocument) return {};
  const std::optional<bson::ValueView> name = application->as_document().find("name");
  return name && name->type() == bson::Type::kString ? name->as_string() : std::string_view();
}

// Returns the command as other clients may see it: a secret command is an empty document.
bson::View shown_command(const Call& call) {
  return call.command().is_secret ? bson::View() : call.request().body;
}

void log_slow(Call& call, std::chrono::microseconds duration, const Error* error) {
  const std::string command = bson::to_json(
      shown_command(call).size() <= kLoggedBytesMax ? shown_command(call) : bson::View(),
      bson::JsonForm::kRelaxed);
  log::info("slow command {} on {}: {} ms, client {}{}: {}", call.command().name, call.ns().full(),
            duration.count() / 1000, call.client().peer().address,
            error != nullptr ? ", failed: " + error->message() : std::string(), command);
}

// Appends the users that the client has logged in as. There is at most one.
void append_users(Call& call, bson::Builder& counts) {
  const std::optional<Identity> identity = call.state().access().identity(call.client());
  const std::string user = identity ? account_of(identity->user) : std::string();
  counts.open_array("allUsers");
  if (identity) {
    counts.push_open_document().append("user", identity->user.name);
    counts.append("db", identity->user.database).close();
  }
  counts.close().append("user", user);
}

void append_examined(const engine::ReadObserver& examined, bson::View counts, bson::Builder& out) {
  if (examined.plan_summary.empty()) {
    out.append_all(counts);
    return;
  }
  out.append("keysExamined", examined.keys_examined);
  out.append("docsExamined", examined.documents_examined);
  out.append_all(counts);
  out.append("planSummary", examined.plan_summary);
}

void append_client(Call& call, bson::Builder& counts) {
  counts.append("protocol", "op_msg").append("client", call.client().peer().address);
  counts.append("appName", application_of(call.client()));
  append_users(call, counts);
}

profiling::Operation profiled_command(Call& call, std::chrono::microseconds duration,
                                      const Error* error, uint32_t reply_bytes) {
  profiling::Operation entry;
  entry.op = profiled_as(call.command().kind);
  entry.ns = call.ns();
  entry.command = bson::Document(shown_command(call));
  bson::Builder counts;
  append_examined(call.examined(), bson::Builder(call.counts()).finish(), counts);
  counts.append("responseLength", static_cast<int32_t>(reply_bytes));
  append_client(call, counts);
  entry.counts = std::move(counts).finish();
  entry.duration = duration;
  if (error != nullptr) {
    entry.error = error->message();
    entry.error_code = static_cast<int32_t>(error->code());
  }
  return entry;
}

void profile_statement(Call& call, ProfiledStatement& statement) {
  profiling::Operation entry;
  entry.op = profiled_as(call.command().kind);
  entry.ns = call.ns();
  entry.command = std::move(statement.statement);
  bson::Builder counts;
  append_examined(statement.examined, statement.counts, counts);
  append_client(call, counts);
  entry.counts = std::move(counts).finish();
  entry.duration = statement.duration;
  if (statement.error) {
    entry.error = statement.error->message();
    entry.error_code = static_cast<int32_t>(statement.error->code());
  }
  call.state().profiler().record(std::move(entry));
}

void profile(Call& call, std::chrono::microseconds duration, const Error* error,
             uint32_t reply_bytes) {
  for (ProfiledStatement& statement : call.profiled_statements()) {
    profile_statement(call, statement);
  }
  const OperationKind kind = call.command().kind;
  const bool by_statements = kind == OperationKind::kUpdate || kind == OperationKind::kRemove;
  if (by_statements && error == nullptr) return;
  if (call.state().profiler().wants(call.ns(), duration)) {
    call.state().profiler().record(profiled_command(call, duration, error, reply_bytes));
  }
}

// Returns whether the command is logged. The profiler's filter of the command's database decides if
// there is one, otherwise the duration.
bool is_logged(Call& call, std::chrono::microseconds duration, const Error* error,
               uint32_t reply_bytes) {
  const std::shared_ptr<const profiling::OperationFilter> filter =
      call.state().profiler().filter(call.ns().database);
  if (filter) return filter->matches(profiled_command(call, duration, error, reply_bytes));
  return duration.count() >= call.state().slow_microseconds.load();
}

// Counts the operation, passes it to the profiler, and logs it if it was slow.
void account(Call& call, const Error* error, uint32_t reply_bytes) {
  Service::State& state = call.state();
  const auto duration = std::chrono::duration_cast<std::chrono::microseconds>(
      std::chrono::steady_clock::now() - call.operation().begin);
  state.counters().record_command(call.command(), error != nullptr);
  const OperationKind kind = call.command().kind;
  // Write commands count their statements themselves.
  if (kind == OperationKind::kCommand || kind == OperationKind::kQuery ||
      kind == OperationKind::kGetMore) {
    state.counters().record_operations(kind);
  }
  if (error != nullptr) state.counters().record_error(true);
  if (call.ns().collection.empty()) return;
  state.counters().record_time(call.ns(), kind, duration);
  if (is_logged(call, duration, error, reply_bytes)) log_slow(call, duration, error);
  if (state.profiler().active()) profile(call, duration, error, reply_bytes);
}

// Returns true if the command may have changed users by writing to their collection. The user
// commands report their changes themselves, and pipelines cannot write to this collection.
bool may_change_users(const Call& call) {
  return call.command().rules.write_concern && call.request().database == "admin";
}

// Records that users exist, because a client may have written to their collection without the user
// commands.
void record_users(Service::State& state) {
  if (const Status recorded = state.access().users().record_existing(); !recorded) {
    log::warn("cannot record that the store has users: {}", recorded.error().message());
  }
}

Outcome ended(Call& call, bson::Builder reply, Status status) {
  if (status && call.deferral()) return *call.deferral();
  if (!status) {
    const Error error = with_reason(std::move(status).error(), call.operation());
    bson::Document failed = error_reply(error);
    account(call, &error, failed.view().size());
    return failed;
  }
  reply.append("ok", 1.0);
  bson::Document answer = std::move(reply).finish();
  account(call, nullptr, answer.view().size());
  return answer;
}

// Runs the command. Pipelines of a client that must log in are checked for the privileges that they
// need. Other clients may do everything.
Status run_with_rights(Call& call, bson::Builder& reply) {
  if (!call.state().access().applies_to(call.client())) return call.command().run(call, reply);
  PipelineAccess access(call);
  const aggregation::AccessScope scope(access);
  return call.command().run(call, reply);
}

Outcome run(Service::State& state, Client& client, const Request& request) {
  const Command* const command = find_command(request.name());
  if (command == nullptr) {
    return error_reply(
        Error(kCommandNotFound, "no such command: '" + std::string(request.name()) + "'"));
  }
  const Running running(state.operations(), client, request,
                        command->is_secret ? bson::View() : request.body);
  Result<Arguments> arguments = Arguments::of(request);
  if (!arguments) return error_reply(arguments.error());
  Call call(state, client, request, *command, running.operation(), *std::move(arguments));
  bson::Builder reply;
  if (Status prepared = prepare(call); !prepared) {
    return ended(call, bson::Builder(), std::move(prepared));
  }
  if (const std::optional<bson::ValueView> help = request.body.find("help");
      help && help->type() == bson::Type::kBool && help->as_bool()) {
    reply.append("help",
                 "help for: " + std::string(command->name) + " " + std::string(command->about));
    return ended(call, std::move(reply), {});
  }
  CallInterruption interruption(call);
  const query::InterruptionScope scope(interruption);
  const query::FilterBudgetScope filters(state.filter_budget());
  Status status = run_with_rights(call, reply);
  // A failed command may have executed some of its statements, so this does not depend on the
  // status.
  if (may_change_users(call)) {
    state.access().users_changed();
    if (call.ns().collection == "system.users") record_users(state);
  }
  return ended(call, std::move(reply), std::move(status));
}

}  // namespace

Service::Service(engine::Store& store, ServiceOptions options)
    : state_(std::make_unique<State>(store, std::move(options))) {}

Service::~Service() = default;

Outcome Service::handle(Client& client, const Request& request) {
  try {
    return run(*state_, client, request);
  } catch (const std::exception& exception) {
    // In practice an allocation has failed. Unwinding has freed the memory of the command, so there
    // is memory for this reply.
    return error_reply(Error(ErrorCode::kInternalError,
                             std::string("the command ended unexpectedly: ") + exception.what()));
  }
}

uint64_t Service::changes() const {
  return state_->changes();
}

void Service::on_change(std::function<void()> notify) {
  state_->on_change(std::move(notify));
}

void Service::record_change() {
  state_->record_change();
}

void Service::forget(Client& client) {
  client.set_gone();
  state_->access().forget(client);
  state_->operations().kill_if(
      [&](const Operation& operation) { return operation.client == &client; },
      ErrorCode::kInterrupted);
}

std::string Service::account(const Client& client) const {
  return state_->access().account(client);
}

void Service::expire(std::chrono::steady_clock::time_point now) {
  state_->cursors().expire(now);
  for (const SessionPattern& session :
       state_->sessions().expire(now - state_->options().session_idle_max)) {
    state_->end_work_of(session, nullptr);
  }
}

void Service::shut_down() {
  state_->stop();
}

void Service::set_stats(const ServerStats* stats) {
  state_->set_stats(stats);
}

}  // namespace gridmount::wire
