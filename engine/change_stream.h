// A change stream: what others change in a database, as MongoDB's servers report it (MongoDB
// manual, "Change Streams" and "Change Events").
//
// An event is a document {_id: the resume token, operationType, ns, documentKey, ...}. A server
// reports a change when a majority of its members has it, in the order of the commits, and each
// change at least once. A read that begins after the report sees the change.
//
// Thread-safety: a ChangeStream is used by one thread at a time. It must not outlive its Store.
#pragma once

#include <chrono>
#include <vector>

#include "engine/base/error.h"
#include "engine/bson/document.h"

namespace gridmount::engine {

// An error of servers: the server no longer has the changes after the resume token.
inline constexpr ErrorCode kChangeStreamHistoryLost{286};

struct ChangeStreamOptions {
  // Stages that each event passes ($match, $project), as elements of an array. They must keep _id
  // and `lsid.id`.
  bson::View stages = {};
  // The resume token of an earlier stream, whose next event is the first one of this stream. Empty:
  // begins with the changes after the call.
  bson::View resume_after = {};
  // The event of an update also has the document as it is now, unless it has been removed since.
  bool full_document = false;
  // How long next() waits for events.
  std::chrono::milliseconds patience{1000};
};

class ChangeStream {
 public:
  virtual ~ChangeStream() = default;

  // Returns the next events as soon as there are some, or none if there are none within the
  // patience. Leaves out what this store's own transactions have changed. The views are valid until
  // the next call.
  //
  // After an error the stream is at its end. If is_resumable() holds for the error
  // (engine/transient_error.h), another stream with this one's resume token continues. An event of
  // the type `invalidate` is the last one, and no stream continues after it.
  virtual Result<std::vector<bson::View>> next() = 0;

  // Returns the token of the place after the events that next() has returned or left out. It is
  // empty if the server has not named one yet. Valid until the next call of next().
  virtual bson::View resume_token() const = 0;
};

}  // namespace gridmount::engine
