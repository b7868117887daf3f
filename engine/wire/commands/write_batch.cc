#include "engine/wire/commands/write_batch.h"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <string>

#include "engine/bson/document.h"
#include "engine/bson/text.h"
#include "engine/wire/version_document.h"

namespace gridmount::wire {
namespace {

constexpr size_t kGroupStatementsMax = 1000;
constexpr size_t kGroupBytesMax = 16 * 1024 * 1024;
constexpr std::chrono::milliseconds kGroupTimeMax{20};
// The limit for one command. system.profile has room for about as many entries.
constexpr size_t kProfiledStatementsMax = 10'000;
// The limit for the errors in a reply, because a reply is one document. Later errors have only
// their index and code.
constexpr uint32_t kErrorBytesMax = 4 * 1024 * 1024;

// Returns true for errors after which the transaction cannot be committed (rule S3 of
// engine/store.h).
bool aborts_transaction(ErrorCode code) {
  return code == ErrorCode::kOutOfDiskSpace || code == ErrorCode::kIoError ||
         code == ErrorCode::kWritesRefused || code == ErrorCode::kTransactionTooLarge;
}

class Runner {
 public:
  Runner(Call& call, const WriteBatch& batch) : call_(call), batch_(batch) {}

  Result<BatchResult> run() {
    while (at_ < batch_.statements && !ended_) GM_TRY(run_group());
    if (interrupt_) return fail(*std::move(interrupt_));
    make_durable();
    return std::move(result_);
  }

 private:
  // The state and the results of one transaction.
  struct Group {
    std::chrono::steady_clock::time_point begin = std::chrono::steady_clock::now();
    size_t first = 0;
    size_t bytes = 0;
    BatchResult result;
    std::vector<ProfiledStatement> profiled;
    std::optional<Error> abort_cause;
  };

  Status run_group() {
    Group group;
    group.first = at_;
    Result<std::unique_ptr<engine::Transaction>> transaction = call_.begin(
        batch_.brief ? engine::TransactionKind::kShort : engine::TransactionKind::kMayBlock);
    if (!transaction) {
      if (at_ == 0) return fail(std::move(transaction).error());
      group_failed(group, std::move(transaction).error());
      ended_ = true;
      return {};
    }
    group.begin = std::chrono::steady_clock::now();
    while (at_ < batch_.statements && !ended_ && !full(group)) {
      if (const Status go_on = call_.check_interrupt(); !go_on) {
        interrupt_ = go_on.error();
        ended_ = true;
        break;
      }
      run_statement(**transaction, group);
      if (group.abort_cause) {
        transaction->reset();
        group_failed(group, *group.abort_cause);
        return {};
      }
    }
    const Status committed = call_.state().commit(**transaction, engine::Durability::kCommitted);
    if (!committed) {
      group_failed(group, committed.error());
    } else {
      add(std::move(group));
    }
    return {};
  }

  bool full(const Group& group) const {
    const size_t statements = at_ - group.first;
    if (statements == 0) return false;
    return at_ <= one_by_one_until_ || statements >= kGroupStatementsMax ||
           group.bytes + batch_.bytes(at_) > kGroupBytesMax ||
           std::chrono::steady_clock::now() - group.begin >= kGroupTimeMax;
  }

  void run_statement(engine::Transaction& transaction, Group& group) {
    group.bytes += batch_.bytes(at_);
    const auto begin = std::chrono::steady_clock::now();
    if (call_.observer()) *call_.observer() = {};
    Result<StatementResult> done = batch_.run(transaction, at_);
    if (done) {
      if (Status kept = check_version_document(call_.store(), call_.ns(), transaction); !kept) {
        group.abort_cause = std::move(kept).error();
        return;
      }
    }
    if (call_.observer() && batch_.shown) profile(group, done, begin);
    if (!done && aborts_transaction(done.error().code())) {
      group.abort_cause = std::move(done).error();
      return;
    }
    const size_t index = at_++;
    if (!done) {
      // The deadline ends all remaining statements too, so this is not an error of one statement.
      if (done.error().code() == ErrorCode::kMaxTimeMsExpired) {
        interrupt_ = std::move(done).error();
        ended_ = true;
        return;
      }
      group.result.errors.emplace_back(index, std::move(done).error());
      ended_ = batch_.ordered;
      return;
    }
    group.result.matched += done->matched;
    group.result.modified += done->modified;
    if (done->upserted_id) {
      ++group.result.matched;
      group.result.upserted.emplace_back(index, *std::move(done->upserted_id));
    }
  }

  void profile(Group& group, const Result<StatementResult>& done,
               std::chrono::steady_clock::time_point begin) {
    const auto duration = std::chrono::duration_cast<std::chrono::microseconds>(
        std::chrono::steady_clock::now() - begin);
    if (group.profiled.size() + call_.profiled_statements().size() >= kProfiledStatementsMax ||
        !call_.state().profiler().wants(call_.ns(), duration)) {
      return;
    }
    group.profiled.push_back({batch_.shown(at_), batch_.counts(done.value_or(StatementResult())),
                              *call_.observer(), duration,
                              done ? std::nullopt : std::optional(done.error())});
  }

