// The commands with which clients first contact the server: hello and its older names,
// buildInfo, whatsmyuri.
// Source: MongoDB manual, "hello", "buildInfo"; drivers' specification, "MongoDB Handshake".

#include <algorithm>
#include <charconv>
#include <string>

#include "engine/base/limits.h"
#include "engine/wire/call.h"
#include "engine/wire/commands/authentication.h"
#include "engine/wire/commands/command_groups.h"
#include "engine/wire/commands/topology.h"

namespace gridmount::wire {
namespace {

using bson::Type;

constexpr ErrorCode kClientMetadataCannotBeMutated{186};
constexpr ErrorCode kClientMetadataDocumentTooLarge{185};
constexpr uint32_t kClientMetadataBytesMax = 512;
constexpr int32_t kWireVersionMax = 21;
constexpr int32_t kSessionMinutes = 30;

Status record_client(Call& call) {
  GM_ASSIGN(const std::optional<bson::View> metadata, call.arguments().document("client"));
  if (!metadata) return {};
  if (!call.client().metadata().view().empty()) {
    return fail(kClientMetadataCannotBeMutated,
                "The client metadata document may only be sent in the first hello");
  }
  if (metadata->size() > kClientMetadataBytesMax) {
    return fail(kClientMetadataDocumentTooLarge,
                "The client metadata document must be less then or equal to " +
                    std::to_string(kClientMetadataBytesMax) + " bytes");
  }
  call.client().set_metadata(bson::Document(*metadata));
  return {};
}

// Appends the compressors that both sides have, in the client's order of preference.
void append_compression(Call& call, bson::Builder& reply) {
  const std::optional<bson::ValueView> offered = call.arguments().any("compression");
  if (!offered || offered->type() != Type::kArray) return;
  const std::vector<std::string>& known = call.state().options().compressors;
  bson::Builder& list = reply.open_array("compression");
  for (const bson::Element name : offered->as_document()) {
    if (name.value.type() != Type::kString) continue;
    if (std::find(known.begin(), known.end(), name.value.as_string()) != known.end()) {
      list.push(name.value);
    }
  }
  list.close();
}

Status run_hello(Call& call, bson::Builder& reply) {
  GM_TRY(await_topology(call));
  if (call.deferral()) return {};
  GM_TRY(record_client(call));
  const bool is_hello = call.request().name() == "hello";
  reply.append(is_hello ? "isWritablePrimary" : "ismaster", true);
  if (const auto ok = call.arguments().any("helloOk");
      ok && ok->type() == Type::kBool && ok->as_bool()) {
    reply.append("helloOk", true);
  }
  append_topology_version(call, reply);
  reply.append("maxBsonObjectSize", static_cast<int32_t>(bson::kMaxDocumentBytes));
  reply.append("maxMessageSizeBytes", static_cast<int32_t>(kMessageBytesMax));
  reply.append("maxWriteBatchSize", static_cast<int32_t>(kMessageWritesMax));
  reply.append("localTime", bson::Date::now());
  reply.append("logicalSessionTimeoutMinutes", kSessionMinutes);
  reply.append("connectionId", call.client().id());
  reply.append("minWireVersion", int32_t{0}).append("maxWireVersion", kWireVersionMax);
  reply.append("readOnly", call.store().read_only());
  append_compression(call, reply);
  return append_log_in(call, reply);
}

Status run_build_info(Call& call, bson::Builder& reply) {
  call.arguments().ignore(call.arguments().path());
  GM_TRY(call.arguments().finish());
  const std::string& version = call.state().options().version;
  reply.append("version", version).append("gitVersion", "").open_array("modules").close();
  reply.append("allocator", "system").append("javascriptEngine", "none");
  reply.append("sysInfo", "deprecated").open_array("versionArray");
  const char* at = version.data();
  const char* const end = at + version.size();
  for (int part = 0; part < 4; ++part) {
    int32_t number = 0;
    if (part < 3) {
      at = std::from_chars(at, end, number).ptr;
      if (at != end) ++at;
    }
    reply.push(bson::Value(number).view());
  }
  reply.close();
  reply.open_document("openssl").append("running", "OpenSSL").append("compiled", "OpenSSL").close();
  reply.open_document("buildEnvironment").close();
  reply.append("bits", int32_t{64}).append("debug", false);
  reply.append("maxBsonObjectSize", static_cast<int32_t>(bson::kMaxDocumentBytes));
  reply.open_array("storageEngines").push(bson::Value("gridmount").view()).close();
  return {};
}

Status run_whats_my_uri(Call& call, bson::Builder& reply) {
  call.arguments().ignore("whatsmyuri");
  GM_TRY(call.arguments().finish());
  reply.append("you", call.client().peer().address);
  return {};
}

}  // namespace

Commands handshake_commands() {
  Command hello{.name = "hello", .other_names = {"isMaster", "ismaster"}, .run = run_hello};
  hello.rules = {.in_api_version_1 = true};
  hello.before_login = true;
  hello.about = "describes the server and its capabilities";

  Command build_info{.name = "buildInfo", .other_names = {"buildinfo"}, .run = run_build_info};
  build_info.before_login = true;
  build_info.about = "shows the version";

  Command whats_my_uri{.name = "whatsmyuri", .run = run_whats_my_uri};
  whats_my_uri.before_login = true;
  whats_my_uri.about = "returns the address of the client";
  return {hello, build_info, whats_my_uri};
}

}  // namespace gridmount::wire
