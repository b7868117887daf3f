#include "engine/wire/counters.h"

namespace gridmount::wire {
namespace {

// Limits the table, since names of dropped collections are never removed from it.
constexpr size_t kNamespacesMax = 10'000;

constexpr OperationKind kAllKinds[] = {OperationKind::kInsert,  OperationKind::kQuery,
                                       OperationKind::kUpdate,  OperationKind::kRemove,
                                       OperationKind::kGetMore, OperationKind::kCommand};

std::string_view name_in_opcounters(OperationKind kind) {
  switch (kind) {
    case OperationKind::kInsert:
      return "insert";
    case OperationKind::kQuery:
      return "query";
    case OperationKind::kUpdate:
      return "update";
    case OperationKind::kRemove:
      return "delete";
    case OperationKind::kGetMore:
      return "getmore";
    case OperationKind::kCommand:
      break;
  }
  return "command";
}

std::string_view name_in_top(OperationKind kind) {
  switch (kind) {
    case OperationKind::kQuery:
      return "queries";
    case OperationKind::kRemove:
      return "remove";
    case OperationKind::kCommand:
      return "commands";
    default:
      return name_in_opcounters(kind);
  }
}

bool is_write(OperationKind kind) {
  return kind == OperationKind::kInsert || kind == OperationKind::kUpdate ||
         kind == OperationKind::kRemove;
}

}  // namespace

Counters::Counters() : runs_(std::make_unique<Runs[]>(all_commands().size())) {
  for (std::atomic<int64_t>& count : operations_) count = 0;
}

void Counters::record_command(const Command& command, bool failed) {
  Runs& runs = runs_[static_cast<size_t>(&command - all_commands().data())];
  ++runs.total;
  if (failed) ++runs.failed;
}

void Counters::record_operations(OperationKind kind, int64_t operations) {
  operations_[static_cast<size_t>(kind)] += operations;
}

void Counters::record_time(const engine::Namespace& ns, OperationKind kind,
                           std::chrono::microseconds duration) {
  const std::string name = ns.full();
  const MutexLock lock(mutex_);
  auto found = times_.find(name);
  if (found == times_.end()) {
    if (times_.size() >= kNamespacesMax) return;
    found = times_.emplace(name, Times()).first;
  }
  Total& total = found->second.by_kind[static_cast<size_t>(kind)];
  total.microseconds += duration.count();
  ++total.count;
}

void Counters::append_opcounters(bson::Builder& out) const {
  for (const OperationKind kind : kAllKinds) {
    out.append(name_in_opcounters(kind), operations_[static_cast<size_t>(kind)].load());
  }
}

void Counters::append_asserts(bson::Builder& out) const {
  out.append("regular", regular_asserts_.load()).append("warning", int64_t{0});
  out.append("msg", int64_t{0}).append("user", user_asserts_.load());
  out.append("tripwire", int64_t{0}).append("rollovers", int64_t{0});
}

void Counters::append_commands(bson::Builder& out) const {
  size_t at = 0;
  for (const Command& command : all_commands()) {
    const Runs& runs = runs_[at++];
    out.open_document(command.name);
    out.append("failed", runs.failed.load()).append("total", runs.total.load()).close();
  }
}

void Counters::append_times(bson::Builder& out) const {
  const MutexLock lock(mutex_);
  for (const auto& [name, times] : times_) {
    Total total;
    Total writes;
    Total reads;
    for (const OperationKind kind : kAllKinds) {
      const Total& one = times.by_kind[static_cast<size_t>(kind)];
      for (Total* const sum : {&total, is_write(kind) ? &writes : &reads}) {
        sum->microseconds += one.microseconds;
        sum->count += one.count;
      }
    }
    const auto append = [&](std::string_view key, const Total& value) {
      out.open_document(key);
      out.append("time", value.microseconds).append("count", value.count).close();
    };
    out.open_document(name);
    append("total", total);
    append("readLock", reads);
    append("writeLock", writes);
    for (const OperationKind kind : kAllKinds) {
      append(name_in_top(kind), times.by_kind[static_cast<size_t>(kind)]);
    }
    out.close();
  }
}

}  // namespace gridmount::wire
