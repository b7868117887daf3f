#include "tools/gridstore/check/bucket_check.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <compare>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "engine/base/counted.h"
#include "engine/bson/builder.h"
#include "engine/bson/compare.h"
#include "gridfs/bucket/bucket.h"
#include "tools/gridstore/check/directory_check.h"
#include "tools/gridstore/check/file_check.h"
#include "tools/gridstore/check/link_check.h"
#include "tools/gridstore/check/missing_indexes.h"
#include "tools/gridstore/check/recheck.h"

namespace gridmount::tools {

namespace {

// The documents of a collection in sorted order, one at a time. Documents that cannot be read
// become findings and are skipped.
class SortedDocuments {
 public:
  static Result<SortedDocuments> open(engine::Collection& collection, engine::Snapshot& snapshot,
                                      bson::View order, std::string_view key, Findings& findings,
                                      const Location& place) {
    engine::FindOptions options;
    options.sort = order;
    options.one_at_a_time = true;
    GM_ASSIGN(auto cursor, collection.find(snapshot, bson::View(), options));
    SortedDocuments documents(std::move(cursor), key, findings, place);
    GM_TRY(documents.advance());
    return documents;
  }

  bool at_end() const { return !current_; }
  bson::View document() const { return *current_; }
  // The sort key. A missing field sorts as null.
  bson::ValueView key() const {
    static const bson::Value kNull;
    return current_->find(key_).value_or(kNull.view());
  }
  uint64_t unreadable() const { return unreadable_; }

  Status advance() {
    for (;;) {
      findings_->record_read();
      auto next = cursor_->next();
      if (next) {
        current_ = *next;
        return {};
      }
      if (next.error().code() != ErrorCode::kDataCorruptionDetected) {
        return fail(std::move(next).error());
      }
      ++unreadable_;
      findings_->content_problem(*place_, next.error().message());
    }
  }

 private:
  SortedDocuments(std::unique_ptr<engine::Cursor> cursor, std::string_view key, Findings& findings,
                  const Location& place)
      : cursor_(std::move(cursor)), key_(key), findings_(&findings), place_(&place) {}

  std::unique_ptr<engine::Cursor> cursor_;
  std::string_view key_;
  Findings* findings_;
  const Location* place_;
  std::optional<bson::View> current_;
  uint64_t unreadable_ = 0;
};

// Returns true if a document of `detached` marks the chunks that remain of a truncated file, as
// opposed to a detached file.
bool is_garbage_marker(bson::View detached) {
  bson::ValueView id = detached["_id"];
  return id.type() == bson::Type::kDocument && id.as_document().find("truncated") &&
         detached.find("from") && !detached.find("chunkSize");
}

// The limit for the files and orphans that find_content_damage() collects.
constexpr size_t kGatheredMax = 1000;

// Returns the creation time of a chunk, which the ObjectIds of drivers contain.
std::optional<uint32_t> time_made(bson::View chunk) {
  const std::optional<bson::ValueView> id = chunk.find("_id");
  if (!id || id->type() != bson::Type::kObjectId) return std::nullopt;
  return id->as_object_id().seconds();
}

// Returns true if the chunks may belong to a running upload, which has no files document yet.
bool is_recent(const std::optional<uint32_t>& made) {
  constexpr std::chrono::hours kUploadMax{24};
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  return made && std::chrono::seconds(*made) > now - kUploadMax;
}

bool same(bson::ValueView a, bson::ValueView b) {
  return bson::compare(a, b) == 0;
}

class ContentCheck {
 public:
  ContentCheck(const gridfs::Bucket& bucket, engine::Snapshot& snapshot, const Location& place,
               bool in_use, Findings& findings)
      : bucket_(bucket),
        snapshot_(snapshot),
        place_(place),
        in_use_(in_use),
        is_stable_(bucket.store().capabilities().stable_snapshots),
        findings_(findings) {}

  // run() then passes damaged files and orphans to the callbacks, until `is_enough` returns true.
  using FileVisit = std::function<void(ContentDamage::File)>;
  using OrphansVisit = std::function<void(ContentDamage::Orphans)>;
  void gather(FileVisit file, OrphansVisit orphans, std::function<bool()> is_enough) {
    visit_file_ = std::move(file);
    visit_orphans_ = std::move(orphans);
    is_enough_ = std::move(is_enough);
  }

