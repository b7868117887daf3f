// annotate sets contentType and fields of metadata of all files that list would list.
#include <algorithm>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "engine/base/counted.h"
#include "engine/bson/builder.h"
#include "gridfs/bucket/files_document.h"
#include "gridfs/bucket/retry.h"
#include "tools/gridfiles/command.h"
#include "tools/gridfiles/file_query.h"
#include "tools/gridfiles/interruption.h"
#include "tools/quoted.h"

namespace gridmount::tools {

namespace {

// How many files one transaction changes: enough to share the cost of a commit, and so few that
// other writers do not wait long.
constexpr size_t kFilesAtOnce = 100;
// mongofiles and `put` store the content type in this field. annotate sets `contentType`, which
// readers prefer, and removes this field, because it could contradict the new type, or stay after
// the type was removed.
constexpr const char* kContentTypeOfMongofiles = "metadata.contentType";

bool is_of_mount(std::string_view metadata_field) {
  return metadata_field == "posix" || metadata_field == "sparse" ||
         metadata_field == "storedChunks";
}

auto refused(const std::string& what) {
  return fail(ErrorCode::kInvalidOptions, "--set: " + what);
}

// Appends the field to $set, or to $unset if the value is null.
void append_change(const std::string& path, bson::ValueView value, bson::Builder& set,
                   bson::Builder& unset) {
  if (value.type() == bson::Type::kNull) {
    unset.append(path, "");
  } else {
    set.append(path, value);
  }
}

// Returns the update that makes the changes of --set.
Result<bson::Document> update_for(bson::View changes) {
  bson::Builder set;
  bson::Builder unset;
  for (const bson::Element change : changes) {
    const std::string field(change.key);
    const bson::Type type = change.value.type();
    if (field == "contentType") {
      if (type != bson::Type::kString && type != bson::Type::kNull) {
        return refused("contentType must be a string, or null to remove it");
      }
      append_change(field, change.value, set, unset);
      unset.append(kContentTypeOfMongofiles, "");
      continue;
    }
    if (field != "metadata") {
      return refused("the field " + in_quotes(field) +
                     " cannot be set; contentType and metadata can");
    }
    if (type != bson::Type::kDocument) return refused("metadata must be a document");
    for (const bson::Element entry : change.value.as_document()) {
      const std::string key(entry.key);
      if (key == "contentType") {
        return refused("give contentType beside metadata, not in metadata");
      }
      if (is_of_mount(key)) {
        return refused("the field " + in_quotes("metadata." + key) +
                       " belongs to mounts and cannot be set");
      }
      if (key.empty() || key.starts_with('$') || key.find('.') != std::string::npos) {
        return refused("the name " + in_quotes(key) +
                       " in metadata is empty, begins with a dollar sign or has a dot; give a "
                       "document instead of a dotted path");
      }
      append_change("metadata." + key, entry.value, set, unset);
    }
  }
  bson::Document update = gridfs::update_of(set, unset);
  if (update.view().empty()) return refused("it names no field");
  return update;
}

// Collects the _ids before the first change, so that the changes do not affect which files are
// found.
Result<std::vector<bson::Value>> ids_to_change(const CommandContext& context) {
  std::vector<bson::Value> ids;
  const auto visit = [&](bson::View file) -> Status {
    ids.emplace_back(file["_id"]);
    return {};
  };
  GM_TRY(for_each_file(context, names_of_argument(context), bson::View(), visit));
  return ids;
}

// Returns how many of the files still existed.
Result<int64_t> change(const CommandContext& context, std::span<const bson::Value> ids,
                       bson::View update) {
  bson::Builder filter;
  filter.open_document("_id").open_array("$in");
  for (const bson::Value& id : ids) filter.push(id.view());
  filter.close().close();
  engine::UpdateOptions all;
  all.multi = true;
  GM_ASSIGN(const auto transaction, context.bucket.store().begin());
  GM_ASSIGN(const engine::UpdateResult result,
            context.bucket.files().update(*transaction, std::move(filter).finish(), update, all));
  GM_TRY(transaction->commit(context.options.write_concern.durability()));
  return result.matched;
}

}  // namespace

// After an error or a signal, the changes of the transactions before it stay. If the store has
// transactions (Capabilities), each transaction changes all of its files or none.
Status run_annotate(const CommandContext& context) {
  GM_ASSIGN(const bson::Document update, update_for(*context.options.set));
  GM_ASSIGN(const std::vector<bson::Value> ids, ids_to_change(context));
  int64_t changed = 0;
  for (size_t first = 0; first < ids.size(); first += kFilesAtOnce) {
    GM_TRY(Interruption::check());
    const size_t count = std::min(kFilesAtOnce, ids.size() - first);
    auto done = gridfs::with_retry(context.bucket.store(), [&] {
      return change(context, std::span(ids).subspan(first, count), update);
    });
    if (!done) {
      return fail(std::move(done).error().with_context("error while setting fields, after " +
                                                       std::to_string(changed) + " of " +
                                                       counted(ids.size(), "file")));
    }
    changed += *done;
  }
  context.log.line(Log::kAlways,
                   "set fields of " + counted(static_cast<uint64_t>(changed), "file"));
  return {};
}

}  // namespace gridmount::tools
