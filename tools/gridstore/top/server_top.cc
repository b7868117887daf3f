#include <algorithm>
#include <utility>

#include "command_line/byte_units.h"
#include "engine/base/counted.h"
#include "engine/bson/builder.h"
#include "engine/mongo/connection.h"
#include "tools/gridstore/message.h"
#include "tools/gridstore/top/status_fields.h"
#include "tools/gridstore/top/top_sample.h"

namespace gridmount::tools {

namespace {

constexpr double kMicrosecondsPerSecond = 1e6;
constexpr size_t kPendingMax = 5;

void add_activities(bson::View reply, TopSample& sample) {
  // The kinds of operations in the reply of `top`, and their names in serverStatus.
  constexpr std::pair<const char*, const char*> kKinds[] = {
      {"queries", "query"}, {"getmore", "getmore"}, {"insert", "insert"},
      {"update", "update"}, {"remove", "delete"},   {"commands", "command"}};
  for (const bson::Element each : document_in(reply, "totals")) {
    if (each.value.type() != bson::Type::kDocument) continue;
    for (const auto& [field, kind] : kKinds) {
      const bson::View times = document_in(each.value.as_document(), field);
      const uint64_t count = count_in(times, "count");
      if (count == 0) continue;
      sample.activities.push_back({std::string(each.key) + " " + kind, count,
                                   number_in(times, "time") / kMicrosecondsPerSecond});
    }
  }
}

void add_status(bson::View status, TopSample& sample) {
  const bson::View operations = document_in(status, "opcounters");
  for (const bson::Element each : operations) {
    if (!each.value.is_number()) continue;
    sample.counters.push_back({std::string(each.key), count_in(operations, each.key)});
  }
  const bson::View network = document_in(status, "network");
  sample.counters.push_back({"received", count_in(network, "bytesIn"), true});
  sample.counters.push_back({"sent", count_in(network, "bytesOut"), true});
  sample.state.push_back(
      counted(count_in(document_in(status, "connections"), "current"), "connection"));
  constexpr double kMebibyte = 1024 * 1024;
  const double resident = number_in(document_in(status, "mem"), "resident");
  sample.state.push_back(in_byte_units(count_of(resident * kMebibyte)) + " of memory");
  const bson::View store = document_in(status, "storage");  // of gridmount's own servers
  if (store.empty()) return;
  sample.state.push_back(in_byte_units(count_in(store, "usedBytes")) + " used of " +
                         in_byte_units(count_in(store, "fileBytes")));
}

void add_pending(bson::View reply, TopSample& sample) {
  const auto list = reply.find("inprog");
  if (!list || list->type() != bson::Type::kArray) return;
  for (const bson::Element each : list->as_document()) {
    if (each.value.type() != bson::Type::kDocument) continue;
    const bson::View operation = each.value.as_document();
    // Leaves out this command, operations without a client, and hello commands, which may wait for
    // a change.
    const bson::View command = document_in(operation, "command");
    const bool waits =
        command.find("hello") || command.find("isMaster") || command.find("ismaster");
    if (text_in(operation, "client").empty() || command.find("currentOp") || waits) continue;
    std::string what = text_in(operation, "op");
    if (what == "command" && !command.empty()) what = (*command.begin()).key;
    sample.pending.push_back(
        {what + " " + text_in(operation, "ns") + " " + text_in(operation, "client"),
         number_in(operation, "microsecs_running") / kMicrosecondsPerSecond});
  }
  std::sort(sample.pending.begin(), sample.pending.end(),
            [](const Pending& a, const Pending& b) { return a.seconds > b.seconds; });
  if (sample.pending.size() > kPendingMax) sample.pending.resize(kPendingMax);
}

class ServerTop final : public TopSource {
 public:
  explicit ServerTop(std::unique_ptr<mongo::Pool> pool) : pool_(std::move(pool)) {}

  Result<TopSample> read() override {
    // Takes a connection for each sample, because the server may have ended the last one.
    GM_ASSIGN(const auto connection, pool_->connection(mongo::Pool::Purpose::kReads));
    const auto run = [&](const char* command) {
      bson::Builder builder;
      builder.append(command, int32_t{1});
      return connection->run("admin", std::move(builder).finish());
    };
    TopSample sample;
    GM_ASSIGN(const bson::Document status, run("serverStatus"));
    GM_ASSIGN(const bson::Document times, run("top"));
    sample.at = std::chrono::steady_clock::now();
    GM_ASSIGN(const bson::Document operations, run("currentOp"));
    add_status(status, sample);
    add_activities(times, sample);
    add_pending(operations, sample);
    return sample;
  }

 private:
  const std::unique_ptr<mongo::Pool> pool_;
};

}  // namespace

Result<std::unique_ptr<TopSource>> top_of_server(const mongo::ConnectOptions& options) {
  GM_ASSIGN(std::unique_ptr<mongo::Pool> pool, mongo::Pool::open(options));
  return std::unique_ptr<TopSource>(std::make_unique<ServerTop>(std::move(pool)));
}

}  // namespace gridmount::tools