  Status run() {
    bson::Builder id_order;
    bson::Builder chunk_order;
    id_order.append("_id", int32_t{1});
    chunk_order.append("files_id", int32_t{1}).append("n", int32_t{1});
    bson::Document by_id = std::move(id_order).finish();
    bson::Document by_file = std::move(chunk_order).finish();
    GM_ASSIGN(auto files,
              SortedDocuments::open(bucket_.files(), snapshot_, by_id, "_id", findings_, place_));
    GM_ASSIGN(auto detached, SortedDocuments::open(bucket_.detached(), snapshot_, by_id, "_id",
                                                   findings_, place_));
    GM_ASSIGN(auto chunks, SortedDocuments::open(bucket_.chunks(), snapshot_, by_file, "files_id",
                                                 findings_, place_));
    while (!files.at_end() || !detached.at_end() || !chunks.at_end()) {
      GM_TRY(check_least_id(files, detached, chunks));
      if (is_enough_ && is_enough_()) return {};
    }
    return {};
  }

 private:
  // Checks the smallest id of the three collections: a file, or data without one.
  Status check_least_id(SortedDocuments& files, SortedDocuments& detached,
                        SortedDocuments& chunks) {
    std::optional<bson::Value> least;
    for (const SortedDocuments* documents : {&files, &detached, &chunks}) {
      if (documents->at_end()) continue;
      if (!least || bson::compare(documents->key(), *least) < 0) {
        least = bson::Value(documents->key());
      }
    }
    std::optional<FileCheck> file;
    if (!files.at_end() && same(files.key(), *least)) {
      ++findings_.counts().files;
      Garbage garbage;
      if (is_stable_) {
        GM_ASSIGN(garbage, garbage_of(*least));
      }
      file.emplace(is_stable_ ? findings_ : unprinted_, place_, files.document(), garbage);
    }
    bool is_detached = !detached.at_end() && same(detached.key(), *least);
    const bool is_marker = is_detached && is_garbage_marker(detached.document());
    uint64_t count = 0;
    std::optional<uint32_t> made;
    while (!chunks.at_end() && same(chunks.key(), *least)) {
      count_chunk(chunks.document());
      ++count;
      made = std::max(made, time_made(chunks.document()));
      if (file) file->add_chunk(chunks.document());
      GM_TRY(chunks.advance());
    }
    if (file) {
      file->finish();
      if (is_stable_) {
        report_file({file->place(), *least, file->verdict(), is_detached, {}});
      } else if (is_detached || !file->verdict().sound()) {
        GM_TRY(recheck(*least));
      }
      GM_TRY(files.advance());
    } else if (is_marker) {
      // garbage_of() reads the marker when its file is checked.
    } else if (is_detached) {
      ++findings_.counts().detached;
      Location place = place_;
      place.file_id = least;
      findings_.notice(place,
                       "was deleted or not completed; the next mount or put will remove its " +
                           counted(count, "chunk"));
    } else {
      bool are_there = true;
      if (!is_stable_) {
        GM_ASSIGN(are_there, are_orphans(bucket_, snapshot_, *least));
      }
      if (are_there) {
        report_orphans(*least, count, made, files.unreadable() + detached.unreadable() > 0);
      }
    }
    if (is_detached) GM_TRY(detached.advance());
    return {};
  }

  // FileCheck and recheck() have already reported the problems in `file.verdict`.
  void report_file(ContentDamage::File file) {
    if (file.is_detached_too) {
      Location place = place_;
      place.file_id = file.id;
      findings_.content_problem(place, "is in both files and detached");
    }
    if (visit_file_ && (file.is_detached_too || !file.verdict.sound())) {
      visit_file_(std::move(file));
    }
  }

  Status recheck(const bson::Value& id) {
    GM_ASSIGN(const Garbage garbage, garbage_of(id));
    GM_ASSIGN(Recheck found, recheck_file(bucket_, snapshot_, place_, id, garbage));
    if (found.kind == Recheck::Kind::kChanging) {
      Location place = place_;
      place.file_id = id;
      findings_.notice(place, "is being written; it was not checked");
    }
    if (found.kind != Recheck::Kind::kDamaged) return {};
    for (const std::string& problem : found.verdict.problems) {
      findings_.content_problem(found.place, problem);
    }
    report_file({found.place, id, std::move(found.verdict), found.is_detached_too,
                 std::move(found.document)});
    return {};
  }

  void report_orphans(const bson::Value& files_id, uint64_t count,
                      const std::optional<uint32_t>& made, bool some_are_unreadable) {
    Location place = place_;
    place.file_id = files_id;
    if (visit_orphans_) {
      visit_orphans_({files_id, count, made});
    } else if (in_use_ && is_recent(made)) {
      findings_.notice(place, counted(count, "chunk has", "chunks have") +
                                  " no files document, as of an upload that has not ended or "
                                  "has failed");
    } else {
      std::string what = counted(count, "orphan chunk") + ": there is no files document";
      if (some_are_unreadable) what += " that can be read";
      findings_.content_problem(place, what);
    }
  }

