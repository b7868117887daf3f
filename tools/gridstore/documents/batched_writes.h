// Writes many documents to a store in transactions of limited size, as restore and import do.
//
// If the store refuses a document, the other documents of the transaction are still written. If the
// refusal ends the transaction, as in a deployment with transactions, the other documents are
// written in new transactions.
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

// Returns true for errors after which no other write can succeed, such as OutOfDiskSpace.
bool ends_everything(ErrorCode code);

// A `Tag` says to which object of the caller a document belongs. A Tag must be cheap to copy.
template <typename Tag>
class BatchedWrites {
 public:
  struct Actions {
    // Must write the document in the transaction. May be called again for the same document, if a
    // transaction was not committed.
    std::function<Status(engine::Transaction&, Tag, bson::View)> write;
    // If set, is called instead of `write`. Gets consecutive documents, and the tag of the first
    // one. For this tag and the tag of each of the documents, `are_together` returns true. Must
    // write the documents in their order, and set `written` to the number of documents that it has
    // written, also after an error. After a success, the number may be less than the number of the
    // documents, but not 0: `write_all` is called again for the other documents. An error is about
    // the first document that was not written.
    std::function<Status(engine::Transaction&, Tag, std::span<const bson::View>, size_t& written)>
        write_all = {};
    // Returns whether one call of `write_all` may get documents with these two tags.
    std::function<bool(Tag, Tag)> are_together = [](Tag, Tag) { return true; };
    // Called for each document that the store refuses. If it fails, flush() fails with the same
    // error.
    std::function<Status(Tag, const Error&)> refused;
    // Called for each document after its transaction was committed.
    std::function<void(Tag)> written;
  };

  // `store` must outlive this object.
  BatchedWrites(engine::Store& store, Actions actions)
      : store_(store), actions_(std::move(actions)) {}

  // Copies the document. If the copies are now enough for one transaction, calls flush(), and fails
  // as flush() does.
  Status add(Tag tag, bson::View document) {
    pending_.push_back({tag, bytes_.size(), document.size()});
    bytes_.insert(bytes_.end(), document.data(), document.data() + document.size());
    const size_t writes_max = store_.capabilities().exclusive ? kWritesMax : kDeploymentWritesMax;
    const bool full = bytes_.size() >= kBytesMax || pending_.size() >= writes_max;
    return full ? flush() : Status();
  }

  // Writes the documents that are not written yet. Fails with the error that Actions::refused
  // returns. Also fails with errors that are not about one document: TransactionTooLarge, an error
  // for which ends_everything() is true, an error of the beginning or the commit of a transaction,
  // or a transient error that remains after repeated transactions. After an error, drops the
  // documents that were not written.
  Status flush() {
    const Status done = write(0, pending_.size());
    pending_.clear();
    bytes_.clear();
    return done;
  }

 private:
  // A transaction is written as soon as its documents reach one of these limits: the bytes or the
  // number of the documents. So the last document may exceed kBytesMax. The limits are large enough
  // to make the cost of the commit negligible, and small enough to limit the memory that a
  // transaction takes.
  static constexpr size_t kBytesMax = 8 * 1024 * 1024;
  static constexpr size_t kWritesMax = 10'000;
  // The limit for the number of documents in one transaction of a deployment. A deployment aborts a
  // transaction after a minute, and without write_all, each document costs a round trip.
  static constexpr size_t kDeploymentWritesMax = 1'000;

  struct Pending {
    Tag tag;
    size_t begin;
    uint32_t size;
  };

  // Writes pending_[begin, end) in one transaction. If a refused document ends the transaction,
  // writes each half in a transaction of its own, in the same way.
  Status write(size_t begin, size_t end) {
    if (begin == end) return {};
    const bool ends_with_failure = !store_.capabilities().continues_after_failed_writes;
    std::vector<Tag> written;
    Status stop;  // the error of Actions::refused
    const auto attempt = [&]() -> Result<bool> {
      written.clear();
      stop = Status();
      GM_ASSIGN(const std::unique_ptr<engine::Transaction> transaction, store_.begin());
      size_t count_max = end - begin;  // the most documents for one call of write_all
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
        // If one document is refused, the next documents are often refused too. After each refusal,
        // the documents after the refused one must be sent again.
        count_max = 1;
      }
      if (ends_with_failure && written.size() < end - begin) return true;
      GM_TRY(transaction->commit());
      return true;
    };
    // Without transactions, documents that were written stay written. So the attempt must not be
    // repeated.
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

  // Writes the first documents of pending_[begin, end): as many as one call of write_all may get,
  // or one document if there is no write_all. Sets `done` to the number of documents that were
  // written.
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
