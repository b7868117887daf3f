// Writes many documents to a store in transactions of limited size, as restore and import do.
//
// If the store refuses a document, the others of its transaction are still written. In a
// deployment, where the refusal ends the transaction, they are written in new transactions.
//
// Not thread-safe.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "engine/base/error.h"
#include "engine/bson/document.h"
#include "engine/store.h"
#include "engine/transient_error.h"
#include "gridfs/bucket/retry.h"

namespace gridmount::tools {

// Returns true for errors after which nothing else can succeed.
bool ends_everything(ErrorCode code);

// `Tag` says to which of the caller's objects a document belongs. It is cheap to copy.
template <typename Tag>
class BatchedWrites {
 public:
  struct Actions {
    // Writes a document in the transaction. May be called again for the same document.
    std::function<Status(engine::Transaction&, Tag, bson::View)> write;
    // If set, is called instead of `write`. Gets consecutive documents whose tags `are_together`
    // with the tag of the first one, and gets this tag. Writes the documents in their order, and
    // sets its last argument to the number of those that it has written. After a success, this
    // number may be smaller than that of the documents, but not 0: it is called again for the rest.
    // An error is about the first document that it has not written.
    std::function<Status(engine::Transaction&, Tag, std::span<const bson::View>, size_t& written)>
        write_all = {};
    // Returns whether documents with these two tags may be written together.
    std::function<bool(Tag, Tag)> are_together = [](Tag, Tag) { return true; };
    // Called for a document that the store refuses. An error ends the work.
    std::function<Status(Tag, const Error&)> refused;
    // Called for a document when its transaction is committed.
    std::function<void(Tag)> written;
  };

  // `store` must outlive this object.
  BatchedWrites(engine::Store& store, Actions actions)
      : store_(store), actions_(std::move(actions)) {}

  // Copies the document. Calls flush() when the copies are enough for one transaction, and fails
  // with its errors.
  Status add(Tag tag, bson::View document) {
    pending_.push_back({tag, bytes_.size(), document.size()});
    bytes_.insert(bytes_.end(), document.data(), document.data() + document.size());
    const size_t writes_max = store_.capabilities().exclusive ? kWritesMax : kDeploymentWritesMax;
    const bool full = bytes_.size() >= kBytesMax || pending_.size() >= writes_max;
    return full ? flush() : Status();
  }

  // Writes what is left. Fails with an error that Actions::refused returns. Also fails with errors
  // that are not about one document: TransactionTooLarge, an error for which ends_everything() is
  // true, or one that remains when the transaction is repeated. After an error, the documents that
  // were not written are dropped.
  Status flush() {
    const Status done = write(0, pending_.size());
    pending_.clear();
    bytes_.clear();
    return done;
  }

 private:
  // The size of one transaction. It is large enough to make the cost of the commit negligible, and
  // small enough for the memory that a transaction takes.
  static constexpr size_t kBytesMax = 8 * 1024 * 1024;
  static constexpr size_t kWritesMax = 10'000;
  // The same for a deployment, which ends a transaction after a minute. Without write_all, each
  // document is a round trip.
  static constexpr size_t kDeploymentWritesMax = 1'000;

  struct Pending {
    Tag tag;
    size_t begin;
    uint32_t size;
  };

  // Writes pending_[begin, end) in one transaction. Where a refused document ends the transaction,
  // writes the halves in transactions of their own.
  Status write(size_t begin, size_t end) {
    if (begin == end) return {};
    const bool ends_with_failure = !store_.capabilities().continues_after_failed_writes;
    std::vector<Tag> written;
    Status stop;  // the error of Actions::refused
    const auto attempt = [&]() -> Result<bool> {
      written.clear();
      stop = Status();
      GM_ASSIGN(const std::unique_ptr<engine::Transaction> transaction, store_.begin());
      size_t count_max = end - begin;  // documents that are written at once
      for (size_t i = begin; i < end;) {
        const size_t count = std::min(count_max, end - i);
        size_t done = 0;
        const Status result = write(*transaction, i, i + count, done);
        for (size_t last = i + std::min(done, count); i < last; ++i) {
          written.push_back(pending_[i].tag);
        }
        if (result) {
          count_max = std::min(count_max * 2, end - begin);
          continue;
        }
        const Error& error = result.error();
        if (ends_everything(error.code()) || engine::is_transient(error) ||
            error.code() == ErrorCode::kTransactionTooLarge || done >= count) {
          return fail(error);
        }
        if (ends_with_failure && end - begin > 1) return false;
        stop = actions_.refused(pending_[i].tag, error);
        if (!stop || ends_with_failure) break;
        ++i;
        // If one document is refused, the next ones often are too. After each refusal, the
        // documents behind it must be sent again.
        count_max = 1;
      }
      if (ends_with_failure && written.size() < end - begin) return true;
      GM_TRY(transaction->commit());
      return true;
    };
    // Without transactions, what was written stays. So the attempt must not be repeated.
    GM_ASSIGN(const bool is_whole,
              store_.capabilities().transactions ? gridfs::with_retry(store_, attempt) : attempt());
    if (!is_whole) {
      const size_t middle = begin + (end - begin) / 2;
      GM_TRY(write(begin, middle));
      return write(middle, end);
    }
    for (const Tag& tag : written) actions_.written(tag);
    return stop;
  }

  bson::View view(const Pending& pending) const {
    return bson::View(bytes_.data() + pending.begin, pending.size);
  }

  // Writes those of pending_[begin, end) that write_all takes together, or only the first of them
  // if there is no write_all.
  Status write(engine::Transaction& transaction, size_t begin, size_t end, size_t& done) {
    if (actions_.write_all) {
      std::vector<bson::View> documents;
      const Tag tag = pending_[begin].tag;
      for (size_t i = begin; i < end && actions_.are_together(tag, pending_[i].tag); ++i) {
        documents.push_back(view(pending_[i]));
      }
      return actions_.write_all(transaction, tag, documents, done);
    }
    GM_TRY(actions_.write(transaction, pending_[begin].tag, view(pending_[begin])));
    done = 1;
    return {};
  }

  engine::Store& store_;
  const Actions actions_;
  std::vector<uint8_t> bytes_;  // the documents that have not been written yet
  std::vector<Pending> pending_;
};

}  // namespace gridmount::tools
