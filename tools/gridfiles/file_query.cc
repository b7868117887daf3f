#include "tools/gridfiles/file_query.h"

#include <utility>
#include <vector>

#include "gridfs/bucket/retry.h"
#include "tools/gridfiles/interruption.h"
#include "tools/quoted.h"

namespace gridmount::tools {

bson::Document names_beginning_with(const std::string& prefix) {
  // Strings are ordered as bytes. So the strings that begin with `prefix` are not less than the
  // prefix, and less than the prefix with its last byte increased by one.
  std::string end = prefix;
  while (!end.empty() && static_cast<unsigned char>(end.back()) == 0xff) end.pop_back();
  bson::Builder filter;
  filter.open_document("filename").append("$gte", prefix);
  if (end.empty()) return std::move(filter.close()).finish();
  end.back() = static_cast<char>(static_cast<unsigned char>(end.back()) + 1);
  filter.append("$lt", end).close();
  return std::move(filter).finish();
}

bson::Document names_of_argument(const CommandContext& context) {
  if (context.arguments.empty()) return bson::Document();
  return names_beginning_with(context.arguments[0]);
}

Status for_each_file(const CommandContext& context, bson::View filter, bson::View sort,
                     const std::function<Status(bson::View)>& visit) {
  const Options& options = context.options;
  bson::Document both;
  if (options.filter) {
    bson::Builder conjunction;
    conjunction.open_array("$and").push(filter).push(*options.filter).close();
    both = std::move(conjunction).finish();
    filter = both;
  }
  engine::FindOptions find_options;
  find_options.one_at_a_time = true;
  find_options.sort = options.sort ? bson::View(*options.sort) : sort;
  GM_ASSIGN(auto snapshot, context.bucket.store().snapshot());
  GM_ASSIGN(auto cursor, context.bucket.find(*snapshot, filter, find_options));
  for (;;) {
    GM_TRY(Interruption::check());
    GM_ASSIGN(auto document, cursor->next());
    if (!document) return {};
    GM_TRY(visit(*document));
  }
}

Result<std::optional<bson::Document>> newest_file(const CommandContext& context,
                                                  const std::string& name) {
  return file_of_revision(context, name, -1);
}

Result<std::optional<bson::Document>> file_of_revision(const CommandContext& context,
                                                       const std::string& name, int revision) {
  auto stream = context.bucket.open_download_stream_by_name(name, revision);
  if (!stream && stream.error().code() == gridfs::kRevisionNotFound) {
    return fail(gridfs::kRevisionNotFound, in_quotes(name) + " has no revision " +
                                               std::to_string(revision) +
                                               "; `gridfiles revisions` lists those that it has");
  }
  if (!stream && stream.error().code() == gridfs::kFileNotFound) {
    return std::optional<bson::Document>();
  }
  if (!stream) return fail(std::move(stream).error());
  bson::Builder by_id;
  // $eq, so that an _id that is a document is compared as a value and not parsed as operators.
  by_id.open_document("_id").append("$eq", (*stream)->file().id).close();
  GM_ASSIGN(auto snapshot, context.bucket.store().snapshot());
  GM_ASSIGN(auto document, context.bucket.files().find_one(*snapshot, std::move(by_id).finish()));
  if (!document) return std::optional<bson::Document>();
  return std::optional(bson::Document(*document));
}

tl::unexpected<Error> files_not_found(std::span<const std::string> names) {
  return fail(gridfs::kFileNotFound, "requested files not found: " + quoted_list(names));
}

Result<std::vector<bson::Document>> files_of_arguments(const CommandContext& context) {
  std::vector<bson::Document> files;
  std::vector<std::string> missing;
  for (const std::string& name : context.arguments) {
    GM_ASSIGN(auto file, file_of_revision(context, name, context.options.revision.value_or(-1)));
    if (file) {
      files.push_back(*std::move(file));
    } else {
      missing.push_back(name);
    }
  }
  if (!missing.empty()) return files_not_found(missing);
  return files;
}

Result<std::vector<bson::Value>> ids_of_name(const CommandContext& context,
                                             const std::string& name) {
  bson::Builder by_name;
  by_name.append("filename", name);
  const bson::Document filter = std::move(by_name).finish();
  std::vector<bson::Value> ids;
  GM_ASSIGN(auto snapshot, context.bucket.store().snapshot());
  GM_ASSIGN(auto cursor, context.bucket.find(*snapshot, filter));
  for (;;) {
    GM_ASSIGN(auto document, cursor->next());
    if (!document) return ids;
    ids.emplace_back((*document)["_id"]);
  }
}

Status remove_if_there(const CommandContext& context, const bson::Value& id) {
  const gridfs::Bucket& bucket = context.bucket;
  Status removed = gridfs::with_retry(bucket.store(), [&] { return bucket.remove(id); });
  if (removed || removed.error().code() == gridfs::kFileNotFound) return {};
  return removed;
}

// Collects the _ids first, so that the snapshot ends before the first removal.
Status remove_older(const CommandContext& context, const std::string& name,
                    const bson::Value& new_id) {
  GM_ASSIGN(const std::vector<bson::Value> ids, ids_of_name(context, name));
  for (const bson::Value& id : ids) {
    if (id == new_id) continue;
    if (Status removed = remove_if_there(context, id); !removed) {
      return fail(std::move(removed).error().with_context("error while removing " +
                                                          in_quotes(name) + " from GridFS"));
    }
  }
  context.log.line(Log::kAlways,
                   "successfully deleted all instances of " + in_quotes(name) + " from GridFS\n");
  return {};
}

std::string filename_of(bson::View files_document) {
  const auto filename = files_document.find("filename");
  if (!filename || filename->type() != bson::Type::kString) return {};
  return std::string(filename->as_string());
}

std::optional<int64_t> length_of(bson::View files_document) {
  const auto length = files_document.find("length");
  return length ? length->integral() : std::nullopt;
}

}  // namespace gridmount::tools
