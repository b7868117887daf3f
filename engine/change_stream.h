// A change stream reports changes in a database. The comment of ChangeStream::next() says which
// changes. Source: MongoDB manual, "Change Streams" and "Change Events".
//
// An event is a document {_id: the resume token, operationType, ns, documentKey, ...}. A deployment
// reports a change when a majority of its members has the change. The deployment reports the
// changes in the order of the commits, and each change at least once. A read that begins after the
// report sees the change.
//
// Thread-safety: a ChangeStream must be used by one thread at a time. It must not outlive its
// Store.
#pragma once

#include <chrono>
#include <vector>

#include "engine/base/error.h"
#include "engine/bson/document.h"

namespace gridmount::engine {

// The error of a server that no longer has the changes after the resume token.
inline constexpr ErrorCode kChangeStreamHistoryLost{286};
// The error of a server for a resume token after which no stream can continue.
inline constexpr ErrorCode kInvalidResumeToken{260};

struct ChangeStreamOptions {
  // Stages that process each event ($match, $project), as elements of an array. The stages must
  // keep the fields _id and `lsid.id`.
  bson::View stages = {};
  // The resume token of an earlier stream. This stream begins with the event after that token.
  // Empty: the stream begins with the first change after it was opened.
  bson::View resume_after = {};
  // The event of an update also has the document in its current state, unless the document has been
  // removed meanwhile.
  bool full_document = false;
  // The longest time that the server waits for events in next(). If the server does not answer
  // within 10 s after that time, next() fails.
  std::chrono::milliseconds patience{1000};
};

class ChangeStream {
 public:
  virtual ~ChangeStream() = default;

  // Waits for events, and returns the next events as soon as there are some. Returns no event if
  // `patience` passes without an event, and may return no event if all new events were left out.
  // Leaves out the changes of this store's own transactions, but not the changes that this store
  // makes outside of transactions, for example by drop(). The views are valid until the next call.
  //
  // An error ends the stream. If is_resumable() is true for the error (engine/transient_error.h),
  // the caller can open another stream with resume_token() of this stream. Each later call fails
  // with the same error. An event of the type `invalidate` is the last one, and no stream can
  // continue after it: each later call fails with kInvalidResumeToken, for which is_resumable() is
  // false. Source: drivers' specification "Change Streams", and the behaviour of servers: after
  // this event they close the cursor, and they refuse the event's token as `resumeAfter`.
  virtual Result<std::vector<bson::View>> next() = 0;

  // Returns the resume token after all events that next() has returned or left out. If the server
  // has not sent a token yet, returns ChangeStreamOptions::resume_after, which may be empty. The
  // view is valid until the next call of next().
  virtual bson::View resume_token() const = 0;
};

}  // namespace gridmount::engine