  // Called when the group has been rolled back. If the group had several statements, prepares to
  // run them one by one. Otherwise reports the error of its statement.
  void group_failed(const Group& group, Error error) {
    const size_t reached = std::min(at_ + (group.abort_cause ? 1 : 0), batch_.statements);
    if (reached > group.first + 1) {
      one_by_one_until_ = reached;
      at_ = group.first;
      ended_ = false;
      interrupt_.reset();
      return;
    }
    at_ = group.first + 1;
    result_.errors.emplace_back(group.first, std::move(error));
    ended_ = batch_.ordered;
  }

  void add(Group group) {
    result_.matched += group.result.matched;
    result_.modified += group.result.modified;
    for (auto& one : group.result.upserted) result_.upserted.push_back(std::move(one));
    for (auto& one : group.result.errors) result_.errors.push_back(std::move(one));
    for (auto& one : group.profiled) call_.profiled_statements().push_back(std::move(one));
  }

  void make_durable() {
    if (call_.generic().write_concern.durability != engine::Durability::kDurable) return;
    if (Status durable = call_.store().make_durable(); !durable) {
      result_.write_concern_error = std::move(durable).error();
    }
  }

  Call& call_;
  const WriteBatch& batch_;
  size_t at_ = 0;
  size_t one_by_one_until_ = 0;
  bool ended_ = false;
  std::optional<Error> interrupt_;
  BatchResult result_;
};

void append_write_error(bson::Builder& out, size_t index, const Error& error, bool shortened) {
  out.push_open_document().append("index", static_cast<int32_t>(index));
  out.append("code", static_cast<int32_t>(error.code()));
  out.append("errmsg", shortened ? std::string() : bson::valid_text(error.message()));
  if (!shortened && !error.details().empty()) {
    out.append_all(
        bson::View(error.details().data(), static_cast<uint32_t>(error.details().size())));
  }
  out.close();
}

}  // namespace

bool is_by_id(bson::View filter) {
  bson::View::Iterator field = filter.begin();
  if (field == filter.end() || (*field).key != "_id") return false;
  const bson::ValueView value = (*field).value;
  if (++field != filter.end() || value.type() == bson::Type::kRegex) return false;
  if (value.type() != bson::Type::kDocument) return true;
  const bson::View document = value.as_document();
  return document.empty() || !(*document.begin()).key.starts_with('$');
}

bool are_brief_documents(const std::vector<bson::View>& documents) {
  constexpr size_t kBriefBytesMax = size_t{64} << 10;
  size_t bytes = 0;
  for (const bson::View document : documents) bytes += document.size();
  return bytes <= kBriefBytesMax;
}

bool are_brief_statements(const std::vector<bson::View>& statements) {
  const auto is_brief = [](bson::View statement) {
    const std::optional<bson::ValueView> filter = statement.find("q");
    const std::optional<bson::ValueView> update = statement.find("u");
    return filter && filter->type() == bson::Type::kDocument && is_by_id(filter->as_document()) &&
           !statement.find("hint") && !statement.find("collation") &&
           !(update && update->type() == bson::Type::kArray);
  };
  return are_brief_documents(statements) &&
         std::all_of(statements.begin(), statements.end(), is_brief);
}

Status check_batch_size(size_t statements) {
  if (statements >= 1 && statements <= kBatchStatementsMax) return {};
  return fail(ErrorCode::kInvalidLength, "Write batch sizes must be between 1 and " +
                                             std::to_string(kBatchStatementsMax) + ". Got " +
                                             std::to_string(statements) + " operations.");
}

Result<BatchResult> run_batch(Call& call, const WriteBatch& batch) {
  return Runner(call, batch).run();
}

void append_batch_result(const Call& call, bson::Builder& reply, const BatchResult& result,
                         bool is_update) {
  if (!call.generic().write_concern.acknowledged) {
    reply.append("n", int32_t{0});
    if (is_update) reply.append("nModified", int32_t{0});
    return;
  }
  reply.append("n", static_cast<int32_t>(std::min<int64_t>(result.matched, INT32_MAX)));
  if (!result.errors.empty()) {
    reply.open_array("writeErrors");
    const uint32_t begin = reply.size();
    for (const auto& [index, error] : result.errors) {
      append_write_error(reply, index, error, reply.size() - begin > kErrorBytesMax);
    }
    reply.close();
  }
  if (is_update) {
    if (!result.upserted.empty()) {
      reply.open_array("upserted");
      for (const auto& [index, id] : result.upserted) {
        reply.push_open_document().append("index", static_cast<int32_t>(index));
        reply.append("_id", id).close();
      }
      reply.close();
    }
    reply.append("nModified", static_cast<int32_t>(std::min<int64_t>(result.modified, INT32_MAX)));
  }
  if (result.write_concern_error) {
    reply.open_document("writeConcernError");
    reply.append("code", static_cast<int32_t>(result.write_concern_error->code()));
    reply.append("codeName", error_code_name(result.write_concern_error->code()));
    reply.append("errmsg", bson::valid_text(result.write_concern_error->message())).close();
  }
}

}  // namespace gridmount::wire