  Result<Garbage> garbage_of(const bson::Value& files_id) const {
    bson::Builder filter;
    filter.open_document("_id").open_document("$eq").append("truncated", files_id).close().close();
    bson::Document by_id = std::move(filter).finish();
    auto marker = bucket_.detached().find_one(snapshot_, by_id);
    // run() reads all of `detached` and reports an unreadable marker.
    if (!marker && marker.error().code() == ErrorCode::kDataCorruptionDetected) return Garbage{};
    if (!marker) return fail(std::move(marker).error());
    if (!*marker || !is_garbage_marker(**marker)) return Garbage{};
    auto bound = [&](std::string_view field) {
      auto value = (*marker)->find(field);
      return value ? value->integral().value_or(0) : 0;
    };
    return Garbage{bound("from"), bound("to")};
  }

  void count_chunk(bson::View chunk) {
    ++findings_.counts().chunks;
    auto data = chunk.find("data");
    if (data && data->type() == bson::Type::kBinary) {
      findings_.counts().chunk_bytes += data->as_binary().size;
    }
  }

  const gridfs::Bucket& bucket_;
  engine::Snapshot& snapshot_;
  const Location& place_;
  const bool in_use_;
  const bool is_stable_;  // if false, only problems that a recheck confirms are reported
  Findings& findings_;
  Findings unprinted_{Findings::Format::kNone};
  FileVisit visit_file_;
  OrphansVisit visit_orphans_;
  std::function<bool()> is_enough_;
};

}  // namespace

Result<std::set<std::string>> buckets_of(engine::Database& database, engine::Snapshot& snapshot) {
  static constexpr std::array<std::string_view, 5> kSuffixes = {".files", ".chunks", ".directories",
                                                                ".detached", ".links"};
  std::set<std::string> names;
  GM_ASSIGN(auto collections, database.collections(snapshot));
  for (const engine::CollectionInfo& collection : collections) {
    for (std::string_view suffix : kSuffixes) {
      if (collection.name.size() > suffix.size() && collection.name.ends_with(suffix)) {
        names.insert(collection.name.substr(0, collection.name.size() - suffix.size()));
      }
    }
  }
  return names;
}

Result<std::set<std::string>> buckets_to_check(engine::Store& store, engine::Database& database,
                                               engine::Snapshot& snapshot) {
  if (store.capabilities().exclusive) return buckets_of(database, snapshot);
  std::set<std::string> collections;
  GM_ASSIGN(const auto infos, database.collections(snapshot));
  for (const engine::CollectionInfo& info : infos) {
    if (!info.options.find("viewOn")) collections.insert(info.name);
  }
  std::set<std::string> names;
  constexpr std::string_view kSuffix = ".files";
  for (const std::string& name : collections) {
    if (name.size() <= kSuffix.size() || !name.ends_with(kSuffix)) continue;
    const std::string bucket = name.substr(0, name.size() - kSuffix.size());
    if (collections.contains(bucket + ".chunks")) names.insert(bucket);
  }
  return names;
}

bool is_damage(const Error& error) {
  return error.code() == ErrorCode::kDataCorruptionDetected ||
         error.code() == ErrorCode::kStoreDamaged;
}

Status check_bucket(engine::Store& store, engine::Snapshot& snapshot,
                    const std::shared_ptr<engine::Database>& database, const std::string& name,
                    bool in_use, Findings& findings) {
  ++findings.counts().buckets;
  Location place{database->name(), name, {}, {}};
  gridfs::BucketOptions options;
  options.name = name;
  gridfs::Bucket bucket(store, database, options);

  GM_TRY(check_indexes(bucket, snapshot, place, findings));
  Status content = ContentCheck(bucket, snapshot, place, in_use, findings).run();
  if (!content) {
    if (content.error().code() != ErrorCode::kQueryExceededMemoryLimit) return content;
    findings.content_problem(place,
                             "files and chunks were not compared: without the chunks' index they "
                             "are too many to be sorted in memory");
  }
  GM_TRY(check_directories(bucket, snapshot, place, findings));
  return check_links(bucket, snapshot, place, findings);
}

Result<ContentDamage> find_content_damage(
    const gridfs::Bucket& bucket, engine::Snapshot& snapshot, const Location& place,
    const std::function<bool(const ContentDamage::Orphans&)>& passes_over) {
  ContentDamage damage;
  Findings unprinted(Findings::Format::kNone);
  ContentCheck check(bucket, snapshot, place, false, unprinted);
  check.gather([&](ContentDamage::File file) { damage.files.push_back(std::move(file)); },
               [&](ContentDamage::Orphans orphans) {
                 if (!passes_over(orphans)) damage.orphans.push_back(std::move(orphans));
               },
               [&] { return damage.files.size() + damage.orphans.size() >= kGatheredMax; });
  GM_TRY(check.run());
  return damage;
}

}  // namespace gridmount::tools
