// Reads the results of a cursor on the server, and fetches them in MongoDB's batches.
//
// Thread-safety: not thread-safe. A cursor belongs to its snapshot.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "engine/base/error.h"
#include "engine/bson/document.h"
#include "engine/mongo/mongo_snapshot.h"
#include "engine/store.h"

namespace gridmount::mongo {

class MongoCursor final : public engine::Cursor {
 public:
  // `reply` is that of find, aggregate, listIndexes or listCollections. Fails with FailedToParse if
  // it holds no cursor. With `keeps_documents`, the returned views stay valid as S5 says. Otherwise
  // they are valid until the next call of next().
  static Result<std::unique_ptr<engine::Cursor>> open(std::shared_ptr<Reads> reads,
                                                      std::string database, bson::Document reply,
                                                      bool keeps_documents = false,
                                                      bool tailable = false);
  // Closes the server's cursor unless it was read to its end.
  ~MongoCursor() override;
  MongoCursor(const MongoCursor&) = delete;
  MongoCursor& operator=(const MongoCursor&) = delete;

  // Fails with the error of the server's getMore. Such an error ends the cursor.
  Result<std::optional<bson::View>> next() override;

 private:
  MongoCursor(std::shared_ptr<Reads> reads, std::string database, bool keeps_documents,
              bool tailable)
      : reads_(std::move(reads)),
        ns_{std::move(database), ""},
        keeps_documents_(keeps_documents),
        tailable_(tailable) {}

  Status take(bson::Document reply);

  const std::shared_ptr<Reads> reads_;
  engine::Namespace ns_;  // as the server names it
  const bool keeps_documents_;
  const bool tailable_;  // an empty batch is an end for now
  int64_t id_ = 0;
  bson::Document reply_;  // holds the current batch
  bson::View::Iterator at_;
};

}  // namespace gridmount::mongo
