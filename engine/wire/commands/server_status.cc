// serverStatus and hostInfo. Source: MongoDB manual, "serverStatus", "hostInfo". Sections of
// WiredTiger, replica sets and clusters are left out.

#include <sys/utsname.h>
#include <unistd.h>

#include <cstdio>
#include <fstream>
#include <string>

#include "engine/wire/call.h"
#include "engine/wire/commands/command_groups.h"
#include "engine/wire/commands/host_name.h"

namespace gridmount::wire {
namespace {

constexpr int64_t kMegabyte = 1 << 20;

struct MemoryBytes {
  int64_t size = 0;
  int64_t resident = 0;
};

MemoryBytes memory_of_process() {
  MemoryBytes memory;
  const int64_t page = ::sysconf(_SC_PAGESIZE);
  std::ifstream file("/proc/self/statm");
  if (file >> memory.size >> memory.resident) {
    memory.size *= page;
    memory.resident *= page;
  }
  return memory;
}

void append_connections(Call& call, bson::Builder& out) {
  const ServerStats* const stats = call.state().stats();
  out.open_document("connections");
  out.append("current", static_cast<int32_t>(stats != nullptr ? stats->connections() : 1));
  out.append("available",
             static_cast<int32_t>(stats != nullptr ? stats->connections_available() : 0));
  out.append("totalCreated", stats != nullptr ? stats->connections_created() : int64_t{1});
  out.append("active", int32_t{1}).close();
}

void append_network(Call& call, bson::Builder& out) {
  const ServerStats* const stats = call.state().stats();
  const auto figure = [&](uint64_t (ServerStats::*which)() const) {
    return stats == nullptr ? int64_t{0} : static_cast<int64_t>((stats->*which)());
  };
  out.open_document("network").append("bytesIn", figure(&ServerStats::bytes_in));
  out.append("bytesOut", figure(&ServerStats::bytes_out));
  out.append("physicalBytesIn", figure(&ServerStats::bytes_in));
  out.append("physicalBytesOut", figure(&ServerStats::bytes_out));
  out.append("numRequests", figure(&ServerStats::requests)).close();
}

void append_global_lock(Call& call, bson::Builder& out) {
  int32_t running = 0;
  call.state().operations().visit([&](const Operation&) { ++running; });
  out.open_document("globalLock");
  out.append("totalTime", static_cast<int64_t>(call.state().uptime().count() * 1000));
  for (const char* const what : {"currentQueue", "activeClients"}) {
    const int32_t number = std::string_view(what) == "activeClients" ? running : 0;
    out.open_document(what).append("total", number);
    out.append("readers", number).append("writers", int32_t{0}).close();
  }
  out.close();
}

void append_cursors(Call& call, bson::Builder& out) {
  int64_t pinned = 0;
  int64_t no_timeout = 0;
  const std::vector<cursors::CursorInfo> cursors = call.state().cursors().list();
  for (const cursors::CursorInfo& info : cursors) {
    if (info.in_use) ++pinned;
    if (info.options.no_timeout) ++no_timeout;
  }
  out.open_document("cursor").append("timedOut", call.state().cursors().timed_out());
  out.append("totalOpened", call.state().cursors().opened());
  out.open_document("open").append("noTimeout", no_timeout);
  out.append("pinned", pinned).append("total", static_cast<int64_t>(cursors.size()));
  out.close().close();
}

void append_expiry(Call& call, bson::Builder& out) {
  const Result<engine::StoreStats> stats = call.store().stats();
  if (!stats) return;
  out.open_document("ttl").append("deletedDocuments", stats->expired_documents);
  out.append("passes", stats->expiry_passes).close();
}

// The sections of the reply, which follow some fields that every reply has. A client can leave out
// a section, for example with {connections: 0}.
using Section = void (*)(Call& call, bson::Builder& out);
struct NamedSection {
  const char* name;
  Section append;
};
constexpr NamedSection kSections[] = {
    {"asserts",
     [](Call& call, bson::Builder& out) {
       out.open_document("asserts");
       call.state().counters().append_asserts(out);
       out.close();
     }},
    {"connections", append_connections},
    {"extra_info",
     [](Call&, bson::Builder& out) {
       out.open_document("extra_info").append("note", "fields vary by platform");
       out.append("page_faults", int64_t{0}).close();
     }},
    {"globalLock", append_global_lock},
    {"logicalSessionRecordCache",
     [](Call& call, bson::Builder& out) {
       out.open_document("logicalSessionRecordCache");
       out.append("activeSessionsCount", static_cast<int32_t>(call.state().sessions().size()));
       out.close();
     }},
    {"mem",
     [](Call&, bson::Builder& out) {
       const MemoryBytes memory = memory_of_process();
       out.open_document("mem").append("bits", int32_t{64});
       out.append("resident", static_cast<int32_t>(memory.resident / kMegabyte));
       out.append("virtual", static_cast<int32_t>(memory.size / kMegabyte));
       out.append("supported", true).close();
     }},
    {"metrics",
     [](Call& call, bson::Builder& out) {
       out.open_document("metrics").open_document("commands");
       call.state().counters().append_commands(out);
       out.close();
       append_cursors(call, out);
       append_expiry(call, out);
       out.close();
     }},
    {"network", append_network},
    {"opcounters",
     [](Call& call, bson::Builder& out) {
       out.open_document("opcounters");
       call.state().counters().append_opcounters(out);
       out.close();
     }},
    {"security",
     [](Call& call, bson::Builder& out) {
       out.open_document("security");
       out.append("authentication", call.state().options().authentication).close();
     }},
    {"storageEngine",
     [](Call& call, bson::Builder& out) {
       out.open_document("storageEngine").append("name", "gridmount");
       out.append("supportsCommittedReads", true).append("persistent", true);
       out.append("readOnly", call.store().read_only()).close();
     }},
    {"storage",
     [](Call& call, bson::Builder& out) {
       const Result<engine::StoreStats> stats = call.store().stats();
       if (!stats) return;
       out.open_document("storage").append("fileBytes", stats->file_bytes);
       out.append("usedBytes", stats->used_bytes);
       out.append("availableBytes", stats->available_bytes);
       out.append("millisSinceCheckpoint", static_cast<int64_t>(stats->since_checkpoint.count()));
       out.close();
     }},
};

Status run_server_status(Call& call, bson::Builder& reply) {
  call.arguments().ignore("serverStatus");
  const std::vector<bson::Element> wishes = call.arguments().rest();
  const auto wanted = [&](std::string_view section) {
    for (const bson::Element wish : wishes) {
      if (wish.key != section) continue;
      const bson::ValueView value = wish.value;
      return value.type() == bson::Type::kBool ? value.as_bool() : value.number().value_or(1) != 0;
    }
    return true;
  };
  reply.append("host", host_name()).append("version", call.state().options().version);
  reply.append("process", "gridmount").append("pid", static_cast<int64_t>(::getpid()));
  const int64_t uptime = call.state().uptime().count();
  const int64_t seconds = uptime / 1000;
  // The value is a double with a whole number of seconds, because mongostat reads it into an
  // integer.
  reply.append("uptime", static_cast<double>(seconds)).append("uptimeMillis", uptime);
  reply.append("uptimeEstimate", seconds).append("localTime", bson::Date::now());
  for (const NamedSection& section : kSections) {
    if (wanted(section.name)) section.append(call, reply);
  }
  return {};
}

Status run_host_info(Call& call, bson::Builder& reply) {
  call.arguments().ignore("hostInfo");
  GM_TRY(call.arguments().finish());
  struct utsname names {};
  static_cast<void>(::uname(&names));
  const int64_t memory = static_cast<int64_t>(::sysconf(_SC_PHYS_PAGES)) *
                         static_cast<int64_t>(::sysconf(_SC_PAGESIZE)) / kMegabyte;
  reply.open_document("system").append("currentTime", bson::Date::now());
  reply.append("hostname", host_name()).append("cpuAddrSize", int32_t{64});
  reply.append("memSizeMB", memory).append("memLimitMB", memory);
  reply.append("numCores", static_cast<int32_t>(::sysconf(_SC_NPROCESSORS_ONLN)));
  reply.append("cpuArch", static_cast<const char*>(names.machine)).append("numaEnabled", false);
  reply.close();
  reply.open_document("os").append("type", static_cast<const char*>(names.sysname));
  reply.append("name", static_cast<const char*>(names.sysname));
  reply.append("version", "Kernel " + std::string(static_cast<const char*>(names.release))).close();
  reply.open_document("extra");
  reply.append("versionString", static_cast<const char*>(names.version));
  reply.append("pageSize", static_cast<int64_t>(::sysconf(_SC_PAGESIZE))).close();
  return {};
}

}  // namespace

Commands server_status_commands() {
  Command server_status{.name = "serverStatus", .run = run_server_status};
  server_status.scope = Command::Scope::kCluster;
  server_status.actions = {"serverStatus"};
  server_status.about = "shows the state of the server";

  Command host_info{.name = "hostInfo", .run = run_host_info};
  host_info.scope = Command::Scope::kCluster;
  host_info.actions = {"hostInfo"};
  host_info.about = "describes the machine";
  return {server_status, host_info};
}

}  // namespace gridmount::wire
