// Logging in and out: saslStart, saslContinue, authenticate, logout, connectionStatus.
// Source: drivers' specification "Authentication"; MongoDB manual, "Authentication Commands",
// "connectionStatus".

#include "engine/wire/commands/authentication.h"

#include <string>

#include "engine/wire/auth/access_control.h"
#include "engine/wire/auth/digest.h"
#include "engine/wire/commands/command_groups.h"

namespace gridmount::wire {
namespace {

using bson::Type;

constexpr size_t kPayloadBytesMax = 16 * 1024;

// Reads binary data, or the base64 text that old clients send.
Result<std::string> read_payload(Arguments& arguments) {
  GM_ASSIGN(const bson::ValueView value, arguments.required("payload"));
  if (value.type() == Type::kBinary) {
    const bson::Binary payload = value.as_binary();
    if (payload.size <= kPayloadBytesMax) {
      return std::string(reinterpret_cast<const char*>(payload.data), payload.size);
    }
  } else if (value.type() == Type::kString && value.as_string().size() <= kPayloadBytesMax) {
    std::optional<std::string> payload = from_canonical_base64(value.as_string());
    if (payload) return *std::move(payload);
  } else if (value.type() != Type::kString) {
    return arguments.wrong_type("payload", value, "binData");
  }
  return fail(ErrorCode::kBadValue, "the payload of a log-in is too long or not base64");
}

void append_reply(bson::Builder& out, const SaslReply& sasl) {
  out.append("conversationId", sasl.conversation_id).append("done", sasl.done);
  const auto* const bytes = reinterpret_cast<const uint8_t*>(sasl.payload.data());
  out.append("payload", bson::Binary{0, bytes, static_cast<uint32_t>(sasl.payload.size())});
}

Result<SaslReply> start(Call& call, Arguments& arguments, const std::string& database,
                        bool speculative) {
  GM_ASSIGN(const std::string_view mechanism, arguments.required_string("mechanism"));
  GM_ASSIGN(const std::string payload, read_payload(arguments));
  GM_ASSIGN(const bson::View options, arguments.document_or_empty("options"));
  arguments.ignore("autoAuthorize");
  GM_TRY(arguments.finish());
  const std::optional<bson::ValueView> skip = options.find("skipEmptyExchange");
  const bool skips = skip && skip->type() == Type::kBool && skip->as_bool();
  return call.state().access().start(call.client(), database, mechanism, payload, skips,
                                     speculative);
}

Status run_sasl_start(Call& call, bson::Builder& reply) {
  call.arguments().ignore("saslStart");
  GM_ASSIGN(const std::string database, call.arguments().database());
  GM_ASSIGN(const SaslReply sasl, start(call, call.arguments(), database, false));
  append_reply(reply, sasl);
  return {};
}

Status run_sasl_continue(Call& call, bson::Builder& reply) {
  Arguments& arguments = call.arguments();
  arguments.ignore("saslContinue");
  GM_ASSIGN(const std::optional<int64_t> id, arguments.integer("conversationId"));
  if (!id) return arguments.missing("conversationId");
  GM_ASSIGN(const std::string payload, read_payload(arguments));
  GM_TRY(arguments.finish());
  GM_ASSIGN(const SaslReply sasl,
            call.state().access().proceed(call.client(), static_cast<int32_t>(*id), payload));
  append_reply(reply, sasl);
  return {};
}

Status run_authenticate(Call& call, bson::Builder& reply) {
  Arguments& arguments = call.arguments();
  arguments.ignore("authenticate");
  GM_ASSIGN(const std::optional<std::string_view> mechanism, arguments.string("mechanism"));
  GM_ASSIGN(const std::optional<std::string_view> user, arguments.string("user"));
  if (mechanism != "MONGODB-X509") {
    return fail(ErrorCode::kBadValue,
                "authenticate supports only the mechanism MONGODB-X509; use saslStart for others");
  }
  GM_TRY(arguments.finish());
  GM_ASSIGN(const UserName name, call.state().access().log_in_by_certificate(
                                     call.client(), std::string(user.value_or(""))));
  reply.append("dbname", name.database).append("user", name.name);
  return {};
}

Status run_logout(Call& call, bson::Builder&) {
  call.arguments().ignore("logout");
  GM_TRY(call.arguments().finish());
  call.state().access().log_out(call.client());
  return {};
}

Status run_connection_status(Call& call, bson::Builder& reply) {
  Arguments& arguments = call.arguments();
  arguments.ignore("connectionStatus");
  GM_ASSIGN(const bool shows_privileges, arguments.boolean("showPrivileges"));
  GM_TRY(arguments.finish());
  const std::optional<Identity> identity = call.state().access().identity(call.client());
  bson::Builder& info = reply.open_document("authInfo");
  bson::Builder& users = info.open_array("authenticatedUsers");
  if (identity) {
    users.push_open_document()
        .append("user", identity->user.name)
        .append("db", identity->user.database)
        .close();
  }
  users.close();
  bson::Builder& roles = info.open_array("authenticatedUserRoles");
  for (const Role& role : identity ? identity->roles : std::vector<Role>()) {
    roles.push_open_document().append("role", role.name).append("db", role.database).close();
  }
  roles.close();
  if (shows_privileges) {
    bson::Builder& privileges = info.open_array("authenticatedUserPrivileges");
    if (identity) append_privileges(privileges, Permissions(identity->roles));
    privileges.close();
  }
  info.close();
  return {};
}

// Splits "db.user". The user may contain dots. The database may be empty: mongodump and similar
// tools send an empty name if the command line has no database.
std::optional<UserName> user_name_of(std::string_view text) {
  const size_t dot = text.find('.');
  if (dot == std::string_view::npos || dot + 1 == text.size()) return std::nullopt;
  return UserName{std::string(text.substr(dot + 1)), std::string(text.substr(0, dot))};
}

}  // namespace

Status append_log_in(Call& call, bson::Builder& reply) {
  Arguments& arguments = call.arguments();
  GM_ASSIGN(const std::optional<std::string_view> asked, arguments.string("saslSupportedMechs"));
  if (asked) {
    const std::optional<UserName> name = user_name_of(*asked);
    if (!name) {
      return fail(ErrorCode::kBadValue, "UserName must contain a '.' separated database.user pair");
    }
    GM_ASSIGN(const std::vector<ScramMechanism> mechanisms,
              call.state().access().mechanisms_of(*name));
    bson::Builder& list = reply.open_array("saslSupportedMechs");
    for (const ScramMechanism mechanism : mechanisms) {
      list.push(bson::Value(mechanism_name(mechanism)).view());
    }
    list.close();
  }
  GM_ASSIGN(const std::optional<bson::View> speculation,
            arguments.document("speculativeAuthenticate"));
  if (!speculation) return {};
  GM_ASSIGN(Arguments fields, Arguments::of("speculativeAuthenticate", *speculation));
  const std::optional<bson::ValueView> is_sasl = fields.any("saslStart");
  const Result<std::optional<std::string_view>> database = fields.string("db");
  if (!is_sasl || !database) return {};
  const Result<SaslReply> sasl =
      start(call, fields, std::string(database->value_or(call.request().database)), true);
  if (!sasl) return {};
  append_reply(reply.open_document("speculativeAuthenticate"), *sasl);
  reply.close();
  return {};
}

Commands authentication_commands() {
  Command sasl_start{.name = "saslStart", .run = run_sasl_start};
  sasl_start.about = "begins a log-in";
  Command sasl_continue{.name = "saslContinue", .run = run_sasl_continue};
  sasl_continue.about = "continues a log-in";
  Command authenticate{.name = "authenticate", .run = run_authenticate};
  authenticate.about = "logs in with a certificate";
  Command logout{.name = "logout", .run = run_logout};
  logout.about = "logs out";
  Command status{.name = "connectionStatus", .run = run_connection_status};
  status.about = "shows who is logged in";
  for (Command* command : {&sasl_start, &sasl_continue, &authenticate, &logout, &status}) {
    command->before_login = true;
    command->rules.in_api_version_1 = true;
    command->is_secret = true;
  }
  return {sasl_start, sasl_continue, authenticate, logout, status};
}

}  // namespace gridmount::wire
