// Puts the collections of a dump into a store: options, documents, and at the end indexes, views
// and users, as mongorestore does.
//
// Documents are inserted in transactions of bounded size, so what has been restored before an error
// stays. What the store refuses (a document, an index, a collection) is said, counted, and passed
// over; with `stop_on_error` it ends the restore.
// Thread-safety: one thread at a time.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "engine/base/error.h"
#include "engine/bson/document.h"
#include "engine/store.h"
#include "tools/gridstore/dump/metadata_file.h"
#include "tools/gridstore/dump/restored_users.h"

namespace gridmount::tools {

struct RestoreRules {
  bool drop = false;  // collections of the same names first; users that the dump does not have
  bool bypass_validation = false;
  bool stop_on_error = false;
  bool convert_legacy_indexes = false;  // see with_converted_keys()
  bool quiet = false;                   // failures only
};

struct RestoreCounts {
  uint64_t documents = 0;
  uint64_t collections = 0;  // views too
  uint64_t indexes = 0;
  uint64_t users = 0;
  uint64_t failures = 0;
};

class Restoration {
 public:
  // `store` outlives it.
  Restoration(engine::Store& store, const RestoreRules& rules)
      : store_(store), rules_(rules), users_(store) {}

  // An error of any of these ends the restore: nothing else may be called after it.

  // Makes the collection, if it is not there, or says why not. Once for each.
  Status begin(const engine::Namespace& ns, const Metadata& metadata);
  // Collections may alternate.
  Status add(const engine::Namespace& ns, bson::View document);
  // Says how many documents it was.
  Status end(const engine::Namespace& ns);
  // Instead of end(): the documents behind those that were added are damaged. Users, of which the
  // dump then does not have all, are not restored.
  Status break_off(const engine::Namespace& ns, const Error& error);
  // Something of the dump is damaged, or cannot be restored.
  Status failed(const Error& error);
  // What is left to do for all that has begun, ended or not: indexes, views, users. Makes it
  // durable.
  Status finish();

  const RestoreCounts& counts() const { return counts_; }

 private:
  struct Target {
    engine::Namespace ns;
    Metadata metadata;
    enum class Kind { kCollection, kView, kUsers, kRefused } kind = Kind::kCollection;
    bool is_whole = false;  // it has ended
    uint64_t documents = 0;
    uint64_t failures = 0;
  };
  struct Pending {
    Target* target;
    size_t begin;
    uint32_t size;
  };

  Status make(Target& target);
  Status drop_and_create(Target& target, engine::Transaction& transaction);
  Status flush();
  Status document_failed(Target& target, const Error& error);
  Status make_indexes(const Target& target);
  Status make_index(const Target& target, bson::View specification);
  std::vector<bson::Document> converted_indexes(const Target& target) const;
  Status say_documents(const Target& target);
  Status make_users();

  engine::Store& store_;
  const RestoreRules rules_;
  std::map<engine::Namespace, Target> targets_;
  std::vector<uint8_t> bytes_;  // of the documents that are not inserted yet
  std::vector<Pending> pending_;
  RestoredUsers users_;
  RestoreCounts counts_;
};

}  // namespace gridmount::tools
